"""What a step of an optimizer begins with, beside the parameters: the gradients, and the optimizer's own state. A digest tells whether two
ranks began with the same; it reads less than one of the parameters, in blocks that are spread over the tensors, and small tensors whole.
"""

import zlib
from typing import Any, Iterator, List, Tuple

import torch

from . import digests

most_bytes = 16 << 20  # that one digest reads of large tensors
unknown = -1
_block = 1 << 14


def _is_readable(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and not tensor.is_meta and tensor.data_ptr() != 0


def _digest(parts: List[Tuple[int, Any]]) -> int:
    """Of numbers and tensors; an index says whose each is."""
    size = sum(p.numel() * p.element_size() for _, p in parts if isinstance(p, torch.Tensor))
    every = max(1, -(-size // most_bytes))
    value = 0
    for index, part in parts:
        value = zlib.crc32(index.to_bytes(4, "little"), value)
        if not isinstance(part, torch.Tensor):
            value = zlib.crc32(repr(part).encode(), value)
        elif _is_readable(part):
            value = digests.of_tensor(part, _block, every, value)
    return value


def of_gradients(parameters: List[Any]) -> int:
    return _digest([(i, p.grad) for i, p in enumerate(parameters) if p.grad is not None])


def _of_state(optimizer: Any, parameters: List[Any]) -> Iterator[Tuple[int, Any]]:
    for index, parameter in enumerate(parameters):
        state = optimizer.state[parameter] if parameter in optimizer.state else {}
        for key in sorted(k for k in state if isinstance(k, str)):
            if isinstance(state[key], (torch.Tensor, bool, int, float)):
                yield index, state[key]


def of_state(optimizer: Any, parameters: List[Any]) -> int:
    """A sharded optimizer has another part of its state on each rank."""
    if hasattr(optimizer, "consolidate_state_dict"):
        return unknown
    return _digest(list(_of_state(optimizer, parameters)))
