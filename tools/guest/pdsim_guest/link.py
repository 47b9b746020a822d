"""The socket to pdsim: one request, one answer.

A frame is the length of a JSON object (4 bytes), the length of the data behind it (8 bytes), the object, the data. Requests whose `op`
starts with a capital letter get no answer.
"""

import atexit
import faulthandler
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time
from typing import Any, Dict, Optional, Sequence, Tuple

from . import changes, interruptions, shared

_exit_now = os._exit
_head = struct.Struct("<IQ")
Reply = Dict[str, Any]


def refused(message: str, code: str) -> RuntimeError:
    """What the simulated library reports, as the exception that PyTorch raises; `code` is pdsim's name of the error."""
    error = RuntimeError(message)
    error.pdsim_code = code  # type: ignore[attr-defined]
    return error


def _end_as(how: str) -> None:
    """Ends this process as the library would: nothing of the script runs any more."""
    sys.stdout.flush()
    sys.stderr.flush()
    if how == "abort":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGABRT)
    _exit_now(143)


class Link:
    def __init__(self, path: str) -> None:
        self.pid = os.getpid()
        self._path = path
        self._lock = threading.RLock()
        self._threads_said = False
        self.backend = ""  # not known before init_process_group
        self._answered = time.process_time()  # what the process computes counts from its last answer
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.connect(path)
        self._fd = made.detach()  # open to the very end of the process, whatever still calls then
        self.segments = shared.Segments(self.ask)

    def tell(self, request: Dict[str, Any]) -> None:
        if os.getpid() != self.pid:
            return  # it was forked from the rank
        with self._lock:
            self._send(request, ())

    def ask(
        self, request: Dict[str, Any], data: Sequence[memoryview] = (), into: Optional[Sequence[memoryview]] = None
    ) -> Tuple[Reply, bytes]:
        """The answer, and its data unless that went `into` memory of the caller's."""
        if os.getpid() != self.pid:
            raise RuntimeError(f"pdsim: process {os.getpid()} was forked from a rank and calls torch.distributed too")
        free = self._lock.acquire(blocking=False)
        if not free:
            self._say_threads(request)
            self._lock.acquire()
        held = interruptions.hold()
        try:
            by = {"threads": threading.active_count()}
            if not free:
                by["thread"] = threading.get_ident()
            self._send({**request, **by, "cpu": time.process_time() - self._answered}, data)
            reply, rest = self._receive(into)
            self._answered = time.process_time()
        finally:
            self._lock.release()
            interruptions.release(held)
        if "end" in reply:
            _end_as(reply["end"])
        if "error" in reply:
            raise refused(reply["message"], reply["error"])
        return reply, rest

    def _say_threads(self, request: Dict[str, Any]) -> None:
        """On a connection of its own, for this one belongs to the thread that waits for its answer."""
        if not self._threads_said:
            self._threads_said = True
            sys.stderr.write(
                "pdsim: two threads of this rank call torch.distributed at once; here one waits for the other, so pdsim itself may cause a hang\n"
            )
        place = {name: request[name] for name in ("step", "phase", "column", "frames") if name in request}
        wanted = request.get("kind") or request.get("name") or request["op"]
        Link(self._path).tell({**place, "op": "Threads", "name": wanted, "pid": self.pid, "thread": threading.get_ident()})

    def _send(self, request: Dict[str, Any], data: Sequence[memoryview]) -> None:
        text = json.dumps(request).encode()
        head = _head.pack(len(text), sum(d.nbytes for d in data)) + text
        try:
            for part in (memoryview(head), *data):
                while part.nbytes:
                    part = part[os.write(self._fd, part) :]
        except (BrokenPipeError, ConnectionResetError):
            _end_as("over")

    def _receive(self, into: Optional[Sequence[memoryview]]) -> Tuple[Reply, bytes]:
        head = bytearray(_head.size)
        self._fill(memoryview(head))
        length, data_length = _head.unpack(head)
        text = bytearray(length)
        self._fill(memoryview(text))
        reply: Reply = json.loads(text)
        if into is not None and data_length == sum(part.nbytes for part in into):
            for part in into:
                self._fill(part)
            return reply, b""
        rest = bytearray(data_length)
        self._fill(memoryview(rest))
        return reply, bytes(rest)

    def _fill(self, memory: memoryview) -> None:
        while memory.nbytes:
            try:
                count = os.readv(self._fd, [memory])
            except ConnectionResetError:
                count = 0
            if count == 0:
                _end_as("over")
            memory = memory[count:]


