# ranks: 2
# finds: raised
# says: pdsim run cannot run torch.cuda.CUDAGraph on the CPU
# says: train.py:22
"""A training step is captured as a graph, as tutorials on speed show it."""

import os

import torch
import torch.distributed as dist


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    weight = torch.ones(4, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):  # warm up
            dist.all_reduce(weight)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dist.all_reduce(weight)
    graph.replay()


if __name__ == "__main__":
    main()
