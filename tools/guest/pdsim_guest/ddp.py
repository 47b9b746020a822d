"""What DistributedDataParallel does, for the record."""

import functools
from types import ModuleType
from typing import Any

from . import sites, training


def install(module: ModuleType) -> None:
    kind = module.DistributedDataParallel  # type: ignore[attr-defined]
    init, forward = kind.__init__, kind.forward

    @functools.wraps(init)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        training.in_phase("DistributedDataParallel", "construction", init, self, *args, **kwargs)
        sites.place.step = max(sites.place.step, 0)

    @functools.wraps(forward)
    def forwarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        phase = "forward" if self.training else "evaluation"
        return training.in_phase("forward", phase, forward, self, *args, **kwargs)

    kind.__init__ = made
    kind.forward = forwarded
