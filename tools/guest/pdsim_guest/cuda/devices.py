"""Which GPU a tensor is said to be on. PyTorch holds all of them in the CPU's memory."""

from __future__ import annotations

import os
import threading
from typing import Any, Iterable, Optional

import torch

_mark = "_pdsim_gpu"
Index = Optional[int]  # of a GPU; None: the CPU


class _Chosen(threading.local):
    """As in CUDA, each thread begins with GPU 0."""

    index = 0


chosen = _Chosen()


def count() -> int:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and not (visible == "" and "PDSIM_GPUS_HIDDEN" in os.environ):
        return len([v for v in visible.split(",") if v.strip() and not v.strip().startswith("-")])
    there = int(os.environ.get("PDSIM_CUDA_DEVICES", "0"))
    return there if there > 0 else int(os.environ.get("LOCAL_WORLD_SIZE", "2"))


def checked(index: int) -> int:
    if not 0 <= index < count():
        raise RuntimeError(
            "CUDA error: invalid device ordinal\n"
            f"(pdsim emulates {count()} GPUs on each node; `devices` of --world, or CUDA_VISIBLE_DEVICES, says how many)"
        )
    return index


def index_of(device: Any) -> Index:
    """Of what a script gives as a device: 'cuda', 'cuda:1', 1, a torch.device, a device context, None for the chosen one."""
    if device is None:
        return chosen.index
    if isinstance(device, int):
        return checked(device) if device >= 0 else chosen.index
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "cuda":
            return None
        return chosen.index if device.index is None else checked(device.index)
    return index_of(getattr(device, "idx", getattr(device, "index", None)))


def is_gpu(device: Any) -> bool:
    """Whether that names a GPU, whichever."""
    if isinstance(device, int):
        return not isinstance(device, bool)
    return isinstance(device, (str, torch.device)) and str(device).split(":")[0] == "cuda"


def of(tensor: Any) -> Index:
    return getattr(tensor, _mark, None)


def put(tensor: Any, index: Index) -> None:
    if index is not None:
        setattr(tensor, _mark, index)
    elif of(tensor) is not None:
        delattr(tensor, _mark)


def put_all(result: Any, index: Index) -> None:
    """On what a function returned: a tensor, or a few levels of tuples and lists of them."""
    if index is None:
        return
    if isinstance(result, torch.Tensor):
        setattr(result, _mark, index)
    elif isinstance(result, (tuple, list)):
        for part in result:
            put_all(part, index)


def name(index: Index) -> str:
    return "cpu" if index is None else f"cuda:{index}"


def device(index: Index) -> torch.device:
    return torch.device("cpu") if index is None else torch.device("cuda", index)


def tensors_in(values: Iterable[Any]) -> Iterable[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from tensors_in(value)
