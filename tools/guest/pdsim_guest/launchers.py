"""torchrun's own process, which is no rank: its rendezvous keeps PyTorch's store, which its agents on other machines reach as well."""

import sys
from types import ModuleType
from typing import Any

_without_libuv = "built without libuv"
_said = False


def _store_of_a_launcher() -> Any:
    from torch._C._distributed_c10d import TCPStore

    class LauncherTCPStore(TCPStore):  # type: ignore[misc]
        """Without libuv where PyTorch has none: torchrun asks for it and cannot be told otherwise, as scripts can by USE_LIBUV."""

        def __init__(self, *args: Any, **named: Any) -> None:
            try:
                super().__init__(*args, **named)
            except RuntimeError as error:
                if _without_libuv not in str(error):
                    raise
                _say_without_libuv()
                super().__init__(*args, **{**named, "use_libuv": False})

    return LauncherTCPStore


def _say_without_libuv() -> None:
    global _said
    if not _said:
        _said = True
        sys.stderr.write(
            "pdsim: torchrun's store requires libuv, but this PyTorch was built without it; pdsim gives it a store without libuv, and "
            "without pdsim it cannot start\n"
        )


class _WithStore(ModuleType):
    """torch.distributed as a module of the launcher's sees it."""

    def __init__(self, package: ModuleType, store: Any) -> None:
        super().__init__(package.__name__)
        self.TCPStore = store
        self._package = package

    def __getattr__(self, name: str) -> Any:
        return getattr(self._package, name)


def install(module: ModuleType) -> None:
    """For modules of torchrun that make a TCPStore by its own name or by that of the package."""
    from torch._C._distributed_c10d import FileStore

    store = _store_of_a_launcher()
    if hasattr(module, "FileStore"):
        module.FileStore = FileStore  # type: ignore[attr-defined]
    if hasattr(module, "TCPStore"):
        module.TCPStore = store  # type: ignore[attr-defined]
    elif hasattr(module, "dist"):
        module.dist = _WithStore(module.dist, store)  # type: ignore[attr-defined]
