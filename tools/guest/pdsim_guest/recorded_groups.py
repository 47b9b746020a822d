"""Groups that keep the script's own library and record every call: what `--on real` and PDSIM_RECORD give a script."""

import functools
import os
import sys
from datetime import timedelta
from types import ModuleType
from typing import Any, Dict, List, Optional

from torch._C._distributed_c10d import ProcessGroup, Work

from . import groups, init, link, sites, training
from .memory import dtype_names

_messages = ("send", "recv", "recv_anysource")
_collectives = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "allgather": "all_gather",
    "allgather_coalesced": "all_gather",
    "_allgather_base": "all_gather",
    "all_gather_single": "all_gather",
    "_reduce_scatter_base": "reduce_scatter",
    "reduce_scatter_single": "reduce_scatter",
    "alltoall": "all_to_all_v",
    "alltoall_base": "all_to_all",
    "all_to_all_single": "all_to_all",
    "recv_anysource": "recv",
}
_same = ("broadcast", "reduce", "gather", "scatter", "reduce_scatter", "barrier", "send", "recv")

wait_unseen = Work.wait


def recorder() -> Any:
    made = link._link
    return made if made is not None and made.pid == os.getpid() else link.link()


def _is_left_to_later() -> bool:
    """Whether a message is one of isend and irecv."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(sites._own):
        frame = frame.f_back
    return frame.f_code.co_name in ("isend", "irecv")


class RecordedGroup(groups.GuestProcessGroup):
    """Describes each call as the simulated world is asked for it, and has it made by the real group."""

    def __init__(self, real: Any, backend: str, rank: int, size: int, ranks: List[int], name: str, timeout: timedelta) -> None:
        ProcessGroup.__init__(self, rank, size)
        self._real = real
        self._backend_name = backend
        self._rank = rank
        self._size = size
        self._sequence = 0
        request = {"op": "join", "name": name, "ranks": ranks, "rank": rank, "size": size, "seconds": timeout.total_seconds()}
        self._number = recorder().tell({**request, **sites.site()})

    def _start(
        self, kind: str, inputs: Any, outputs: Any, like: Any, count: int, options: Any = None, peer: int = -1, **more: Any
    ) -> Any:
        request: Dict[str, Any] = {"op": "start", "group": self._number, "kind": kind, "count": count}
        if like is not None and like.dtype in dtype_names:
            request["dtype"] = dtype_names[like.dtype]
        request.update(more)
        if kind in _messages:
            request["all"] = _is_left_to_later()
        elif not sites.place.in_phase("backward"):
            training.settle()
        request.update(sites.site())
        request.update(groups._purpose(self, kind, like, count))
        return recorder().tell(request)

    def _describe(self, name: str, describe: Any, args: Any, kwargs: Any) -> int:
        try:
            return int(describe(self, *args, **kwargs))
        except Exception:  # a call that the real library is to refuse, or one of a form that pdsim does not know
            request = {"op": "start", "group": self._number, "kind": _collectives.get(name, name), "count": 0}
            return int(recorder().tell({**request, **sites.site()}))

    def monitored_barrier(self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False) -> None:
        number = self._start("monitored_barrier", [], [], None, 0)
        given = () if timeout is None else (timeout,)
        try:
            self._real.monitored_barrier(*given, wait_all_ranks=wait_all_ranks)
        except Exception as error:
            recorder().done(number, error)
            raise
        recorder().done(number, None)

    def _set_sequence_number_for_group(self) -> None:
        self._real._set_sequence_number_for_group()

    def _get_sequence_number_for_group(self) -> int:
        return int(self._real._get_sequence_number_for_group())

    def __getattr__(self, name: str) -> Any:
        if "_real" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._real, name)


def _recorded(name: str, describe: Any) -> Any:
    @functools.wraps(describe)
    def method(self: RecordedGroup, *args: Any, **kwargs: Any) -> Any:
        number = self._describe(name, describe, args, kwargs)
        try:
            work = getattr(self._real, name)(*args, **kwargs)
        except Exception as error:
            recorder().done(number, error)
            raise
        recorder().follow(number, work, name in _messages)
        return work

    return method


def _delegated(name: str) -> Any:
    def method(self: RecordedGroup, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._real, name)(*args, **kwargs)

    return method


for _name in (*_collectives, *_same):
    if hasattr(ProcessGroup, _name):
        setattr(RecordedGroup, _name, _recorded(_name, getattr(groups.GuestProcessGroup, _name, lambda self, *a, **k: None)))
for _name in ("_start_coalescing", "_end_coalescing"):
    setattr(RecordedGroup, _name, _delegated(_name))


def _is_over(work: Any) -> bool:
    """What has been waited for may go on beside the program: NCCL's."""
    try:
        return bool(work.is_completed())
    except Exception:
        return True


