"""Works and futures of calls that pdsim carries.

C++ callers (the Reducer) reach Python only while the Python object lives, so every Work is held until it is complete.
"""

from datetime import timedelta
from typing import Any, Callable, Dict, List, Optional

import torch
from torch._C._distributed_c10d import Work
from torch.autograd import Variable
from torch.futures import Future

from . import ddp, link, sites
from .memory import Landing, is_on_gpu
from .shared import Segment

_pending: Dict[int, "GuestWork"] = {}


class GuestFuture(Future):  # type: ignore[type-arg]
    """Waiting for it waits for its Work, so that pdsim knows that the rank is blocked."""

    def __init__(self, work: "GuestWork") -> None:
        devices = sorted({t.device.index for t in work.result() if is_on_gpu(t)})
        super().__init__(devices=[torch.device("cuda", index) for index in devices])
        self._work = work

    def wait(self) -> Any:
        self._work.wait()
        return super().wait()

    def value(self) -> Any:
        return super().value()

    def then(self, callback: Callable[[Any], Any]) -> Any:
        child = GuestFuture(self._work)

        def run(done: Any) -> None:
            try:
                child.set_result(callback(done))
            except Exception as error:
                child.set_exception(error)

        self.add_done_callback(run)
        return child


class GuestWork(Work):  # type: ignore[misc]
    def __init__(
        self, number: int, landing: Landing, result: List[torch.Tensor], segment: Optional[Segment], peer: int = -1
    ) -> None:
        super().__init__()
        self._number = number
        self._landing = landing
        self._segment = segment
        self._result = result
        self._error: Optional[Exception] = None
        self._source = peer
        self._done = False
        self._future: Optional[GuestFuture] = None
        self.together: Optional["Together"] = None
        _pending[number] = self

    def _into(self) -> Optional[List[memoryview]]:
        """Where an answer's data go."""
        return self._landing.views() if self._segment is None else None

    def _finish(self, reply: link.Reply) -> None:
        if self._segment is not None:  # where the call failed, pdsim may still write to it
            self._segment.take(self._landing.views())
            link.link().segments.give_back(self._segment)
            self._segment = None
        self._landing.land()
        self._source = reply.get("source", self._source)
        self._close()
        if self._future is not None:
            self._future.set_result(self._result)

    def _fail(self, error: Exception) -> None:
        self._error = error
        self._close()
        if self._future is not None:
            self._future.set_exception(error)

    def _close(self) -> None:
        self._done = True
        _pending.pop(self._number, None)

    def wait(self, timeout: Optional[timedelta] = None) -> bool:
        if not self._done:
            seconds = timeout.total_seconds() if timeout is not None and timeout.total_seconds() > 0 else None
            try:
                reply, _ = link.link().ask(
                    {"op": "wait", "work": self._number, "seconds": seconds}, into=self._into()
                )
                self._finish(reply)
            except RuntimeError as error:
                self._fail(error)
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        if not self._done:
            try:
                reply, _ = link.link().ask({"op": "poll", "work": self._number}, into=self._into())
                if reply["done"]:
                    self._finish(reply)
            except RuntimeError as error:
                self._fail(error)
        return self._done

    def is_success(self) -> bool:
        return self._done and self._error is None

    def exception(self) -> Optional[Exception]:
        return self._error

    def result(self) -> List[torch.Tensor]:
        return self._result

    def source_rank(self) -> int:
        return self._source

    def _source_rank(self) -> int:
        return self._source

    def get_future(self) -> Any:
        if self._future is None:
            self._future = GuestFuture(self)
            if self._done and self._error is None:
                self._future.set_result(self._result)
            elif self._error is not None:
                self._future.set_exception(self._error)
            elif sites.place.in_phase("backward") and ddp.reduces_at_the_end():
                self._wait_before_the_reducer()
            else:
                _wait_at_the_end_of_backward()
        return self._future


    def _wait_before_the_reducer(self) -> None:
        """It is past the hooks of the backward, so that no callback of ours comes before its wait. The future has the error."""
        try:
            self.wait()
        except RuntimeError:
            pass


class Together(Work):  # type: ignore[misc]
    """Several works as one: of a call with several tensors."""

    def __init__(self, works: List[GuestWork]) -> None:
        super().__init__()
        self._works = works
        for work in works:
            work.together = self  # C++ may hold it alone

    def wait(self, timeout: Optional[timedelta] = None) -> bool:
        return all([work.wait(timeout) for work in self._works])

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        return all([work.is_completed() for work in self._works])

    def is_success(self) -> bool:
        return all(work.is_success() for work in self._works)

    def exception(self) -> Optional[Exception]:
        return next((work.exception() for work in self._works if work.exception() is not None), None)

    def result(self) -> List[torch.Tensor]:
        return [tensor for work in self._works for tensor in work.result()]

    def get_future(self) -> Any:
        return torch.futures.collect_all([work.get_future() for work in self._works])


def wait_for_all() -> None:
    for work in list(_pending.values()):
        if work._future is not None:
            work.wait()


def watch_futures() -> None:
    """Futures that C++ has made of ours (a communication hook's) are waited for in C++: their works come first, visibly."""
    plain: Any = torch._C.Future
    wait = plain.wait
    if getattr(wait, "by_pdsim", False):
        return

    def watched(self: Any) -> Any:
        if not isinstance(self, GuestFuture) and not self.done():
            wait_for_all()
        return wait(self)

    watched.by_pdsim = True  # type: ignore[attr-defined]
    plain.wait = watched


def _wait_at_the_end_of_backward() -> None:
    """The Reducer waits for its futures in C++, which nobody sees. This callback runs after all hooks of the backward and before the
    Reducer's own, and waits for them visibly. Outside of a backward it cannot be queued."""
    try:
        Variable._execution_engine.queue_callback(wait_for_all)
    except RuntimeError:
        pass
