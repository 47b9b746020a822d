"""Reports how a rank ends: with which exception, and where."""

import functools
import sys
import time
from types import TracebackType
from typing import Any, Callable, List, Optional, Type

from . import errors, exits, link, sites

_real_sleep = time.sleep


def _is_recorded_rank() -> bool:
    from .recorder import launcher_rank

    return link.is_recorded() and launcher_rank()[0] >= 0


def _parameters(error: BaseException) -> List[str]:
    """Which of the model's parameters the exception speaks of, where a wrapper knows them."""
    ddp = sys.modules.get("pdsim_guest.ddp")
    return ddp.parameters_of(str(error)) if ddp is not None else []


def raised(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
    found = []
    column = 1  # of the innermost frame
    while trace is not None:
        code = trace.tb_frame.f_code
        if sites.is_users(code.co_filename):
            found.insert(0, (code.co_name, code.co_filename, trace.tb_lineno))
            column = sites.column_in(code, trace.tb_lasti, trace.tb_lineno)
        trace = trace.tb_next
    link.ended_badly = True
    unsupported = getattr(error, "pdsim_unsupported", "")
    if not link.is_recorded() and (unsupported or (isinstance(error, ImportError) and error.name == "torch")):
        return link.unusable(unsupported)
    request = {
        "op": "Raised",
        "name": kind.__name__,
        "text": str(error),
        "module": getattr(error, "name", None) if isinstance(error, ImportError) else None,
        "code": errors.code_of(error),
        "keys": _parameters(error),
        "frames": found[:16],
        "column": column,
        "step": sites.place.step,
        "phase": "none",
    }
    if not link.is_open() and link._slot() < 0 and not _is_recorded_rank():
        return link.tell_outside(request)  # the process that starts the ranks is none
    try:
        link.link().tell(request)
    except (OSError, KeyError, RuntimeError):
        pass  # also of a second process of the rank, which pdsim has refused


def _watch_exceptions() -> None:
    former = sys.excepthook

    def hook(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            raised(kind, error, trace)
        if getattr(error, "pdsim_unsupported", False):
            return  # pdsim says it in a line
        former(kind, error, trace)

    sys.excepthook = hook


def watch_processes(process: Any) -> None:
    """A process of multiprocessing catches the exceptions of its function itself."""
    run: Callable[[Any], None] = process.BaseProcess.run

    def watched(self: Any) -> None:
        try:
            run(self)
        except SystemExit as error:
            exits.escaped_function(error)
            raise
        except Exception as error:
            raised(type(error), error, error.__traceback__)
            raise

    process.BaseProcess.run = watched


def watch_spawned(spawn: Any) -> None:
    """torch.multiprocessing.spawn catches them too, before multiprocessing does."""
    wrap: Callable[..., None] = spawn._wrap

    @functools.wraps(wrap)
    def watched(function: Callable[..., None], *args: Any) -> None:
        def reported(*given: Any) -> None:
            try:
                function(*given)
            except Exception as error:
                raised(type(error), error, error.__traceback__)
                raise

        wrap(reported, *args)

    spawn._wrap = watched


def _sleep(seconds: float) -> None:
    """Lets virtual time pass once the rank is in the simulated world, and real time before."""
    if not link.is_open():
        return _real_sleep(seconds)
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    link.link().ask({"op": "sleep", "seconds": float(seconds), **sites.site()})


def install(is_recorded: bool) -> None:
    _watch_exceptions()
    exits.install()
    if not is_recorded:
        time.sleep = _sleep
