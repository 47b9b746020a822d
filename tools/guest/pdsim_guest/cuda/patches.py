"""Functions that the mode does not see."""

from __future__ import annotations

import functools
from typing import Any

from . import devices


def _keep_place(owner: Any, name: str) -> None:
    """Its result is where its first tensor is."""
    former = getattr(owner, name)

    @functools.wraps(former)
    def placed(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = former(self, *args, **kwargs)
        index = devices.of(self)
        if index is not None:
            devices.put_all(result, index)
        return result

    setattr(owner, name, placed)


def _keep_place_of_parameters(torch: Any) -> None:
    make = torch.nn.Parameter.__new__

    def made(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        result = make(cls, data, *args, **kwargs)
        devices.put_all(result, devices.of(data))
        return result

    torch.nn.Parameter.__new__ = made


def _pin(torch: Any) -> None:
    def pinned(self: Any, device: Any = None) -> Any:
        copy = self if devices.of(self) is None else self.clone()
        copy._pdsim_pinned = True
        return copy

    torch.Tensor.pin_memory = pinned
    torch.Tensor.record_stream = lambda self, stream: None  # all streams are one


def _make_generators(torch: Any) -> None:
    class Generator(torch.Generator):  # type: ignore[misc,name-defined]
        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, "cpu")

    torch.Generator = Generator


def _be_lenient(torch: Any, mode: Any) -> None:
    """Inside a backward pass C++ hands out tensors whose place nobody knows; so do compiled functions, from then on."""
    backward = torch.autograd.backward

    @functools.wraps(backward)
    def watched(*args: Any, **kwargs: Any) -> Any:
        mode.lenient += 1
        try:
            return backward(*args, **kwargs)
        finally:
            mode.lenient -= 1

    torch.autograd.backward = watched
    for name in ("script", "trace", "load"):
        former = getattr(torch.jit, name)

        def compiled(*args: Any, _former: Any = former, **kwargs: Any) -> Any:
            mode.lenient += 1
            return _former(*args, **kwargs)

        setattr(torch.jit, name, functools.wraps(former)(compiled))


def install(torch: Any, mode: Any) -> None:
    _keep_place(torch.Tensor, "__getitem__")
    _keep_place_of_parameters(torch)
    _pin(torch)
    _make_generators(torch)
    _be_lenient(torch, mode)
