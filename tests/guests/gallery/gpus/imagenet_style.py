# ranks: 2
# finds: nothing
import argparse
import os
import time

import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args()


class Average:
    def __init__(self, device):
        self.total, self.count, self.device = 0.0, 0, device

    def update(self, value, n):
        self.total, self.count = self.total + value * n, self.count + n

    def all_reduce(self):
        total = torch.tensor([self.total, self.count], dtype=torch.float32, device=self.device)
        dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
        return (total[0] / total[1]).item()


def accuracy(output, target):
    with torch.no_grad():
        return output.argmax(dim=1).eq(target).float().sum(0, keepdim=True).mul_(100.0 / target.size(0))


def main():
    gpu = int(os.environ["LOCAL_RANK"])
    dist.init_process_group(backend="nccl", init_method="env://")
    torch.cuda.set_device(gpu)
    cudnn.benchmark = True
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(256, 10))
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model).cuda(gpu)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[gpu])
    criterion = nn.CrossEntropyLoss().cuda(gpu)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)

    data = TensorDataset(torch.randn(16, 3, 8, 8), torch.randint(10, (16,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, shuffle=False, num_workers=0, pin_memory=True, sampler=sampler)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        losses = Average(torch.device("cuda", gpu))
        model.train()
        end = time.time()
        for images, target in loader:
            images = images.cuda(gpu, non_blocking=True)
            target = target.cuda(gpu, non_blocking=True)
            output = model(images)
            loss = criterion(output, target)
            losses.update(loss.item(), images.size(0))
            assert accuracy(output, target)[0].device == torch.device("cuda", gpu)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            end = time.time()
        scheduler.step()
        losses.all_reduce()
        if dist.get_rank() == 0:
            torch.save({"epoch": epoch + 1, "state": model.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pth.tar")
        dist.barrier()
        checkpoint = torch.load("checkpoint.pth.tar", map_location=f"cuda:{gpu}")
        model.load_state_dict(checkpoint["state"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        dist.barrier()
        if dist.get_rank() == 0:
            os.remove("checkpoint.pth.tar")
    dist.destroy_process_group()


main()
