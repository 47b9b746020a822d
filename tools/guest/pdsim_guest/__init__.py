"""The guest side of `pdsim run`: carries a script's torch.distributed calls into pdsim's simulated world (PDSIM_GUEST names its socket), or
records them beside the script's own library (PDSIM_RECORD names a folder). Without either, importing this does nothing.

Nothing is imported here that the script does not import itself: the hooks wait until it imports torch.
"""

import os
import sys

from . import endings, importing, interruptions, link, other_libraries

__all__ = ["install"]


def _groups(module: object) -> None:
    from . import init, versions

    versions.require_known()
    try:
        init.install(module)
    except (AttributeError, ImportError, TypeError) as error:
        raise versions.Unsupported(versions.text()) from error


def _records(module: object) -> None:
    from . import recording

    recording.install(module)


def _stores(module: object) -> None:
    from . import stores

    stores.install(module)


def _launchers(module: object) -> None:
    from . import launchers

    launchers.install(module)


def _ddp(module: object) -> None:
    from . import ddp

    ddp.install(module)


def _autograd(module: object) -> None:
    from . import training

    training.watch_backward(module)


def _join(module: object) -> None:
    from . import training

    training.watch_join(module)


def _optimizers(module: object) -> None:
    from . import training

    training.watch_optimizers(module)


def _scalers(module: object) -> None:
    from . import training

    training.watch_scalers(module)


def _devices(module: object) -> None:
    if not hasattr(module, "Tensor"):
        return  # no PyTorch that can be carried: whoever imports torch.distributed is told
    from .cuda import switching

    switching.install(module)


def install() -> None:
    """Called once, at the start of the interpreter."""
    is_recorded = link.is_recorded()
    endings.install(is_recorded)
    importing.after_import("multiprocessing.process", endings.watch_processes)
    importing.after_import("torch.multiprocessing.spawn", endings.watch_spawned)
    importing.after_import("torch.distributed.distributed_c10d", _records if is_recorded else _groups)
    if not is_recorded:
        importing.after_import("torch.distributed.rendezvous", _stores)
        importing.after_import("torch.distributed", _stores)
        other_libraries.install()
        interruptions.install()
    for part in ("c10d_rendezvous_backend", "static_tcp_rendezvous", "dynamic_rendezvous"):
        importing.after_import("torch.distributed.elastic.rendezvous." + part, _launchers)
    importing.after_import("torch.distributed.elastic.utils.distributed", _launchers)
    importing.after_import("torch.nn.parallel.distributed", _ddp)
    importing.after_import("torch.autograd", _autograd)
    importing.after_import("torch.distributed.algorithms.join", _join)
    importing.after_import("torch", _devices)
    importing.after_import("torch.optim.optimizer", _optimizers)
    for part in ("torch.cuda.amp.grad_scaler", "torch.amp.grad_scaler"):
        importing.after_import(part, _scalers)


if "PDSIM_GUEST" in os.environ or "PDSIM_RECORD" in os.environ:
    install()
