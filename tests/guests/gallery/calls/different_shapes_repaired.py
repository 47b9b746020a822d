# ranks: 2
# finds: nothing
"""A confusion matrix is summed over the ranks; its size is that of the data set."""

import torch
import torch.distributed as dist


def confusion_of(labels, predictions, classes):
    matrix = torch.zeros(classes, classes)
    for label, prediction in zip(labels, predictions):
        matrix[label, prediction] += 1
    return matrix


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    labels = [0, 1, 1, 0] if rank == 0 else [0, 1, 2, 1]
    classes = 3
    confusion = confusion_of(labels, labels, classes)
    dist.all_reduce(confusion)
    print("accuracy", (confusion.diag().sum() / confusion.sum()).item())


if __name__ == "__main__":
    main()
