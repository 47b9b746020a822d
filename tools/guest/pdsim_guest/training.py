"""Marks steps and phases of training: backward passes and optimizer steps."""

import functools
import sys
from types import ModuleType
from typing import Any, Callable, List

from . import errors, link, sites

_after_backward: List[Callable[[], None]] = []
_after_failure: List[Callable[[BaseException], None]] = []
_before_others: List[Callable[[], None]] = []


def after_backward(callback: Callable[[], None], failed: Callable[[BaseException], None]) -> None:
    """Called when a backward has returned, or raised."""
    _after_backward.append(callback)
    _after_failure.append(failed)


def before_others(callback: Callable[[], None]) -> None:
    """Called before whatever the rank does next that is no backward."""
    _before_others.append(callback)


def settle() -> None:
    for callback in _before_others:
        callback()


def in_phase(name: str, phase: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Runs the function as one call of the program, where the rank is in the simulated world."""
    if not link.is_open():
        return function(*args, **kwargs)
    if phase != "backward":
        settle()
    sites.place.enter(phase, sys._getframe(1))
    link.link().tell({"op": "Enter", "name": name, **sites.site()})
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        link.link().tell({"op": "Leave", "error": errors.code_of(error), "text": str(error)})
        raise
    finally:
        sites.place.leave()
    link.link().tell({"op": "Leave"})
    return result


def watch_backward(autograd: ModuleType) -> None:
    backward = autograd.backward  # type: ignore[attr-defined]

    @functools.wraps(backward)
    def watched(*args: Any, **kwargs: Any) -> Any:
        if "backward" in sites.place.phases:  # checkpoint() recomputes a part of the model in a backward of its own
            return backward(*args, **kwargs)
        try:
            result = in_phase("backward", "backward", backward, *args, **kwargs)
        except Exception as error:
            if link.is_open():
                for failed in _after_failure:
                    failed(error)
            raise
        for callback in _after_backward:
            callback()
        return result

    autograd.backward = watched  # type: ignore[attr-defined]


def watch_join(module: ModuleType) -> None:
    """At the end of join() a rank without inputs makes the calls of those that have some."""
    leave = module.Join.__exit__  # type: ignore[attr-defined]

    @functools.wraps(leave)
    def watched(self: Any, *args: Any) -> Any:
        return in_phase("join", "none", leave, self, *args)

    module.Join.__exit__ = watched  # type: ignore[attr-defined]


def watch_optimizers(module: ModuleType) -> None:
    init = module.Optimizer.__init__  # type: ignore[attr-defined]

    @functools.wraps(init)
    def watched(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        _watch_step(type(self))

    module.Optimizer.__init__ = watched  # type: ignore[attr-defined]


def _replicas() -> Any:
    """None before there is a wrapper."""
    return sys.modules.get(f"{__package__}.replicas.states")


def watch_scalers(module: ModuleType) -> None:
    """GradScaler.step() leaves the optimizer's out where it has found an infinity or a NaN."""
    kind: Any = getattr(module, "GradScaler", None)
    if kind is None or "step" not in vars(kind):
        return
    step = kind.step

    @functools.wraps(step)
    def watched(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        replicas = _replicas()
        before = 0 if replicas is None else replicas.steps_made()
        result = step(self, optimizer, *args, **kwargs)
        if replicas is not None and replicas.steps_made() == before:
            replicas.tell_skipped(optimizer)
        return result

    kind.step = watched


def _watch_step(kind: Any) -> None:
    step = kind.step
    if getattr(step, "counted_by_pdsim", False):
        return

    @functools.wraps(step)
    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        replicas = _replicas()
        if replicas is None:
            result = in_phase("optimizer_step", "optimizer", step, self, *args, **kwargs)
        else:
            result = replicas.watched_step(self, in_phase, "optimizer_step", "optimizer", step, self, *args, **kwargs)
        sites.place.step = max(sites.place.step, 0) + 1
        return result

    counted.counted_by_pdsim = True  # type: ignore[attr-defined]
    kind.step = counted
