"""The bytes of tensors as Python sees them."""

import ctypes
from typing import Dict, List, Sequence

import torch

from .cuda import switching

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


def is_on_gpu(tensor: torch.Tensor) -> bool:
    """Whether its memory is a GPU's: that of a tensor on an emulated one is the CPU's."""
    return bool(tensor.is_cuda) and switching.mode is None


def packed(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself where its elements lie one after the other in the CPU's memory, else a copy there, which waits for a GPU."""
    own = tensor.detach()
    return own.cpu().contiguous() if is_on_gpu(own) else own.contiguous()


class Landing:
    """Memory for a result, and the tensors that it belongs in."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self.tensors: List[torch.Tensor] = [t.detach() for t in tensors]
        self._packed = [
            t if t.is_contiguous() and not is_on_gpu(t) else torch.empty(t.shape, dtype=t.dtype, device="cpu")
            for t in self.tensors
        ]

    @property
    def nbytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in self.tensors)

    def views(self) -> List[memoryview]:
        return [view(t) for t in self._packed]

    def land(self) -> None:
        for target, source in zip(self.tensors, self._packed):
            if target is not source:
                target.copy_(source)
