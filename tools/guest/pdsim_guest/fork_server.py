"""Forks the ranks from one interpreter that has imported torch: that takes seconds once, and ranks share the memory of it.

pdsim sends a packet for each rank: its variables ("NAME=value", with zeros between), and its two streams. The answer is the rank's pid.
"""

import atexit
import ctypes
import gc
import glob
import os
import signal
import socket
import sys
import tempfile
from types import ModuleType
from typing import List, Set

_set_death_signal = 1  # PR_SET_PDEATHSIG


def _import_dynamo() -> None:
    """The first optimizer of a process imports it, in 0.8 s. The folder that this makes is for what is compiled later."""

    def made() -> Set[str]:
        return set(glob.glob(os.path.join(tempfile.gettempdir(), "torchinductor_*")))

    before = made()
    import torch._dynamo

    for folder in made() - before:
        try:
            os.rmdir(folder)
        except OSError:
            pass  # it is in use


def _import_torch() -> bool:
    """What a rank of it imports later is there already. False: it cannot be imported, of which the script sees what it would see."""
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # a process that has asked CUDA itself has children without it
    try:
        import torch.distributed
        import torch.nn.parallel
        import torch.optim

        if int(torch.__version__.split(".")[0]) >= 2:
            _import_dynamo()
    except Exception:
        return False
    return True


class _Shared:
    """What was imported before the forks. A rank that tore it down at its end would copy most of its memory to do so: 0.3 s."""

    def __init__(self) -> None:
        self._before = set(sys.modules)
        self._names: Set[str] = set()
        self._kept: List[ModuleType] = []
        self._is_rank = False
        atexit.register(self._keep)  # before those of the imports, so it runs after them

    def imported(self) -> None:
        self._names = set(sys.modules) - self._before

    def leave_to_kernel(self, libc: ctypes.CDLL) -> None:
        """In a rank. Its own modules, and libraries that it loads itself, end as in any interpreter."""
        self._is_rank = True
        if hasattr(libc, "on_exit"):  # these run last first: the streams of C are written, then the process ends with its status
            libc.on_exit(libc._exit, None)
            libc.on_exit(libc.fcloseall, None)

    def _keep(self) -> None:
        if self._is_rank:
            self._kept = [sys.modules.pop(name) for name in self._names if name in sys.modules]
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._kept))


def _become_rank(middle: int, variables: bytes, streams: List[int], libc: ctypes.CDLL) -> None:
    while os.getppid() == middle:
        os.sched_yield()
    libc.prctl(_set_death_signal, signal.SIGKILL)
    for stream, number in zip(streams, (1, 2)):
        os.dup2(stream, number)
        os.close(stream)
    for variable in variables.decode(errors="surrogateescape").split("\0"):
        name, _, value = variable.partition("=")
        os.environ[name] = value
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed()  # each of several interpreters has a state of its own


def serve() -> None:
    """Returns in each rank, which goes on to the script; the process that forks them ends with pdsim."""
    control = socket.socket(fileno=int(os.environ.pop("PDSIM_GUEST_FORK_SERVER")))
    libc = ctypes.CDLL(None)
    shared = _Shared()
    threads = len(os.listdir("/proc/self/task")) if _import_torch() else 0
    shared.imported()
    gc.collect()
    gc.freeze()
    control.send(b"%d" % threads)
    while True:
        variables, streams, _, _ = socket.recv_fds(control, 1 << 16, 2)
        if not variables:
            os._exit(0)
        child = os.fork()
        if child == 0:
            middle = os.getpid()
            rank = os.fork()
            if rank == 0:
                control.close()
                shared.leave_to_kernel(libc)
                return _become_rank(middle, variables, streams, libc)
            os.setpgid(rank, rank)
            control.send(b"%d" % rank)
            os._exit(0)
        for stream in streams:
            os.close(stream)
        os.waitpid(child, 0)
