"""How PyTorch 2.x makes its process groups. They come from Backend._plugins in newer versions, and from classes
that are globals of the module in older ones."""

import functools
import inspect
from datetime import timedelta
from types import ModuleType
from typing import Any, List, Optional

from .. import link, sites

_classes = {"gloo": "ProcessGroupGloo", "nccl": "ProcessGroupNCCL", "mpi": "ProcessGroupMPI"}


def library_of(backend: str) -> str:
    """The one library that a call such as `init_process_group("cpu:gloo,cuda:nccl")` uses for tensors on the CPU."""
    by_device = dict(part.split(":", 1) for part in backend.split(",") if ":" in part)
    if by_device:
        return by_device.get("cpu", next(iter(by_device.values())))
    return "gloo" if backend in ("", "none", "undefined") else backend


def _called(name: str, description: Optional[str]) -> str:
    """Groups are counted; those that only their members make are named by a hash, which says nothing to a reader."""
    short = name if len(name) < 12 else name[:8]
    return f"group {short}" if description in (None, "", "undefined") else f"{description} {short}"


def watch_making(c10d: ModuleType, making: Any) -> None:
    make = c10d._new_process_group_helper
    signature = inspect.signature(make)

    @functools.wraps(make)
    def watched(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        ranks: List[int] = list(given.get("global_ranks_in_group") or [])
        making.ranks = ranks
        making.backend = library_of(str(given.get("backend") or "").lower())
        making.timeout = given.get("timeout") or c10d.default_pg_timeout
        making.name = "world"
        if ranks:
            making.name = _called(str(given["group_name"]), given.get("group_desc"))
            link.link().tell({"op": "Group_made", "name": making.name, "ranks": ranks, **sites.site()})
        return make(*args, **kwargs)

    c10d._new_process_group_helper = watched


class _IsOurs(type):
    """For checks such as isinstance(group, ProcessGroupGloo)."""

    def __instancecheck__(cls, thing: Any) -> bool:
        return getattr(thing, "_backend_name", None) == cls.__dict__.get("library")


def _class_of(library: str, ours: Any) -> Any:
    class Options:
        is_high_priority_stream = False
        _timeout = timedelta(minutes=30)
        global_ranks_in_group: List[int] = []
        group_name = ""

    class Factory(metaclass=_IsOurs):
        """Called as the constructors of PyTorch's backends are."""

        def __new__(cls, store: Any, rank: int, size: int, *args: Any, **kwargs: Any) -> Any:
            return ours(rank, size)

        @staticmethod
        def create(ranks: List[int]) -> Any:
            return _of_the_launcher(ranks, ours)

    Factory.library = library  # type: ignore[attr-defined]
    Factory.Options = Options  # type: ignore[attr-defined]
    return Factory


def _of_the_launcher(ranks: List[int], ours: Any) -> Any:
    """MPI gives every process its rank itself."""
    import os

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    members = list(ranks) or list(range(size))
    return ours(members.index(rank), len(members)) if rank in members else None


def replace_backends(c10d: ModuleType, ours: Any) -> None:
    def create(options: Any, backend_options: Any = None) -> Any:
        if options.group_rank < 0:
            return _of_the_launcher(list(options.global_ranks_in_group), ours)
        return ours(options.group_rank, options.group_size)

    backends = c10d.Backend
    for library, name in _classes.items():
        backends._plugins[library.upper()] = backends._BackendPlugin(create, True)
        setattr(c10d, name, _class_of(library, ours))
        setattr(c10d, f"is_{library}_available", lambda: True)
    c10d._create_process_group_wrapper = lambda wrapped_pg, **unused: wrapped_pg


def store_barrier(
    rank: int, store: Any, group_name: str, rendezvous_count: int, timeout: timedelta, *unused: Any, **more: Any
) -> None:
    """PyTorch's polls until all ranks have added one; pdsim must see that this rank waits."""
    key = f"store_based_barrier_key:{group_name}"
    if store.add(key, 1) == rendezvous_count:
        store.set(key + "/last", "1")
    else:
        store.wait([key + "/last"], timeout)
