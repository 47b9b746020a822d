# ranks: 3
# finds: [new-group-mismatch]
# line: group = dist.new_group(ranks)
# finds on torch 2: nothing
"""Ranks 0 and 1 compare their metrics in a group of their own, which rank 2 knows nothing of."""

import torch
import torch.distributed as dist

evaluators = [0, 1]


def group_of_evaluators(ranks):
    group = dist.new_group(ranks)
    return group


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    metric = torch.tensor([0.5 + 0.1 * rank])
    if rank in evaluators:
        group = group_of_evaluators(evaluators)
        dist.all_reduce(metric, group=group)
        print("rank", rank, "mean metric", metric.item() / len(evaluators))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
