# ranks: 4
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(model, optimizer):
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.rand(4, 4)).square().mean().backward()
        optimizer.step()


def validate(model):
    with torch.no_grad():
        return model.module(torch.rand(16, 4)).square().mean() + dist.get_rank()


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

best, patience = float("inf"), 2
for epoch in range(6):
    train(model, optimizer)
    loss = validate(model)
    dist.broadcast(loss, src=0)  # one decision for all
    if loss < best:
        best, patience = loss, 2
    else:
        patience -= 1
    if patience == 0:
        break
dist.barrier()
