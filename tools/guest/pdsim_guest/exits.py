"""Reports where a script ends its process with a status of its own: sys.exit, exit or quit, os._exit.

Python tells nobody of a SystemExit, and has dropped it when the functions of atexit run: the place of the newest one is kept until then.
"""

import atexit
import builtins
import functools
import opcode
import os
import sys
import threading
from types import FrameType
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional

from . import link, sites

now = os._exit  # whoever watches the end


class _Exit(NamedTuple):
    function: str
    status: int
    text: str  # what Python prints in place of a status
    place: Dict[str, Any]  # without frames: it is not in the script
    outermost: FrameType


_newest: Optional[_Exit] = None
_goodbyes: List[Callable[[int], None]] = []


def _status_of(code: Any) -> int:
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def _is_of_a_library(caller: FrameType) -> bool:
    """It passes on how a function of the user's has ended."""
    return str(caller.f_globals.get("__name__")).startswith(("multiprocessing.", "torch.multiprocessing."))


def _remember(function: str, code: Any) -> None:
    global _newest
    if threading.current_thread() is not threading.main_thread():
        return
    place = {} if _is_of_a_library(sys._getframe(2)) else sites.site()
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
    text = "" if code is None or isinstance(code, int) else str(code)
    _newest = _Exit(function, _status_of(code), text, place, frame)


def _escaped(outermost: FrameType) -> bool:
    """Of a program that has ended: it did so by an exception."""
    code = outermost.f_code.co_code
    at = outermost.f_lasti
    return not (0 <= at < len(code) and opcode.opname[code[at]].startswith("RETURN"))


def status() -> int:
    """With which the process ends that runs its functions of atexit, as far as one of ours was called and nobody caught it."""
    return _newest.status if _newest is not None and _escaped(_newest.outermost) else 0


def _tell(function: str, number: int, text: str, place: Dict[str, Any]) -> None:
    if number == 0 or not place.get("frames") or not link.is_open():
        return
    try:
        link.link().tell({"op": "Exited", "name": function, "number": number, "text": text, **place})
    except OSError:
        pass  # pdsim has ended


def tell_newest() -> None:
    if _newest is not None and status():
        _tell(_newest.function, _newest.status, _newest.text, _newest.place)


def escaped_function(error: SystemExit) -> None:
    """Of a process of multiprocessing, which catches what escapes from its function."""
    global _newest
    newest, _newest = _newest, None
    if newest is not None and newest.status == _status_of(error.code):
        _tell(newest.function, newest.status, newest.text, newest.place)


def before_leaving(goodbye: Callable[[int], None]) -> None:
    """Calls this with the status when the process ends by os._exit."""
    _goodbyes.append(goodbye)


def _watch(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def leave(*args: Any) -> NoReturn:
        try:
            function(*args)
        except SystemExit as error:
            _remember(name, error.code)
            raise
        raise AssertionError(name + " has returned")

    return leave


def _watch_quitter(quitter: Any) -> None:
    """Of exit() and quit(), which are objects of this type."""
    call: Callable[..., None] = quitter.__call__

    def leave(self: Any, code: Any = None) -> None:
        try:
            call(self, code)
        except SystemExit as error:
            _remember(self.name, error.code)
            raise

    quitter.__call__ = leave


def _leave(number: int) -> NoReturn:
    if not _is_of_a_library(sys._getframe(1)):
        _tell("os._exit", number & 0xFF, "", sites.site())
    for goodbye in _goodbyes:
        goodbye(number)
    now(number)


def install() -> None:
    sys.exit = _watch(sys.exit, "sys.exit")
    quitter = type(getattr(builtins, "exit", None))
    if quitter.__name__ == "Quitter":  # python -S has none
        _watch_quitter(quitter)
    os._exit = _leave  # type: ignore[assignment]
    atexit.register(tell_newest)
