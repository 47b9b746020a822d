"""Groups that keep the script's own library and record every call: what `--on real` and PDSIM_RECORD give a script."""

import functools
import os
import sys
from datetime import timedelta
from typing import Any, Dict, Iterable, List, Optional

from torch._C._distributed_c10d import ProcessGroup, Work

from . import ddp, groups, init, link, sites, training
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
    "all_gather_single_coalesced": "all_gather",
    "allgather_into_tensor_coalesced": "all_gather",
    "reduce_scatter_single_coalesced": "reduce_scatter",
    "reduce_scatter_tensor_coalesced": "reduce_scatter",
    "gather_single": "gather",
    "gather_into_tensor": "gather",
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
        self.members = list(ranks)
        self.collectives = 0
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
        else:
            self.collectives += 1
            if not sites.place.in_phase("backward"):
                training.settle()
        request.update(sites.site())
        if (sites.place.phases or ddp._watched) and groups._is_c(groups._caller()):  # asking costs a microsecond
            request.update(groups._purpose(self, kind, like, count))
        return recorder().tell(request)

    def _describe(self, name: str, describe: Any, args: Any, kwargs: Any) -> List[int]:
        """The numbers of the calls that this one makes: one as a rule."""
        try:
            numbers = describe(self, *args, **kwargs)
            return numbers if isinstance(numbers, list) else [int(numbers)]
        except Exception:  # a call that the real library is to refuse, or one of a form that pdsim does not know
            request = {"op": "start", "group": self._number, "kind": _collectives.get(name, name), "count": 0}
            return [int(recorder().tell({**request, **sites.site()}))]

    def monitored_barrier(self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False) -> None:
        number = self._start("monitored_barrier", [], [], None, 0)
        given = () if timeout is None else (timeout,)
        try:
            self._real.monitored_barrier(*given, wait_all_ranks=wait_all_ranks)
        except Exception as error:
            recorder().done([number], error)
            raise
        recorder().done([number], None)

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
        numbers = self._describe(name, describe, args, kwargs)
        try:
            work = getattr(self._real, name)(*args, **kwargs)
        except Exception as error:
            recorder().done(numbers, error)
            raise
        recorder().follow(numbers, work, name in _messages)
        return work

    return method


def _delegated(name: str) -> Any:
    def method(self: RecordedGroup, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._real, name)(*args, **kwargs)

    return method


def record_methods(kind: Any, described: Any) -> None:
    """Gives the class a method for every call that the real groups have; `described` has those that describe it."""
    for name in (*_collectives, *_same):
        if hasattr(ProcessGroup, name):
            setattr(kind, name, _recorded(name, getattr(described, name, lambda self, *a, **k: None)))


def delegate(kind: Any, names: Iterable[str]) -> None:
    for name in names:
        setattr(kind, name, _delegated(name))


record_methods(RecordedGroup, groups.GuestProcessGroup)
delegate(RecordedGroup, ("_start_coalescing", "_end_coalescing"))


def _is_over(work: Any) -> bool:
    """What has been waited for may go on beside the program: NCCL's."""
    try:
        return bool(work.is_completed())
    except Exception:
        return True


def watch_works() -> None:
    """Of every library; once is enough."""
    if Work.wait is not wait_unseen:
        return
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


def made(real: Any, kind: Any = RecordedGroup) -> RecordedGroup:
    making = init._Making
    rank, size = int(real.rank()), int(real.size())
    if not making.ranks:
        recorder().joined(rank, size)
    ranks = making.ranks or list(range(size))
    group: RecordedGroup = kind(real, making.backend, rank, size, ranks, making.name, making.timeout)
    return group
