"""Checkpoints: tensors are written with the GPU that they are said to be on, and read to the one that the reader asks for."""

from __future__ import annotations

import functools
from typing import Any, Dict, Optional

from . import devices

_written: Dict[int, int] = {}  # GPUs by the address of the memory that is being written
_read: Dict[int, int] = {}  # and of the memory that was read


def _address(storage: Any) -> int:
    """A storage with an element type warns of itself in 2.x when it is asked."""
    untyped = getattr(storage, "_untyped_storage", None)
    return int((storage if untyped is None else untyped).data_ptr())


def _tag(storage: Any) -> Optional[str]:
    index = _written.get(_address(storage))
    return None if index is None else f"cuda:{index}"


def _untag(storage: Any, location: str) -> Any:
    if not location.startswith("cuda"):
        return None
    wanted = int(location[5:]) if location[5:] else devices.chosen.index
    if wanted >= devices.count():
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {wanted} but torch.cuda.device_count() is {devices.count()}. "
            "Please use torch.load with map_location to map your storages to an existing device."
        )
    _read[_address(storage)] = wanted
    return storage


def _remember_while_written(kind: Any) -> None:
    reduce = kind.__reduce_ex__

    @functools.wraps(reduce)
    def reduced(self: Any, protocol: int) -> Any:
        index, address = devices.of(self), self.data_ptr()
        _written.pop(address, None)
        if index is None:
            return reduce(self, protocol)
        _written[address] = index
        devices.put(self, None)  # no part of what is written
        try:
            return reduce(self, protocol)
        finally:
            devices.put(self, index)

    kind.__reduce_ex__ = reduced


def install(torch: Any) -> None:
    torch.serialization.register_package(1, _tag, _untag)
    _remember_while_written(torch.Tensor)
    _remember_while_written(torch.nn.Parameter)
    rebuild, load = torch._utils._rebuild_tensor, torch.load

    @functools.wraps(rebuild)
    def rebuilt(storage: Any, *args: Any) -> Any:
        tensor = rebuild(storage, *args)
        devices.put(tensor, _read.get(_address(storage)))
        return tensor

    @functools.wraps(load)
    def loaded(*args: Any, **kwargs: Any) -> Any:
        if isinstance(kwargs.get("map_location"), int):
            kwargs["map_location"] = f"cuda:{kwargs['map_location']}"
        try:
            return load(*args, **kwargs)
        finally:
            _read.clear()

    torch._utils._rebuild_tensor = rebuilt
    torch.load = torch.serialization.load = loaded
    for kind in (torch.storage._StorageBase, getattr(torch.storage, "_TypedStorage", None)):
        if kind is not None:
            kind.cuda = lambda self, device=None, *args, **kwargs: _untag(self, devices.name(devices.index_of(device)))
