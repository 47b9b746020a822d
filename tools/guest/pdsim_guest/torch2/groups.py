"""The names by which PyTorch 2.x calls a process group, and what it asks a group about itself."""

from datetime import timedelta
from typing import Any, List, Optional, Sequence

import torch

from ..cuda import switching
from ..groups import GuestProcessGroup, Tensors
from ..works import Together


class Options:
    """What versions such as PyTorch 2.11 write into a Gloo group that they have made."""

    _timeout = timedelta(minutes=30)
    global_ranks_in_group: Sequence[int] = ()
    group_name = ""


class GuestProcessGroup2(GuestProcessGroup):
    """C++ reaches a group of Python's by its old names, and by the new ones since 2.13; both lead to the same call."""

    _name = ""
    _description = "undefined"
    supports_coalescing = False  # a batch of messages is started one by one
    supports_splitting = False
    bound_device_id: Optional[torch.device] = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.options = Options()

    all_gather_single = GuestProcessGroup._allgather_base
    reduce_scatter_single = GuestProcessGroup._reduce_scatter_base
    all_to_all_single = GuestProcessGroup.alltoall_base

    # Several tensors in one call, as Gloo makes them: one after the other

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Together:
        return Together([self._allgather_base(out, given, opts) for out, given in zip(outputs, inputs)])

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Together:
        return Together([self._reduce_scatter_base(out, given, opts) for out, given in zip(outputs, inputs)])

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def allgather_coalesced(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> Together:
        works = [self.allgather([[part[i] for part in outputs]], [given], opts) for i, given in enumerate(inputs)]
        return Together(works)

    def gather_single(self, output: torch.Tensor, given: torch.Tensor, opts: Any = None) -> Any:
        parts = list(torch.chunk(output, self._size)) if opts.rootRank == self._rank else []
        return self.gather([parts], [given], opts)

    gather_into_tensor = gather_single

    # About itself

    @property
    def group_name(self) -> str:
        return self._name

    @property
    def group_desc(self) -> str:
        return self._description

    def _set_group_name(self, name: str) -> None:
        self._name = name

    def _set_group_desc(self, text: str) -> None:
        self._description = text

    @property
    def _device_types(self) -> List[torch.device]:
        """Objects travel as tensors there."""
        is_on_gpus = switching.has_gpus() and self._backend_name == "nccl"
        return [torch.device("cuda" if is_on_gpus else "cpu")]

    def _get_backend(self, device: Any = None) -> "GuestProcessGroup2":
        return self

    get_backend = _get_backend

    def _get_backend_name(self) -> str:
        return self._backend_name

    # What libraries of their own do with a group; the simulated world sees destroy_process_group itself

    def shutdown(self) -> None:
        pass

    abort = shutdown

    def set_timeout(self, timeout: Any) -> None:
        self._timeout = timeout

    _set_default_timeout = set_timeout
