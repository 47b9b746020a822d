"""Functions that the script has set for signals run after a request to pdsim, as they run after a call into a library's C++. In the
middle of one their exception would leave the answer in the socket, where the next request would take it for its own."""

import functools
import signal
import threading
from typing import Any, Callable, List, Tuple


class _State:
    """Python runs the functions on the main thread, whichever thread the signal has reached."""

    held = 0
    waiting: List[Tuple[Callable[..., Any], int, Any]] = []


class _Held:
    """Stands for a function of the script's."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, number: int, frame: Any) -> Any:
        if not _State.held:
            return self.function(number, frame)
        _State.waiting.append((self.function, number, frame))
        return None


def _of_script(handler: Any) -> Any:
    return handler.function if isinstance(handler, _Held) else handler


def install() -> None:
    set_handler, get_handler = signal.signal, signal.getsignal

    @functools.wraps(set_handler)
    def setting(number: Any, handler: Any) -> Any:
        return _of_script(set_handler(number, _Held(handler) if callable(handler) else handler))

    @functools.wraps(get_handler)
    def getting(number: Any) -> Any:
        return _of_script(get_handler(number))

    signal.signal, signal.getsignal = setting, getting


def hold() -> bool:
    """What release() takes: whether there is anything to release."""
    if threading.current_thread() is not threading.main_thread():
        return False
    _State.held += 1
    return True


def release(held: bool) -> None:
    """What came meanwhile comes now. Where a function raises, those behind it run at the next release."""
    if not held:
        return
    _State.held -= 1
    while _State.waiting and not _State.held:
        function, number, frame = _State.waiting.pop(0)
        function(number, frame)
