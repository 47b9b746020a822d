"""Functions that the script has set for signals run after a request to pdsim, as they run after a call into a library's C++. In the
middle of one their exception would leave the answer in the socket, where the next request would take it for its own."""

import functools
import signal
import threading
from typing import Any, Optional, Set

_handled: Set[int] = set()


def install() -> None:
    set_handler = signal.signal

    @functools.wraps(set_handler)
    def watched(number: Any, handler: Any) -> Any:
        former = set_handler(number, handler)
        if callable(handler):
            _handled.add(number)
        else:
            _handled.discard(number)
        return former

    signal.signal = watched


def hold() -> Optional[Any]:
    """What release() takes; None: there is nothing to hold back."""
    if not _handled or threading.current_thread() is not threading.main_thread():
        return None
    return signal.pthread_sigmask(signal.SIG_BLOCK, _handled)


def release(held: Optional[Any]) -> None:
    """What came meanwhile comes now."""
    if held is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
