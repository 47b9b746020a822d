"""Libraries that talk beside torch.distributed's groups: a simulated run does not carry them, and says so."""

import sys
from types import ModuleType
from typing import Any

from . import importing, link


_beside = ("mpi4py.MPI", "horovod.torch", "byteps.torch", "cupyx.distributed", "ray.util.collective")


def _refuse_rpc(module: ModuleType) -> None:
    def init_rpc(*unused: Any, **named: Any) -> None:
        raise link.refused(
            "pdsim run does not support torch.distributed.rpc, which does not use process groups; run it with --on real",
            "unsupported",
        )

    module.init_rpc = init_rpc  # type: ignore[attr-defined]


def _name(module: ModuleType) -> None:
    if link._slot() <= 0:
        name = module.__name__.split(".")[0]
        sys.stderr.write(f"pdsim: {name} communicates outside torch.distributed: its calls are not simulated and not part of any finding\n")


def install() -> None:
    importing.after_import("torch.distributed.rpc", _refuse_rpc)
    for name in _beside:
        importing.after_import(name, _name)