_link: Any = None  # a Link, or a Recorder (recorder.py)


def is_open() -> bool:
    return _link is not None and _link.pid == os.getpid()


_own_slot: Optional[int] = None  # once it was taken out of the environment


def _slot() -> int:
    return int(os.environ.get("PDSIM_GUEST_SLOT", "-1")) if _own_slot is None else _own_slot


def is_recorded() -> bool:
    """The script keeps its own library."""
    return "PDSIM_GUEST" not in os.environ


def _own_number() -> int:
    """Of a process that multiprocessing has started: the how-manieth it is."""
    process = sys.modules.get("multiprocessing.process")
    identity = getattr(process.current_process(), "_identity", ()) if process is not None else ()
    return identity[-1] - 1 if identity else -1


_file_stores: Dict[str, bool] = {}  # by name, in the order of their use: whether the file was there and not empty


def file_store(path: str) -> str:
    """The name of the store in this file, as requests have it. No store of the simulated world writes it: what it holds is of an earlier run."""
    path = changes.changed("FileStore", {"file_name": path})["file_name"]
    name = "file:" + os.path.abspath(path)
    _file_stores.setdefault(name, os.path.isfile(path) and os.path.getsize(path) > 0)
    return name


def _left_store(worlds: Optional[str]) -> Dict[str, Any]:
    """One that an earlier run has left, and whether the world's group goes over it."""
    left = [name for name, is_left in _file_stores.items() if is_left]
    chosen = worlds if worlds in left else next(iter(left), "")
    return {"store": chosen, "all": worlds is None or chosen == worlds}


def link(backend: str = "", version: str = "", rank: int = -1, size: int = -1, store: Optional[str] = None) -> Any:
    """The socket of this process, opened at its first use, which is init_process_group as a rule and says who it is; or the
    record that is written in its place. `store`: the name of the world's, where that is known."""
    global _link
    if _link is not None and _link.pid != os.getpid() and _slot() < 0:
        _link = None  # the script forks its ranks
    if is_recorded():
        from . import recorder

        _link = _link or recorder.open_recorder()
        if backend:
            _link.introduce(backend, version, rank, size)
    elif _link is None:
        made = Link(os.environ["PDSIM_GUEST"])
        who: Dict[str, Any] = {"slot": _slot(), "pid": os.getpid(), "name": backend, "text": version}
        who["rank"] = rank if rank >= 0 else int(os.environ.get("RANK", _own_number()))
        who.update(_left_store(store))
        who["size"] = size if size >= 0 else int(os.environ.get("WORLD_SIZE", "-1"))
        made.ask({"op": "hello", **who})
        made.backend = backend
        _link = made
        _show_stack_on_request()
        if _slot() < 0:
            _say_goodbye()
    elif backend and not _link.backend:
        _link.backend = backend
        _say_if_not_expected(backend)
    return _link


def _say_if_not_expected(backend: str) -> None:
    """The world began at a store, when the backend was not known."""
    if backend != "gloo" and _own_number() <= 0 and _slot() <= 0:
        sys.stderr.write(
            f"pdsim: the script used a store before init_process_group named {backend}, so its calls follow Gloo unless --backend was given: "
            f"`pdsim run --backend {backend}`\n"
        )


def tell_outside(request: Dict[str, Any]) -> None:
    """For a process that is not a rank, or cannot become one."""
    if is_open() or "PDSIM_GUEST" not in os.environ:
        return
    try:
        Link(os.environ["PDSIM_GUEST"]).tell(request)
    except OSError:
        pass  # pdsim has ended


def unusable(version: str) -> None:
    """Says that this interpreter's PyTorch cannot be carried, or that it has none."""
    tell_outside({"op": "Unusable", "text": version})


ended_badly = False


def ended_status() -> int:
    """Of a process that runs its functions of atexit, as far as this can know it."""
    from . import exits

    return exits.status() or int(ended_badly)


def _say_goodbye() -> None:
    """pdsim cannot ask for the exit status of a process that the script has started."""
    from . import exits

    def goodbye(status: int) -> None:
        if is_open():
            _link.tell({"op": "Goodbye", "number": status})

    exits.before_leaving(goodbye)
    atexit.register(lambda: goodbye(ended_status()))


def _show_stack_on_request() -> None:
    """pdsim asks a rank that has gone silent where it is."""
    folder = os.path.dirname(os.environ["PDSIM_GUEST"])
    shown = open(os.path.join(folder, f"stack.{os.getpid()}"), "w")
    faulthandler.register(signal.SIGUSR2, file=shown, all_threads=False, chain=False)
