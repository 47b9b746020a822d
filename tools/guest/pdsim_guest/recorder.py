"""Records a rank's calls beside its own library, where the simulated world has a socket (link.py): PDSIM_RECORD names the folder.

Every frame has `at`, in nanoseconds since 1970, and `n`, its number. Stacks are written once and named by `site`.
"""

import atexit
import faulthandler
import json
import os
import signal
import socket
import sys
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

from . import errors
from .record_file import RecordFile

_kept = frozenset(("hello", "join", "Group_made", "Ddp", "Bucket", "Model", "Variable", "Site", "Replica", "Replica_hook"))
_looks_per_second = 10
_most_messages = 256
_writer = json.JSONEncoder(separators=(",", ":"), check_circular=False)
_make_encoder = getattr(json.encoder, "c_make_encoder", None)


def _encoder() -> Any:
    """JSONEncoder.encode makes its encoder for every object, which takes longer than the object."""
    if _make_encoder is None:
        return _writer.encode
    basic = json.encoder.encode_basestring_ascii
    once = _make_encoder(None, str, basic, None, ":", ",", False, False, True)
    return lambda request: "".join(once(request, 0))


_encode = _encoder()
_getpid = os.getpid
_now = time.time_ns


def launcher_rank() -> Tuple[int, int]:
    """The rank and the number of ranks, as far as a launcher says so in the environment; -1: it does not."""

    def first(*names: str) -> int:
        return next((int(os.environ[n]) for n in names if os.environ.get(n, "").isdigit()), -1)

    return (
        first("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"),
        first("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"),
    )


class Open:
    """A call whose Work is not done yet, as far as anybody has seen."""

    def __init__(self, numbers: List[int], work: Any, pollable: bool) -> None:
        self.numbers, self.work, self.pollable = numbers, work, pollable


