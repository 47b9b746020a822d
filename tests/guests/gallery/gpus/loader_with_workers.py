# ranks: 2
# finds: nothing
# when: slow
"""Batches from worker processes, pinned by a thread."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    data = TensorDataset(torch.randn(64, 8), torch.randint(0, 4, (64,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(
        data, batch_size=4, sampler=sampler, num_workers=2, pin_memory=True, persistent_workers=True, drop_last=True
    )
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Linear(16, 4)).cuda()
    model = DistributedDataParallel(model, device_ids=[local_rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            inputs, labels = inputs.cuda(non_blocking=True), labels.to(local_rank, non_blocking=True)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
        dist.all_reduce(loss.detach())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
