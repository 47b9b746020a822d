# ranks: 2
# finds: [parameter-mismatch]
# line: dist.all_reduce(totals)
import torch
import torch.distributed as dist


def evaluate(rank):
    """Right answers and all answers of this rank's part."""
    scores = torch.rand(10, 3, generator=torch.Generator().manual_seed(rank))
    if rank == 1:
        return [0, 10]  # nothing was right
    right = (scores.argmax(1) == 0).float().mean().item()
    return [10 * right, 10.0]


def main():
    dist.init_process_group("gloo")
    totals = torch.tensor(evaluate(dist.get_rank()))
    dist.all_reduce(totals)
    if dist.get_rank() == 0:
        print(f"accuracy {totals[0] / totals[1]:.2f}")
    dist.barrier()


if __name__ == "__main__":
    main()
