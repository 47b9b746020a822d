"""The parameters of DistributedDataParallel's replicas, for comparison between ranks: a digest of their bytes where a forward uses them,
after each step of an optimizer, and at the end. What a step begins with is described beside it (inputs.py).

A digest is CRC-32 over the bytes of each parameter. Of models above `most_bytes` each parameter gives the same part of its bytes, in
blocks that are spread over it.
"""

import atexit
import functools
import os
import sys
import weakref
import zlib
from typing import Any, Dict, List, Optional, Set, Tuple

import torch

from .. import exits, link, sites
from ..memory import is_on_gpu, packed, view
from . import digests, inputs, trials

most_bytes = 256 << 20  # of a model, that one digest reads
most_recorded = 1 << 13  # digests of single parameters, before the end, in a record beside the real library: its ring is small
_block = 1 << 16


class Replica:
    """One wrapper's model. Its gradients are local from a backward that nothing synchronised to the next that is."""

    def __init__(self, wrapper: Any, name: str) -> None:
        self.wrapper = wrapper
        self.name = name
        ignored: Set[str] = set(getattr(wrapper, "parameters_to_ignore", ()))
        named = [(n, p) for n, p in wrapper.module.named_parameters() if p.requires_grad and n not in ignored]
        self.names = [n for n, _ in named]
        self.parameters = [p for _, p in named]
        self.identities = {id(p) for p in self.parameters}
        size = sum(p.numel() * p.element_size() for p in self.parameters)
        self._every = -(-size // most_bytes) if size else 1  # of so many blocks one is read
        self._views: Dict[int, Tuple[int, memoryview]] = {}
        self.expects = False  # a forward has been made whose backward will be synchronised
        self.expects_local = False  # or one in no_sync
        self.local = False
        self.averaged = inputs.unknown  # a digest of the gradients when the newest synchronised backward returned, since the newest forward
        self.began: List[int] = []  # with what the newest step began
        self.forwards = 0  # since the newest step
        self.around: Optional[Dict[str, Any]] = None  # where the script took the module out of the wrapper after that
        self.ended = False

    def _bytes_of(self, index: int) -> memoryview:
        parameter = self.parameters[index]
        place = parameter.data_ptr()
        known = self._views.get(index)
        size = parameter.numel() * parameter.element_size()
        if known is not None and known[0] == place and known[1].nbytes == size and parameter.is_contiguous():
            return known[1]
        if place == 0:
            return memoryview(b"")  # its memory is elsewhere
        held = packed(parameter)
        made = view(held)
        if held.data_ptr() == place:
            self._views[index] = (place, made)
        else:
            made = memoryview(bytes(made))
        return made

    def _digest_of(self, index: int) -> int:
        parameter = self.parameters[index]
        if is_on_gpu(parameter):
            return digests.of_tensor(parameter, _block, self._every)
        return digests.of_memory(self._bytes_of(index), _block, self._every)

    def state(self, is_last: bool = False) -> Dict[str, Any]:
        """The part of a request that describes the parameters as they are."""
        each = [self._digest_of(i) for i in range(len(self.parameters))]
        whole = 0
        for value in each:
            whole = zlib.crc32(value.to_bytes(4, "little"), whole)
        calls = getattr(self.wrapper.process_group, "collectives", 0)
        if link.is_recorded() and not is_last:
            _steps.recorded += len(each)
            if _steps.recorded > most_recorded:
                each = []
        return {"digest": whole, "digests": each, "count": calls}

    def tell_state(self, moment: str, op: str) -> None:
        request = {"op": "Replica_state", "name": op, "text": self.name, "moment": moment}
        link.link().tell({**request, **self.state(moment == "end"), **sites.site()})


_replicas: List[Replica] = []


class _Steps:
    """Of this rank's optimizers, whose steps may be made inside of one another's."""

    made = 0
    depth = 0
    recorded = 0  # digests of single parameters


_steps = _Steps()
_held: "weakref.WeakKeyDictionary[Any, Tuple[int, List[Replica]]]" = weakref.WeakKeyDictionary()


def _is_readable(parameter: torch.Tensor) -> bool:
    """A GPU has to be waited for, which a job beside its own library does only when it was told to."""
    waits = not link.is_recorded() or os.environ.get("PDSIM_REPLICAS") == "all"
    return (waits or not is_on_gpu(parameter)) and parameter.layout == torch.strided and not parameter.is_meta


def made(wrapper: Any) -> None:
    """A wrapper has been constructed."""
    members = getattr(wrapper.process_group, "members", [])
    if os.environ.get("PDSIM_REPLICAS") == "off":
        return
    replica = Replica(wrapper, str(len(_replicas) + 1))
    if len(members) < 2 or not replica.parameters or not all(_is_readable(p) for p in replica.parameters):
        return
    if not _replicas:
        exits.before_leaving(lambda status: ended())
        atexit.register(ended)
    for former in _replicas:
        if not former.identities.isdisjoint(replica.identities):
            former.ended = True  # the model is wrapped again
    _replicas.append(replica)
    _held.clear()
    world = torch.distributed.get_world_size()
    request = {"op": "Replica", "name": "DistributedDataParallel", "text": replica.name, "keys": replica.names}
    link.link().tell({**request, "ranks": [] if len(members) == world else members, **sites.site()})
    replica.tell_state("wrapped", "DistributedDataParallel")


def _of(wrapper: Any) -> Optional[Replica]:
    return next((r for r in _replicas if r.wrapper is wrapper and not r.ended), None)


def before_forward(wrapper: Any) -> None:
    replica = _of(wrapper)
    if replica is None or not link.is_open() or not torch.is_grad_enabled():
        return
    trials.before_forward(wrapper, replica.parameters)
    replica.forwards, replica.around, replica.averaged = replica.forwards + 1, None, inputs.unknown
    synchronises = bool(wrapper.require_backward_grad_sync)
    replica.expects, replica.expects_local = synchronises, not synchronises
    replica.tell_state("forward" if synchronises else "local-forward", "forward")


def after_backward(wrapper: Any, site: Dict[str, Any]) -> None:
    """A backward has given gradients to parameters of this wrapper's."""
    replica = _of(wrapper)
    if replica is None or not link.is_open():
        return
    if replica.expects:
        replica.expects, replica.local = False, False
        replica.averaged = inputs.of_gradients(replica.parameters)
        return
    replica.local = True
    if not replica.expects_local and (replica.forwards == 0 or replica.around is not None):
        request = {"op": "Bypassed", "name": "forward", "text": replica.name, "all": replica.around is not None}
        link.link().tell({**request, **(replica.around or site)})
    replica.expects_local = False


def _of_optimizer(optimizer: Any) -> List[Replica]:
    """Those of which it holds parameters."""
    count = sum(len(group["params"]) for group in optimizer.param_groups)
    known = _held.get(optimizer)
    if known is not None and known[0] == count:
        return known[1]
    own = {id(p) for group in optimizer.param_groups for p in group["params"]}
    found = [r for r in _replicas if not own.isdisjoint(r.identities)]
    _held[optimizer] = (count, found)
    return found


def _text_of(value: Any) -> Optional[str]:
    if isinstance(value, torch.Tensor):
        return repr(value.item()) if value.numel() == 1 else None
    if isinstance(value, (tuple, list)):
        parts = [_text_of(v) for v in value]
        return None if None in parts else "(" + ", ".join(str(p) for p in parts) + ")"
    return repr(value) if isinstance(value, (bool, int, float)) else None


def _settings_of(optimizer: Any) -> Dict[str, str]:
    """What the step goes by: of each setting the values of all groups."""
    settings: Dict[str, str] = {"optimizer": type(optimizer).__name__}
    for key in optimizer.param_groups[0]:
        values = [_text_of(group.get(key)) for group in optimizer.param_groups] if key != "params" else [None]
        if None not in values:
            settings[key] = str(values[0]) if len(set(values)) == 1 else ", ".join(str(v) for v in values)
    return settings


def watched_step(optimizer: Any, call: Any, *args: Any, **kwargs: Any) -> Any:
    """Makes a step of the optimizer by this call. One inside of another's step, as of a sharded optimizer, is not one of the program's."""
    if _steps.depth == 0 and _replicas and link.is_open():
        for replica in _of_optimizer(optimizer):
            trials.before_step(optimizer, replica.wrapper, replica.parameters)
            if not replica.ended:
                held = inputs.of_gradients(replica.parameters), inputs.of_state(optimizer, replica.parameters)
                replica.began = [replica.averaged, *held]
    _steps.depth += 1
    try:
        result = call(*args, **kwargs)
    finally:
        _steps.depth -= 1
    if _steps.depth == 0 and _replicas and link.is_open():
        _tell_step(optimizer)
    return result


def _tell_step(optimizer: Any) -> None:
    _steps.made += 1
    settings = _settings_of(optimizer)
    for replica in _of_optimizer(optimizer):
        if replica.ended:
            continue
        request = {"op": "Step", "name": "optimizer_step", "text": replica.name, "all": not replica.local}
        request.update(keys=list(settings), values=list(settings.values()), began=replica.began)
        link.link().tell({**request, **replica.state(), **sites.site()})
        replica.forwards, replica.around = 0, None


def steps_made() -> int:
    return _steps.made


def tell_skipped(optimizer: Any) -> None:
    if link.is_open():
        for replica in _of_optimizer(optimizer):
            link.link().tell({"op": "Step_skipped", "name": "scaler_step", "text": replica.name, **sites.site()})


def watch_wrapper(kind: Any) -> None:
    """Where the script takes the module out of the wrapper, and registers a hook of its own."""
    found = kind.__getattr__
    register = kind.register_comm_hook

    def watched(self: Any, name: str) -> Any:
        result = found(self, name)
        if name == "module" and _replicas and torch.is_grad_enabled():
            frame = sys._getframe(1)
            replica = _of(self) if sites.is_users(frame.f_code.co_filename) else None
            if replica is not None:
                replica.around = sites.site()
                return trials.module_of(self, result)
        return result

    @functools.wraps(register)
    def registered(self: Any, state: Any, hook: Any) -> Any:
        result = register(self, state, hook)
        replica = _of(self)
        if replica is not None and link.is_open():
            request = {"op": "Replica_hook", "name": "register_comm_hook", "text": replica.name}
            link.link().tell({**request, "purpose": getattr(hook, "__qualname__", type(hook).__name__), **sites.site()})
        return result

    kind.__getattr__ = watched
    kind.register_comm_hook = registered


def ended() -> None:
    """The process group is destroyed, or the process ends."""
    for replica in _replicas:
        if not replica.ended and link.is_open():
            replica.tell_state("end", "end")
        replica.ended = True
