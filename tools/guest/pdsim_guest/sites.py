"""Where in the user's program a call comes from."""

import os
import sys
from types import CodeType, FrameType
from typing import Any, Dict, List, Optional, Tuple

_most_frames = 16
_own = os.path.dirname(os.path.abspath(__file__)) + os.sep
Frame = Tuple[str, str, int]


class Place:
    """What the program is at: its step (optimizer steps made so far) and the phase of training."""

    def __init__(self) -> None:
        self.step = -1
        self.phases: List[str] = []
        self.entries: List[Tuple[List[Frame], int]] = []  # where each phase was entered: frames and column

    def enter(self, phase: str, start: FrameType) -> None:
        self.phases.append(phase)
        self.entries.append((frames(start), _column(start)))

    def leave(self) -> None:
        self.phases.pop()
        self.entries.pop()

    def in_phase(self, name: str) -> bool:
        return bool(self.phases) and self.phases[-1] == name


place = Place()


def _inside_torch(path: str) -> bool:
    torch = sys.modules.get("torch")
    folder = os.path.dirname(getattr(torch, "__file__", "") or "") + os.sep
    return len(folder) > 1 and path.startswith(folder)


_known: Dict[str, bool] = {}  # once torch is imported, for every call asks it


def is_users(path: str) -> bool:
    known = _known.get(path)
    if known is None:
        known = _is_users(path)
        if "torch" in sys.modules:
            _known[path] = known
    return known


def _is_users(path: str) -> bool:
    standard = os.path.dirname(os.__file__) + os.sep
    return not (
        path.startswith(_own)
        or path.startswith("<frozen")
        or _inside_torch(path)
        or (path.startswith(standard) and "-packages" not in path)
    )


def frames(start: Optional[FrameType] = None) -> List[Frame]:
    """The frames of the user's own files, innermost first."""
    found: List[Frame] = []
    frame = start if start is not None else sys._getframe(1)
    while frame is not None and len(found) < _most_frames:
        code = frame.f_code
        if is_users(code.co_filename):
            found.append((code.co_name, code.co_filename, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return found


_columns: Dict[Tuple[CodeType, int], int] = {}


def _column(start: FrameType) -> int:
    """Where the innermost call of the user's begins in its line, from 1; Python knows it since 3.11."""
    frame: Optional[FrameType] = start
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return 1
    place = (frame.f_code, frame.f_lasti)
    if place not in _columns:
        _columns[place] = column_in(frame.f_code, frame.f_lasti, frame.f_lineno)
    return _columns[place]


def column_in(code: CodeType, instruction: int, of_line: Optional[int]) -> int:
    """Where what this instruction does begins in its line, from 1; 1 where Python does not know it."""
    if not hasattr(code, "co_positions"):
        return 1
    for index, (line, _, column, _) in enumerate(code.co_positions()):
        if index == instruction // 2:
            return column + 1 if line == of_line and column is not None else 1
    return 1


def site() -> Dict[str, Any]:
    """The part of a request that says where it was made. On threads that have no line of the user's, such as those on which autograd
    works for GPUs, it is where the phase was entered."""
    start = sys._getframe(1)
    found, column = frames(start), _column(start)
    if not found and place.entries:
        found, column = place.entries[-1]
    return {
        "frames": found,
        "column": column,
        "step": place.step,
        "phase": place.phases[-1] if place.phases else "none",
    }
