# ranks: 2
# finds: nothing
# With static_graph the first backward reduces all buckets at its end.
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 64)
        self.middle = nn.Linear(64, 64)
        self.last = nn.Linear(64, 1)

    def forward(self, x):
        return self.last(checkpoint(self.middle, torch.relu(self.first(x))))


def by_hand(state, bucket):
    reduced = dist.all_reduce(bucket.buffer() / dist.get_world_size(), async_op=True).get_future()
    return reduced.then(lambda done: done.value()[0])


dist.init_process_group("gloo")
for hook in (None, by_hand):
    torch.manual_seed(0)
    model = DistributedDataParallel(Net(), static_graph=True, gradient_as_bucket_view=True, bucket_cap_mb=0.01)
    if hook is not None:
        model.register_comm_hook(None, hook)
    optimizer = torch.optim.Adam(model.parameters())
    torch.manual_seed(1 + dist.get_rank())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
    sums = [torch.zeros(1) for _ in range(2)]
    dist.all_gather(sums, sum(p.detach().sum() for p in model.parameters()).reshape(1))
    assert sums[0] == sums[1], sums
