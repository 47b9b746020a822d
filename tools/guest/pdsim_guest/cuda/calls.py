"""What a collective says about the devices of its tensors, emulated or not: pdsim finds the wrong ones."""

from __future__ import annotations

from typing import Any, Dict

import torch

from . import devices, switching

_cpu = -1


def _of(tensor: torch.Tensor) -> devices.Index:
    if switching.mode is not None:
        return devices.of(tensor)
    return tensor.device.index if tensor.is_cuda else None


def _chosen() -> int:
    return devices.chosen.index if switching.mode is not None else int(torch.cuda.current_device())


def _count() -> int:
    return devices.count() if switching.mode is not None else int(torch.cuda.device_count())


def placement(group: Any, tensors: Any, options: Any, from_c: bool, from_operator: bool) -> Dict[str, Any]:
    """Nothing where there are no GPUs, not even emulated ones: then tensors on the CPU are meant. An operator gets tensors that PyTorch's
    own dispatch has made, and where those are nobody knows."""
    if not switching.has_gpus():
        return {}
    if from_c and switching.mode is not None:  # C++ made the tensors, and they carry no mark
        index = _of_wrapper(group)
        group._gpus.update([] if index is None else [index])
        return {"device": _cpu if index is None else index}
    where = [_of(t) for t in tensors]
    if switching.mode is not None and (switching.mode.lenient or from_operator):
        where = [devices.chosen.index if index is None else index for index in where]
    if not where:
        return _of_barrier(group, options)
    if any(index is None for index in where):
        return {"device": _cpu}
    group._gpus.add(where[0])
    return {"device": where[0]}


def _of_wrapper(group: Any) -> devices.Index:
    """The buckets of the Reducer are where the model's parameters are."""
    from .. import ddp

    for watched in ddp._watched:
        if watched.wrapper.process_group is group and watched.parameters:
            return devices.of(watched.parameters[0])
    if ddp.constructing:
        for parameter in ddp.constructing[-1].parameters():
            return devices.of(parameter)
    return devices.chosen.index


def _of_barrier(group: Any, options: Any) -> Dict[str, Any]:
    """It has no tensor: NCCL's runs where it is told to or where earlier calls of the group ran, or else guesses from the rank."""
    given = list(getattr(options, "device_ids", None) or [])
    if given or group._gpus:
        return {"device": given[0] if given else min(group._gpus)}
    return {"device": group._rank % max(_count(), 1), "guess": _chosen()}


def objects_on_gpus(c10d: Any) -> None:
    """NCCL's groups send objects as tensors on the GPU."""

    def on_gpus(group: Any) -> bool:
        return switching.has_gpus() and (group or c10d._get_default_group()).name() == "nccl"

    c10d._check_for_nccl_backend = on_gpus
