"""Memory that this process and pdsim have both mapped, for the tensors of large calls: one copy each way, and no socket between.

A segment belongs to one call from its start until its result is here. What pdsim cannot map goes through the socket.
"""

import fcntl
import mmap
import os
from typing import Any, Dict, List, Optional, Sequence

smallest_call = 1 << 18  # in bytes; less is sooner sent than placed
_step = 1 << 20
_most_free = 4  # segments that wait for another call
_alignment = 64


class Segment:
    def __init__(self, size: int) -> None:
        self.size = size
        self.fd = os.memfd_create("pdsim guest", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.memory = memoryview(mmap.mmap(self.fd, size))
        self.output_at = 0

    def fill(self, parts: Sequence[memoryview]) -> None:
        at = 0
        for part in parts:
            self.memory[at : at + part.nbytes] = part
            at += part.nbytes

    def take(self, parts: Sequence[memoryview]) -> None:
        at = self.output_at
        for part in parts:
            part[:] = self.memory[at : at + part.nbytes]
            at += part.nbytes


class Segments:
    """Of one link, which `ask` sends a request to pdsim."""

    def __init__(self, ask: Any) -> None:
        self._ask = ask
        self._free: List[Segment] = []
        self._refused = not hasattr(os, "memfd_create")

    def place(self, inputs: Sequence[memoryview], output_bytes: int, in_place: bool) -> Optional[Segment]:
        """A segment with the inputs in it and room for the output; None: the call is small, or there is none to be had."""
        input_bytes = sum(part.nbytes for part in inputs)
        if self._refused or max(input_bytes, output_bytes) < smallest_call:
            return None
        output_at = 0 if in_place else -(-input_bytes // _alignment) * _alignment
        segment = self._get(max(input_bytes, output_at + output_bytes))
        if segment is not None:
            segment.output_at = output_at
            segment.fill(inputs)
        return segment

    def give_back(self, segment: Segment) -> None:
        self._free.append(segment)
        if len(self._free) > _most_free:
            self._drop(min(self._free, key=lambda s: s.size))

    def _get(self, size: int) -> Optional[Segment]:
        fitting = [s for s in self._free if s.size >= size]
        if fitting:
            found = min(fitting, key=lambda s: s.size)
            self._free.remove(found)
            return found
        try:
            made = Segment(-(-size // _step) * _step)
        except OSError:
            self._refused = True
            return None
        if not self._tell(made, made.size):
            self._refused = True
            return None
        return made

    def _drop(self, segment: Segment) -> None:
        self._free.remove(segment)
        self._tell(segment, 0)
        segment.memory.release()
        os.close(segment.fd)

    def _tell(self, segment: Segment, size: int) -> bool:
        request: Dict[str, Any] = {"op": "memory", "number": segment.fd, "size": size}
        return bool(self._ask(request)[0]["yes"])
