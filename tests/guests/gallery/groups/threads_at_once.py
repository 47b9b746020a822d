# ranks: 2
# finds: deadlock[threads-at-once]
# on real: nothing
# line: dist.all_reduce(torch.ones(4), group=group)
import threading

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
losses = dist.new_group([0, 1])
metrics = dist.new_group([0, 1])


def report(group: dist.ProcessGroup, rounds: int) -> None:
    for _ in range(rounds):
        pass
    dist.all_reduce(torch.ones(4), group=group)


# Each rank calls both; a real job ends, whichever thread is first on either rank.
late = threading.Thread(target=report, args=(metrics if rank == 0 else losses, 8000000))
late.start()
report(losses if rank == 0 else metrics, 0)
late.join()
