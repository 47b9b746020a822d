"""Calls a function when a module has been imported, whoever imports it."""

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Callable, Dict, List, Optional, Sequence

Callback = Callable[[ModuleType], None]


class _Loader(importlib.abc.Loader):
    def __init__(self, name: str, loader: importlib.abc.Loader, callbacks: List[Callback]) -> None:
        self._name = name
        self._loader = loader
        self._callbacks = callbacks

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        writes = sys.dont_write_bytecode
        sys.dont_write_bytecode = True  # callbacks import the rest of this package, beside which nothing is written
        try:
            for callback in self._callbacks:
                callback(module)
        finally:
            sys.dont_write_bytecode = writes
        _finder.callbacks.pop(self._name, None)  # one that failed may be tried again

    def __getattr__(self, name: str) -> object:  # get_source, get_data, is_package ...
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self.callbacks: Dict[str, List[Callback]] = {}

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        callbacks = self.callbacks.get(fullname)
        if callbacks is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(fullname, spec.loader, callbacks)
                return spec
        return None


_finder = _Finder()


def after_import(name: str, callback: Callback) -> None:
    """At once, where it has been imported before."""
    if name in sys.modules:
        callback(sys.modules[name])
        return
    if not _finder.callbacks and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.callbacks.setdefault(name, []).append(callback)
