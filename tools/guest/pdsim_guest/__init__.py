"""The guest side of `pdsim run`: carries a script's torch.distributed calls into pdsim's simulated world.

Nothing is imported here that the script does not import itself: the hooks wait until it imports torch.
"""

from . import endings, importing

__all__ = ["install"]


def _groups(module: object) -> None:
    from . import init

    init.install(module)


def _stores(module: object) -> None:
    from . import stores

    stores.install(module)


def _ddp(module: object) -> None:
    from . import ddp

    ddp.install(module)


def _autograd(module: object) -> None:
    from . import training

    training.watch_backward(module)


def _optimizers(module: object) -> None:
    from . import training

    training.watch_optimizers(module)


def install() -> None:
    """Called once, at the start of the interpreter."""
    endings.install()
    importing.after_import("multiprocessing.process", endings.watch_processes)
    importing.after_import("torch.distributed.distributed_c10d", _groups)
    importing.after_import("torch.distributed.rendezvous", _stores)
    importing.after_import("torch.distributed", _stores)
    importing.after_import("torch.nn.parallel.distributed", _ddp)
    importing.after_import("torch.autograd", _autograd)
    importing.after_import("torch.optim.optimizer", _optimizers)
