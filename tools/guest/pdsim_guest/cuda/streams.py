"""Streams and events of pretended GPUs: all work is done when it is asked for, so that nothing is left to wait for."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, Optional

from . import devices


class Stream:
    def __init__(self, device: Any = None, priority: int = 0, **unused: Any) -> None:
        self.device_index = devices.index_of(device)
        self.priority = priority
        self.cuda_stream = 0

    @property
    def device(self) -> Any:
        return devices.device(self.device_index)

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def wait_event(self, event: Any) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        pass

    def record_event(self, event: Optional["Event"] = None) -> "Event":
        event = event or Event()
        event.record(self)
        return event


ExternalStream = Stream


class Event:
    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._timed = enable_timing
        self._at: Optional[float] = None

    def record(self, stream: Any = None) -> None:
        self._at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def wait(self, stream: Any = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: "Event") -> float:
        if self._at is None or end._at is None or not (self._timed and end._timed):
            raise RuntimeError("Both events must be recorded, with enable_timing=True, before their times can be compared")
        return (end._at - self._at) * 1000


class _Current(threading.local):
    def __init__(self) -> None:
        self.streams: Dict[int, Stream] = {}


_current = _Current()


def default_stream(device: Any = None) -> Stream:
    return Stream(device)


def current_stream(device: Any = None) -> Stream:
    index = devices.index_of(device) or 0
    return _current.streams.setdefault(index, Stream(index))


def set_stream(stream: Optional[Stream]) -> None:
    if stream is not None:
        _current.streams[stream.device_index or 0] = stream


class StreamContext:
    def __init__(self, stream: Optional[Stream]) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self._former = current_stream(self.stream.device_index)
            self._device, devices.chosen.index = devices.chosen.index, self.stream.device_index or 0
            set_stream(self.stream)

    def __exit__(self, *error: Any) -> None:
        if self.stream is not None:
            set_stream(self._former)
            devices.chosen.index = self._device


class device:
    """torch.cuda.device: another GPU for a block."""

    def __init__(self, device: Any) -> None:
        self.idx = devices.chosen.index if device is None else devices.index_of(device)

    def __enter__(self) -> None:
        self._former = devices.chosen.index
        if self.idx is not None:
            devices.chosen.index = self.idx

    def __exit__(self, *error: Any) -> None:
        devices.chosen.index = self._former


class device_of(device):
    def __init__(self, tensor: Any) -> None:
        index = devices.of(tensor)
        super().__init__(devices.chosen.index if index is None else index)
