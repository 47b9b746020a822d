"""Hooks in where torch.distributed makes its groups, and puts a group that records in front of each. Nothing of PyTorch is imported here:
a part of it imports others than torch.distributed in its own order."""

import os
import sys
from types import ModuleType
from typing import Any, List

from . import init, link, versions


class StandsFor(type):
    """What else a script or PyTorch asks the class of a backend for is the real one's."""

    real: Any

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, cls.real) or isinstance(getattr(thing, "_real", None), cls.real)


def _recorded(real: Any) -> Any:
    from . import recorded_groups

    recorded_groups.watch_works()
    return recorded_groups.made(real)


def _replacement(real_kind: Any) -> Any:
    class Factory(metaclass=StandsFor):
        real = real_kind

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return _recorded(real_kind(*args, **kwargs))

        @staticmethod
        def create(ranks: List[int]) -> Any:
            real = real_kind.create(ranks)
            return _recorded(real) if real else real

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
    if versions.is_2():
        from .torch2 import making, recording

        making.watch_making(c10d, init._Making)
        recording.watch_groups(c10d)
    else:
        init._watch_making(c10d)
        _watch_backends(c10d)
    init._without_a_group(c10d)
    package = sys.modules.get("torch.distributed")
    for name in init.recorded_functions:
        init._around(c10d, name)
        if package is not None and hasattr(package, name):  # it was imported before
            setattr(package, name, getattr(c10d, name))
    if link._slot() >= 0:
        link.link()  # so that one that never comes to init_process_group can be asked where it is
        link._own_slot = link._slot()
        os.environ.pop("PDSIM_GUEST_SLOT", None)  # what this process starts is no rank
