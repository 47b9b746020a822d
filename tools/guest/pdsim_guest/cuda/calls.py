"""What a collective says about the devices of its tensors: pdsim finds the wrong ones."""

from typing import Any, Dict

from . import devices, switching

_cpu = -1


def placement(group: Any, tensors: Any, options: Any, from_c: bool) -> Dict[str, Any]:
    """Nothing where no GPU is pretended: then tensors on the CPU are meant."""
    if switching.mode is None:
        return {}
    if from_c:
        index = _of_wrapper(group)
        group._gpus.update([] if index is None else [index])
        return {"device": _cpu if index is None else index}
    where = [devices.of(t) for t in tensors]
    if switching.mode.lenient:
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
    return {"device": group._rank % max(devices.count(), 1), "guess": devices.chosen.index}


def objects_on_gpus(c10d: Any) -> None:
    """NCCL's groups send objects as tensors on the GPU."""

    def on_gpus(group: Any) -> bool:
        return switching.mode is not None and (group or c10d._get_default_group()).name() == "nccl"

    c10d._check_for_nccl_backend = on_gpus
