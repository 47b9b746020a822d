"""A rank's record in a file that is mapped into memory: what was written is there however the process ends.

The file is a head of 4096 bytes, an area for what is kept from the beginning, and a ring for the newest. Both hold frames: the length of a
JSON object (4 bytes, little-endian), the object. In the ring no frame goes over its end: a frame that does not fit is written at the
beginning, and where 4 bytes or more are left before the end they say so (all ones). scenarios/guests/record_file.h reads it.
"""

import json
import mmap
import os
import struct
import tempfile
import time
from typing import Any, Dict

magic = b"pdsimrec"
version = 1
head_bytes = 4096
kept_bytes = 1 << 20
ring_bytes = 4 << 20

_start = struct.Struct("<8sIIQQ")  # magic, version, bytes of the head, of the kept area, of the ring
_numbers = struct.Struct("<QQQQ")  # bytes kept, bytes ever put into the ring, where its oldest frame begins, frames written
_alive = struct.Struct("<Q")  # when the process was last seen alive, in nanoseconds since 1970
_about = struct.Struct("<I")  # the length of a JSON object about the process, which follows
_length = struct.Struct("<I")
_numbers_at, _alive_at, _about_at = 32, 64, 72
_wrapped = b"\xff\xff\xff\xff"


class RecordFile:
    """One writer at a time. Raises OSError when the file cannot be made, or there is no room for it."""

    def __init__(self, path: str) -> None:
        size = head_bytes + kept_bytes + ring_bytes
        # Made whole before it has its name; with its memory, for a full disk would later end the process.
        fd, being_made = tempfile.mkstemp(prefix=".pdsim", dir=os.path.dirname(path))
        try:
            os.posix_fallocate(fd, 0, size)
            self._memory = mmap.mmap(fd, size)
            _start.pack_into(self._memory, 0, magic, version, head_bytes, kept_bytes, ring_bytes)
            os.rename(being_made, path)
        except BaseException:
            os.unlink(being_made)
            raise
        finally:
            os.close(fd)
        self.path = path
        self._kept = 0
        self._end = 0  # bytes ever put into the ring, with those that were left empty before its end
        self._begin = 0
        self._frames = 0

    def describe(self, about: Dict[str, Any]) -> None:
        text = json.dumps(about).encode()[: head_bytes - _about_at - _about.size]
        at = _about_at + _about.size
        self._memory[at : at + len(text)] = text
        _about.pack_into(self._memory, _about_at, len(text))

    def alive(self) -> None:
        _alive.pack_into(self._memory, _alive_at, time.time_ns())

    def keep(self, text: bytes) -> bool:
        """Among what is kept; False: there is no room."""
        size = len(text) + 4
        if self._kept + size > kept_bytes:
            return False
        at = head_bytes + self._kept
        self._memory[at : at + size] = _length.pack(len(text)) + text
        self._kept += size
        self._tell()
        return True

    def put(self, text: bytes) -> None:
        """Into the ring, over the oldest where it is full. What is longer than an eighth of it is left out."""
        size = len(text) + 4
        if size > ring_bytes // 8:
            return
        at = self._end % ring_bytes
        rest = ring_bytes - at
        if rest < size:
            self._make_room(rest)
            if rest >= 4:
                self._memory[head_bytes + kept_bytes + at : head_bytes + kept_bytes + at + 4] = _wrapped
            self._end += rest
            at = 0
        self._make_room(size)
        place = head_bytes + kept_bytes + at
        self._memory[place : place + size] = _length.pack(len(text)) + text
        self._end += size
        self._tell()

    def _make_room(self, size: int) -> None:
        """Gives up the oldest frames before they are overwritten, so that a reader never takes half of one for whole."""
        former = self._begin
        while self._end + size - self._begin > ring_bytes:
            at = self._begin % ring_bytes
            rest = ring_bytes - at
            place = head_bytes + kept_bytes + at
            head = self._memory[place : place + 4] if rest >= 4 else _wrapped
            self._begin += rest if head == _wrapped else 4 + _length.unpack(head)[0]
        if self._begin != former:
            _numbers.pack_into(self._memory, _numbers_at, self._kept, self._end, self._begin, self._frames)

    def _tell(self) -> None:
        self._frames += 1
        _numbers.pack_into(self._memory, _numbers_at, self._kept, self._end, self._begin, self._frames)
