# ranks: 2
# finds: [missing-exit]
# on real: by chance
# line: dist.isend(results, dst=0)
import torch
import torch.distributed as dist


def work(rank):
    values = torch.arange(200_000, dtype=torch.float32)
    return values * rank


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    results = work(rank)
    if rank != 0:
        dist.isend(results, dst=0)
        return
    for other in range(1, size):
        dist.recv(results, src=other)
        print(f"rank {other}: {results.sum().item():.0f}")


if __name__ == "__main__":
    main()