class Recorder:
    """Takes the requests that Link takes, and answers none."""

    def __init__(self, folder: str) -> None:
        self.pid = os.getpid()
        self._lock = threading.RLock()
        self._numbers = 0
        self._sites: Dict[Any, int] = {}
        self._open: Dict[int, Open] = {}  # by the identity of the Work, which is held
        self._about: Dict[str, Any] = {}
        host = socket.gethostname()
        self._file = RecordFile(os.path.join(folder, f"pdsim_{host}_{self.pid}.record"))
        rank, size = launcher_rank()
        self._describe(host=host, pid=self.pid, began=time.time_ns(), boot=_boot(), rank=rank, size=size)
        self._file.alive()
        self._watch_the_end()
        threading.Thread(target=self._look, name="pdsim", daemon=True).start()
        if "PDSIM_WATCHED" in os.environ:
            self._show_stack_on_request(folder)

    # Writing

    def tell(self, request: Dict[str, Any]) -> int:
        """Returns the number of what was written; -1 in a process that was forked from the rank."""
        if _getpid() != self.pid:
            return -1
        with self._lock:
            frames = request.pop("frames", None)
            if frames:
                column = request.pop("column", 1)
                key = (tuple(frames), column)
                known = self._sites.get(key)
                if known is None:
                    known = self._sites[key] = len(self._sites)
                    if not self._put({"op": "Site", "number": known, "frames": frames, "column": column}):
                        del self._sites[key]
                        request["frames"] = frames
                request["site"] = known
            if request["op"] == "Leave":
                self.look()
            number = self._numbers
            self._put(request)
            return number

    def _put(self, request: Dict[str, Any]) -> bool:
        request["at"] = _now()
        request["n"] = self._numbers
        self._numbers += 1
        text = _encode(request).encode()
        if request["op"] in _kept and self._file.keep(text):
            return True
        if request["op"] != "Site":
            self._file.put(text)
        return False

    def _describe(self, **more: Any) -> None:
        self._about.update(more)
        self._file.describe(self._about)

    def introduce(self, backend: str, version: str, rank: int, size: int) -> None:
        said_rank, said_size = launcher_rank()
        rank, size = (rank if rank >= 0 else said_rank), (size if size > 0 else said_size)
        self._describe(backend=backend, version=version, rank=rank, size=size)

    def joined(self, rank: int, size: int) -> None:
        self._describe(rank=rank, size=size)

    # Works

    def follow(self, numbers: List[int], work: Any, is_message: bool) -> None:
        """A Work that is to end these calls; None: they are over."""
        if work is None:
            self.done(numbers, None)
            return
        with self._lock:
            self._open[id(work)] = Open(numbers, work, not is_message)
            if is_message and len(self._open) > _most_messages:
                self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Gloo cannot say whether a message has left that nobody waits for: it is not held for more than so many others."""
        oldest = next((key for key, call in self._open.items() if not call.pollable), None)
        if oldest is not None:
            self.done(self._open.pop(oldest).numbers, None)

    def done(self, numbers: List[int], error: Optional[BaseException]) -> None:
        if _getpid() != self.pid:
            return
        for number in numbers:
            if error is not None:
                self.tell({"op": "Done", "work": number, "error": errors.code_of(error), "text": str(error)})
                continue
            with self._lock:  # as tell, for every call comes here
                self._file.put(b'{"op":"Done","work":%d,"at":%d,"n":%d}' % (number, _now(), self._numbers))
                self._numbers += 1

    def waited(self, work: Any, error: Optional[BaseException]) -> None:
        call = self._open.pop(id(work), None)
        if call is not None:
            self.done(call.numbers, error)

    def look(self) -> None:
        """Ends the calls whose Works are done though nobody has waited for them in Python."""
        for key, call in list(self._open.items()):
            try:
                if not call.pollable or not call.work.is_completed():
                    continue
            except Exception:  # a Work that cannot be asked is one that is waited for
                call.pollable = False
                continue
            if self._open.pop(key, None) is not None:
                self.done(call.numbers, _error_of(call.work))

    def _look(self) -> None:
        while True:
            sleep(1 / _looks_per_second)
            self._file.alive()
            self.look()

    # The end

    def _watch_the_end(self) -> None:
        """Processes of multiprocessing end by os._exit."""
        from . import exits, link

        exits.before_leaving(self._say_goodbye)
        atexit.register(lambda: self._say_goodbye(link.ended_status()))

    def _say_goodbye(self, status: int) -> None:
        if os.getpid() != self.pid:
            return
        self.look()
        for call in list(self._open.values()):
            if not call.pollable and status == 0:
                self.done(call.numbers, None)
        self.tell({"op": "Goodbye", "number": status})

    def _show_stack_on_request(self, folder: str) -> None:
        """The watch asks a rank that has gone silent where it is."""
        self._stack = open(os.path.join(folder, f"stack.{self.pid}"), "w")
        faulthandler.register(signal.SIGUSR2, file=self._stack, all_threads=False, chain=False)


sleep = time.sleep  # of the library, whatever a script puts there


def _error_of(work: Any) -> Optional[BaseException]:
    """Of a Work that is done, so that waiting ends at once."""
    try:
        from .recorded_groups import wait_unseen

        wait_unseen(work)
    except Exception as error:
        return error
    return None


def _boot() -> str:
    """Tells the machine and its run: process numbers mean nothing beyond it."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


class Nothing:
    """Where no record can be written: the script runs on without."""

    pid = -1

    def tell(self, request: Dict[str, Any]) -> int:
        return -1

    def introduce(self, *unused: Any) -> None:
        pass

    def joined(self, *unused: Any) -> None:
        pass

    def follow(self, *unused: Any) -> None:
        pass

    def done(self, *unused: Any) -> None:
        pass

    def waited(self, *unused: Any) -> None:
        pass


def open_recorder() -> Any:
    folder = os.environ["PDSIM_RECORD"]
    try:
        os.makedirs(folder, exist_ok=True)
        return Recorder(folder)
    except OSError as error:
        sys.stderr.write(f"pdsim: nothing is recorded: {error}\n")
        nothing = Nothing()
        nothing.pid = os.getpid()
        return nothing
