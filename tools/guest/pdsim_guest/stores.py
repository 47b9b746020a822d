"""Stores in the simulated world, in place of TCPStore and FileStore."""

import os
from datetime import timedelta
from types import ModuleType
from typing import Any, List, Optional, Union

from . import link, sites, versions


# C++ holds a store without its Python object, which has all its functions: none may go before the process.
_alive: List[Any] = []


def install(module: ModuleType) -> None:
    """For modules that hold the names TCPStore and FileStore."""
    from torch._C._distributed_c10d import Store

    class GuestStore(Store):  # type: ignore[misc]
        def __init__(self, name: str, timeout: Optional[timedelta], size: Optional[int]) -> None:
            super().__init__()
            _alive.append(self)
            self._name = name
            self._size = size if size is not None and "WORLD_SIZE" not in os.environ else -1
            self._seconds = timeout.total_seconds() if timeout is not None else 300.0

        def _ask(self, name: str, keys: List[str], data: Union[bytes, str] = b"", **more: Any) -> Any:
            value = data.encode() if isinstance(data, str) else bytes(data)
            request = {"op": "store", "store": self._name, "name": name, "keys": keys, "seconds": self._seconds}
            return link.link("", versions.text(), size=self._size).ask({**request, **more, **sites.site()}, [memoryview(value)])

        def set(self, key: str, value: Union[bytes, str]) -> None:
            self._ask("set", [key], value)

        def get(self, key: str) -> bytes:
            return bytes(self._ask("get", [key])[1])

        def add(self, key: str, number: int) -> int:
            return int(self._ask("add", [key], number=number)[0]["number"])

        def compare_set(self, key: str, expected: str, desired: str) -> bytes:
            return bytes(self._ask("compare_set", [key], desired, expected=str(expected))[1])

        def check(self, keys: List[str]) -> bool:
            return bool(self._ask("check", list(keys))[0]["yes"])

        def wait(self, keys: List[str], timeout: Optional[timedelta] = None) -> None:
            seconds = timeout.total_seconds() if timeout is not None else self._seconds
            self._ask("wait", list(keys), seconds=seconds)

        def delete_key(self, key: str) -> bool:
            return bool(self._ask("delete_key", [key])[0]["yes"])

        def num_keys(self) -> int:
            return int(self._ask("num_keys", [])[0]["number"])

        def set_timeout(self, timeout: timedelta) -> None:
            self._seconds = timeout.total_seconds()

        @property
        def timeout(self) -> timedelta:
            return timedelta(seconds=self._seconds)

    class TCPStore(GuestStore):
        def __init__(
            self,
            host_name: str,
            port: int,
            world_size: Optional[int] = None,
            is_master: bool = False,
            timeout: Optional[timedelta] = None,
            wait_for_workers: bool = True,
            **unused: Any,
        ) -> None:
            super().__init__(f"tcp:{port}", timeout, world_size)
            self.host, self.port = host_name, port

    class FileStore(GuestStore):
        def __init__(self, file_name: str, world_size: int = -1) -> None:
            super().__init__(link.file_store(file_name), None, world_size)
            self.path = file_name

    setattr(module, "TCPStore", TCPStore)
    setattr(module, "FileStore", FileStore)
