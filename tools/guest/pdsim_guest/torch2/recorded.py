"""Recording beside the groups of PyTorch 2.x: a group holds a backend for each kind of device, so the whole group is recorded."""

from datetime import timedelta
from typing import Any, List

import torch
from torch._C._distributed_c10d import ProcessGroup

from .. import recorded_groups
from ..groups import GuestProcessGroup
from .groups import GuestProcessGroup2

_own = ("boxed", "unbox", "name", "rank", "size", "getBackendName", "monitored_barrier")


class _Described(GuestProcessGroup2):
    """Calls with several tensors are one call of the library, and one for each tensor in the record."""

    def all_gather_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return [GuestProcessGroup._allgather_base(self, out, given, opts) for out, given in zip(outputs, inputs)]

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def reduce_scatter_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return [GuestProcessGroup._reduce_scatter_base(self, out, given, opts) for out, given in zip(outputs, inputs)]

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def allgather_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        lists = [[[part[i] for part in outputs]] for i in range(len(inputs))]
        return [GuestProcessGroup.allgather(self, out, [given], opts) for out, given in zip(lists, inputs)]

    def gather_single(self, output: torch.Tensor, given: torch.Tensor, opts: Any = None) -> Any:
        parts = list(torch.chunk(output, self._size)) if opts.rootRank == self._rank else []
        return GuestProcessGroup.gather(self, [parts], [given], opts)

    gather_into_tensor = gather_single


class RecordedGroup2(recorded_groups.RecordedGroup):
    """The real group makes its backends itself, while the script's call of init_process_group or new_group runs."""

    def __init__(
        self, real: Any, backend: str, rank: int, size: int, ranks: List[int], name: str, timeout: timedelta
    ) -> None:
        self._real = real  # what the constructor of the base asks for goes there already
        super().__init__(real, backend, rank, size, ranks, name, timeout)


def _forwarded(name: str) -> property:
    return property(lambda self: getattr(self._real, name), lambda self, value: setattr(self._real, name, value))


def _delegate_the_rest() -> None:
    """C++ finds every name of a group at its base class, which has no backends."""
    recorded = set(RecordedGroup2.__dict__) | set(_own)
    for name in dir(ProcessGroup):
        there = getattr(ProcessGroup, name)
        if name in recorded or (name.startswith("_") and name.endswith("__")) or name == "_pybind11_conduit_v1_":
            continue
        if isinstance(there, property):
            setattr(RecordedGroup2, name, _forwarded(name))
        elif callable(there) and not isinstance(there, type):
            recorded_groups.delegate(RecordedGroup2, [name])


recorded_groups.record_methods(RecordedGroup2, _Described)
_delegate_the_rest()
