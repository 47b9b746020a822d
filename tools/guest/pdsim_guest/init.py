"""Hooks in where torch.distributed makes its groups, and gives out ours whatever backend the script names."""

import functools
import inspect
import re
import sys
from datetime import timedelta
from types import ModuleType
from typing import Any, Callable, List
from urllib.parse import parse_qs, urlparse

from . import changes, errors, link, sites, training, versions
from .cuda import calls, switching
from .torch2 import making


recorded_functions = ("init_process_group", "new_group", "batch_isend_irecv")


class _Making:
    """The arguments of the group that is being made: a backend's constructor does not get all of them."""

    ranks: List[int] = []
    name = ""
    backend = ""
    timeout = timedelta(minutes=30)


def _ours(rank: int, size: int) -> Any:
    if versions.is_2():
        from .torch2.groups import GuestProcessGroup2 as kind
    else:
        from .groups import GuestProcessGroup as kind
    from . import works  # not before a group is made: a part of PyTorch imports others than torch.distributed in its own order

    works.watch_futures()
    ranks = _Making.ranks or list(range(size))
    return kind(_Making.backend, rank, size, ranks, _Making.name, _Making.timeout)


def _watch_making(c10d: ModuleType) -> None:
    make = c10d._new_process_group_helper

    @functools.wraps(make)
    def watched(size: int, rank: int, ranks: List[int], backend: Any, *args: Any, **kwargs: Any) -> Any:
        _Making.ranks = list(ranks)
        _Making.backend = str(backend).lower()
        _Making.timeout = kwargs.get("timeout", c10d.default_pg_timeout)
        if ranks and "group_name" not in kwargs:
            _Making.name = f"group {c10d._group_count}"
            link.link().tell({"op": "Group_made", "name": _Making.name, "ranks": list(ranks), **sites.site()})
        else:
            _Making.name = "world"
        return make(size, rank, ranks, backend, *args, **kwargs)

    c10d._new_process_group_helper = watched


def _replace_backends(c10d: ModuleType) -> None:
    class _Factory:
        """Called as the constructors of PyTorch's backends are."""

        class Options:
            is_high_priority_stream = False
            _timeout = timedelta(minutes=30)

        def __new__(cls, store: Any, rank: int, size: int, *args: Any, **kwargs: Any) -> Any:
            return _ours(rank, size)

    class _MpiFactory(_Factory):
        @staticmethod
        def create(ranks: List[int]) -> Any:
            import os

            rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
            members = list(ranks) or list(range(size))
            return _ours(members.index(rank), len(members)) if rank in members else None

    for name in ("Gloo", "NCCL", "UCC"):
        setattr(c10d, f"ProcessGroup{name}", _Factory)
    c10d.ProcessGroupMPI = _MpiFactory
    for name in ("gloo", "nccl", "mpi"):
        setattr(c10d, f"is_{name}_available", lambda: True)
    calls.objects_on_gpus(c10d)
    c10d._create_process_group_wrapper = lambda wrapped_pg, **unused: wrapped_pg


def _introduce(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Says who this process is, as far as the arguments and the URL tell."""
    given = inspect.signature(function).bind_partial(*args, **kwargs).arguments
    url = urlparse(str(given.get("init_method") or ""))
    query = parse_qs(url.query)
    store = getattr(given.get("store"), "_name", "")
    if url.scheme == "file":
        store = link.file_store(url.path)

    def number(name: str) -> int:
        value = given.get(name, -1)
        return int(query[name][0]) if value in (-1, None) and name in query else int(-1 if value is None else value)

    backend = making.library_of(str(given.get("backend") or "").lower())
    if backend == "nccl":
        switching.ask('init_process_group("nccl")')
    link.link(backend, versions.text(), number("rank"), number("world_size"), store)


def _around(c10d: ModuleType, name: str) -> None:
    """Records the whole function as one call of the program."""
    function: Callable[..., Any] = getattr(c10d, name)

    @functools.wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        if name == "init_process_group":
            _introduce(function, args, kwargs)
        kwargs = changes.changed(name, kwargs)
        training.settle()
        link.link().tell({"op": "Enter", "name": name, **sites.site()})
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            missing = re.search(r"environment variable (\w+) expected, but not set", str(error))
            if missing:
                link.link().tell({"op": "Variable", "name": missing.group(1), **sites.site()})
            link.link().tell({"op": "Leave", "error": errors.code_of(error), "text": str(error)})
            raise
        link.link().tell({"op": "Leave"})
        return result

    setattr(c10d, name, recorded)


def _without_a_group(c10d: ModuleType) -> None:
    """A call that needs the default group and finds none is on record too."""
    ask = c10d._get_default_group

    @functools.wraps(ask)
    def watched() -> Any:
        try:
            return ask()
        except (RuntimeError, ValueError) as error:
            caller = sys._getframe(1).f_code.co_name
            link.link().tell({"op": "Enter", "name": caller, **sites.site()})
            link.link().tell({"op": "Leave", "error": errors.code_of(error), "text": str(error)})
            raise

    c10d._get_default_group = watched


def _store_barrier(rank: int, store: Any, timeout: timedelta) -> None:
    """PyTorch's polls until all ranks have added one; pdsim must see that this rank waits."""
    from torch.distributed import distributed_c10d as c10d

    key = f"{c10d.STORE_BASED_BARRIER_PREFIX}:{c10d._group_count}"
    size = c10d.get_world_size()
    if store.add(key, 1) == size:
        store.set(key + "/last", "1")
    else:
        store.wait([key + "/last"], timeout)


def _destroying(c10d: ModuleType) -> None:
    destroy = c10d.destroy_process_group

    @functools.wraps(destroy)
    def watched(group: Any = None) -> None:
        chosen = c10d.GroupMember.WORLD if group is None else group
        number = getattr(chosen, "_number", None)
        if chosen is c10d.GroupMember.WORLD and "torch.nn.parallel.distributed" in sys.modules:
            from .replicas import states

            states.ended()
        destroy(group)
        if number is not None:
            link.link().ask({"op": "destroy", "group": number, "all": group is None, **sites.site()})

    c10d.destroy_process_group = watched


def install(c10d: ModuleType) -> None:
    if versions.is_2():
        making.watch_making(c10d, _Making)
        making.replace_backends(c10d, _ours)
        c10d._store_based_barrier = making.store_barrier
    else:
        _watch_making(c10d)
        _replace_backends(c10d)
        c10d._store_based_barrier = _store_barrier
    for name in recorded_functions:
        _around(c10d, name)
    _without_a_group(c10d)
    _destroying(c10d)
