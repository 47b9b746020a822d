# ranks: 2
# finds: error[model-differs]
# line: return DistributedDataParallel(net)
"""The size of the last layer comes from the classes that a rank finds in its part of the data."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

labels = [[0, 1, 2, 1], [0, 3, 2, 1]]  # of each rank's files


def build(classes):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, classes))
    return DistributedDataParallel(net)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    mine = torch.tensor(labels[rank])
    model = build(classes=int(mine.max()) + 1)
    loss = nn.functional.cross_entropy(model(torch.ones(4, 4)), mine)
    loss.backward()
    print("rank", rank, "loss", loss.item())


if __name__ == "__main__":
    main()
