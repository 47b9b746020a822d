"""The bytes of tensors as Python sees them."""

import ctypes
from typing import Dict, List, Sequence

import torch

# PyTorch's element types by the names that pdsim writes; what is not here no simulated library takes.
dtype_names: Dict[torch.dtype, str] = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "bool",
}


def dtype_name(tensor: torch.Tensor) -> str:
    name = dtype_names.get(tensor.dtype)
    if name is None:
        raise RuntimeError("Invalid scalar type")
    return name


def view(tensor: torch.Tensor) -> memoryview:
    """The memory of a contiguous tensor on the CPU, which must outlive the view."""
    size = tensor.numel() * tensor.element_size()
    if size == 0:
        return memoryview(b"")
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B")


def packed(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself where its elements lie one after the other, else a copy."""
    return tensor.detach().contiguous()


class Landing:
    """Memory for a result, and the tensors that it belongs in."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self.tensors: List[torch.Tensor] = [t.detach() for t in tensors]
        self._packed = [t if t.is_contiguous() else torch.empty(t.shape, dtype=t.dtype) for t in self.tensors]

    @property
    def nbytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in self.tensors)

    def views(self) -> List[memoryview]:
        return [view(t) for t in self._packed]

    def land(self) -> None:
        for target, source in zip(self.tensors, self._packed):
            if target is not source:
                target.copy_(source)