def _watch_works() -> None:
    @functools.wraps(wait_unseen)
    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = wait_unseen(self, *args, **kwargs)
        except Exception as error:
            recorder().waited(self, error)
            raise
        if _is_over(self):
            recorder().waited(self, None)
        return result

    Work.wait = wait


def _made(real: Any) -> RecordedGroup:
    making = init._Making
    rank, size = int(real.rank()), int(real.size())
    if not making.ranks:
        recorder().joined(rank, size)
    ranks = making.ranks or list(range(size))
    return RecordedGroup(real, making.backend, rank, size, ranks, making.name, making.timeout)


class _Kind(type):
    """What else a script or PyTorch asks the class of a backend for is the real one's."""

    real: Any

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, cls.real) or isinstance(getattr(thing, "_real", None), cls.real)


def _replacement(real_kind: Any) -> Any:
    class Factory(metaclass=_Kind):
        real = real_kind

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return _made(real_kind(*args, **kwargs))

        @staticmethod
        def create(ranks: List[int]) -> Any:
            real = real_kind.create(ranks)
            return _made(real) if real else real

    return Factory


def _watch_backends(c10d: ModuleType) -> None:
    for name in ("Gloo", "NCCL", "UCC", "MPI"):
        kind = getattr(c10d, f"ProcessGroup{name}", None)
        if kind is not None:
            setattr(c10d, f"ProcessGroup{name}", _replacement(kind))
    wrap = getattr(c10d, "_create_process_group_wrapper", None)
    if wrap is None:
        return

    def checked(wrapped_pg: Any, **kwargs: Any) -> Any:
        """TORCH_DISTRIBUTED_DEBUG=DETAIL's checks go below the record. They make a group of their own for it."""
        real_gloo, c10d_gloo = c10d.ProcessGroupGloo.real, c10d.ProcessGroupGloo  # type: ignore[attr-defined]
        c10d.ProcessGroupGloo = real_gloo  # type: ignore[attr-defined]
        try:
            wrapped_pg._real = wrap(wrapped_pg=wrapped_pg._real, **kwargs)
        finally:
            c10d.ProcessGroupGloo = c10d_gloo  # type: ignore[attr-defined]
        return wrapped_pg

    c10d._create_process_group_wrapper = checked  # type: ignore[attr-defined]


def install(c10d: ModuleType) -> None:
    init._watch_making(c10d)
    _watch_backends(c10d)
    _watch_works()
    init._around(c10d, "init_process_group")
    init._around(c10d, "new_group")
    init._without_a_group(c10d)
    package = sys.modules.get("torch.distributed")
    for name in ("init_process_group", "new_group"):
        if package is not None and hasattr(package, name):  # it was imported before
            setattr(package, name, getattr(c10d, name))
    if link._slot() >= 0:
        recorder()  # so that one that never comes to init_process_group can be asked where it is
        link._own_slot = link._slot()
        os.environ.pop("PDSIM_GUEST_SLOT", None)  # what this process starts is no rank
