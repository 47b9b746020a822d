"""Where PyTorch 2.x makes a group: one object for all kinds of devices, with a backend for each."""

import functools
from types import ModuleType
from typing import Any

from .. import recording


def watch_groups(c10d: ModuleType) -> None:
    """The helper that makes a group calls ProcessGroup by its name in the module: only while it runs does that name lead to ours."""
    make = c10d._new_process_group_helper  # type: ignore[attr-defined]
    real_kind = c10d.ProcessGroup  # type: ignore[attr-defined]

    class Factory(metaclass=recording.StandsFor):
        real = real_kind

        def __new__(cls, *args: Any) -> Any:
            from .. import recorded_groups
            from .recorded import RecordedGroup2

            recorded_groups.watch_works()
            return recorded_groups.made(real_kind(*args), RecordedGroup2)

    @functools.wraps(make)
    def watched(*args: Any, **kwargs: Any) -> Any:
        c10d.ProcessGroup = Factory  # type: ignore[attr-defined]
        try:
            return make(*args, **kwargs)
        finally:
            c10d.ProcessGroup = real_kind  # type: ignore[attr-defined]

    c10d._new_process_group_helper = watched  # type: ignore[attr-defined]
