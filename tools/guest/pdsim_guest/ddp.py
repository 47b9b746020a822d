"""What DistributedDataParallel does, for the record: its options, its buckets, and the gradients that never came."""

import contextlib
import functools
import re
from types import ModuleType
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set

import torch

from . import changes, link, sites, training
from .replicas import states, trials


class Watched:
    """One wrapper's buckets, as lists of parameters' indices in the order of the Reducer."""

    def __init__(self, wrapper: Any, layout: Sequence[Sequence[int]]) -> None:
        self.wrapper = wrapper
        named = [(n, p) for n, p in wrapper.module.named_parameters() if p.requires_grad]
        self.names = [n for n, _ in named]
        self.parameters = [p for _, p in named]
        self.buckets = [list(b) for b in reversed(layout)]
        self.arrived: List[int] = []
        self.touched = False  # a backward has given gradients
        self.armed = False  # a forward has begun whose gradients are to be reduced
        self.reduced = False  # a whole backward has been
        self.rebuilt = False
        self.next_bucket = 0
        self.site: Optional[Dict[str, Any]] = None  # of the newest backward
        for index, parameter in enumerate(self.parameters):
            parameter.register_hook(functools.partial(self._arrives, index))

    def _arrives(self, index: int, gradient: Any) -> None:
        self.touched = True
        if self.armed and index not in self.arrived:
            self.arrived.append(index)

    def size_of(self, bucket: int) -> int:
        return sum(self.parameters[i].numel() for i in self.buckets[bucket])

    def tell_layout(self) -> None:
        for number, bucket in enumerate(self.buckets):
            size = sum(self.parameters[i].numel() * self.parameters[i].element_size() for i in bucket)
            note = {"op": "Bucket", "number": number, "count": size, "keys": [self.names[i] for i in bucket]}
            link.link().tell({**note, "all": self.rebuilt, **sites.site()})

    def begins(self) -> None:
        """A forward of the wrapper has been made."""
        self._rebuild()
        self.arrived, self.next_bucket, self.site = [], 0, None
        self.armed = bool(torch.is_grad_enabled() and self.wrapper.require_backward_grad_sync)

    def _rebuild(self) -> None:
        """The Reducer lays its buckets out anew after the first whole backward, in the order in which gradients came."""
        static = getattr(self.wrapper, "static_graph", False)
        if self.rebuilt or not self.armed or (self.wrapper.find_unused_parameters and not static):
            return
        if len(self.arrived) != len(self.parameters):
            return
        order = self.arrived
        limits = [torch.distributed._DEFAULT_FIRST_BUCKET_BYTES, self.wrapper.bucket_bytes_cap]
        chosen = [self.parameters[i] for i in order]
        try:
            layout = _assign(chosen, limits, [False] * len(chosen), list(order))[0]
        except (RuntimeError, TypeError):
            return
        self.rebuilt = True
        self.buckets = [list(b) for b in layout]
        self.tell_layout()

    def tell_unfilled(self) -> None:
        if not self.armed or self.site is None or self.wrapper.find_unused_parameters:
            return
        site, self.site = self.site, None
        arrived: Set[int] = set(self.arrived)
        if not arrived:
            return  # the backward was of another model: of the critic, whose input the generator made
        for number, bucket in enumerate(self.buckets):
            missing = [i for i in bucket if i not in arrived]
            if missing:
                note = {"op": "Unfilled", "number": number, "size": len(bucket) - len(missing), "count": len(bucket)}
                link.link().tell({**note, "keys": [self.names[i] for i in missing], **site})


_watched: List[Watched] = []
_forwards: List[Dict[str, int]] = []  # since the newest backward that returned: the versions of the wrapper's buffers after each
_layout: List[Any] = []
constructing: List[Any] = []  # what wrappers are being made for
_assign: Any = None


def bucket_of(group: Any, count: int) -> Optional[Watched]:
    """Whose next bucket it is that has so many elements; None: the call is not of a bucket."""
    for ddp in _watched:
        fits = ddp.armed and ddp.wrapper.process_group is group and ddp.next_bucket < len(ddp.buckets)
        if fits and ddp.size_of(ddp.next_bucket) == count:
            return ddp
    return None


def reduces_at_the_end() -> bool:
    """Whether a wrapper with static_graph is in its first backward: it starts all buckets at its end, and waits for them there."""
    return any(w.armed and not w.reduced and getattr(w.wrapper, "static_graph", False) for w in _watched)


def shadowed_bucket(group: Any, count: int) -> Optional[int]:
    """Of join: a rank without inputs makes the calls of the others' buckets. None: none has so many elements."""
    for ddp in _watched:
        if ddp.wrapper.process_group is group:
            for number in range(len(ddp.buckets)):
                if ddp.size_of(number) == count:
                    return number
    return None


class _Constructors:
    """Of this rank's wrappers."""

    began = False  # the first one has, or was told to be missing
    compares_sizes = False  # the newest one, next


_constructors = _Constructors()


def purpose_in_constructor(kind: str, integers: bool) -> str:
    """The constructor gathers how many parameters each rank has, compares their sizes, then sends rank 0's parameters and buffers."""
    if kind == "all_gather":
        _constructors.compares_sizes = True
        return "parameter count"
    if integers and _constructors.compares_sizes:
        _constructors.compares_sizes = False
        return "parameter sizes"
    return "parameters"


def parameters_of(text: str) -> List[str]:
    """The parameter that the Reducer names by its index."""
    index = re.search(r"Parameter at index (\d+)", text)
    for ddp in reversed(_watched):
        if index is not None and int(index.group(1)) < len(ddp.names):
            return [ddp.names[int(index.group(1))]]
    return []


def _backward_has_failed(error: BaseException) -> None:
    """Autograd names a tensor that was overwritten by its shape and versions alone; those of the buffers tell which it is."""
    found = re.search(r"FloatTensor \[([\d, ]*)\]\].* is at version (\d+); expected version (\d+)", str(error))
    if found is None:
        return
    shape = [int(n) for n in found.group(1).split(",") if n.strip()]
    now, saved = int(found.group(2)), int(found.group(3))
    for ddp in _watched:
        for name, buffer in ddp.wrapper.module.named_buffers():
            savers = [i for i, versions in enumerate(_forwards) if versions.get(name) == saved]
            if buffer._version != now or list(buffer.shape) != shape or not savers:
                continue
            writers = [i for i in range(savers[0] + 1, len(_forwards)) if _forwards[i].get(name, -1) > saved]
            if writers:
                note = {"op": "Overwritten", "name": name, "number": now, "count": saved}
                return link.link().tell({**note, "root": savers[0], "tag": writers[0], **sites.site()})


def _backward_is_over() -> None:
    if not _constructors.began and link.is_open():
        _constructors.began = True
        link.link().tell({"op": "Bare", **sites.site()})
    _forwards.clear()
    for ddp in _watched:
        if ddp.touched:
            ddp.touched = False
            states.after_backward(ddp.wrapper, sites.site())
        if ddp.armed:
            ddp.reduced = True
            ddp.site = sites.site()


def _settle() -> None:
    for ddp in _watched:
        ddp.tell_unfilled()


def _watch_layout() -> None:
    global _assign
    dist: Any = torch.distributed
    _assign = dist._compute_bucket_assignment_by_size

    @functools.wraps(_assign)
    def assign(*args: Any, **kwargs: Any) -> Any:
        result = _assign(*args, **kwargs)
        _layout[:] = [result[0]]
        return result

    dist._compute_bucket_assignment_by_size = assign


def _tell_options(wrapper: Any, buckets: int) -> None:
    note = {"op": "Ddp", "all": bool(wrapper.find_unused_parameters), "number": int(bool(wrapper.broadcast_buffers))}
    link.link().tell({**note, "count": buckets, **sites.site()})


def _recorded_no_sync(no_sync: Any) -> Any:
    @functools.wraps(no_sync)
    @contextlib.contextmanager
    def recorded(self: Any) -> Iterator[None]:
        told = link.is_open()
        if told:
            link.link().tell({"op": "Enter", "name": "no_sync", **sites.site()})
        try:
            with trials.no_sync(no_sync(self)):
                yield
        finally:
            if told:
                link.link().tell({"op": "Leave"})

    return recorded


def install(module: ModuleType) -> None:
    kind = module.DistributedDataParallel  # type: ignore[attr-defined]
    init, forward = kind.__init__, kind.forward
    _watch_layout()
    training.after_backward(_backward_is_over, _backward_has_failed)
    training.before_others(_settle)

    def build(self: Any, *args: Any, **kwargs: Any) -> None:
        wrapped = args[0] if args else kwargs.get("module")
        if link.is_open() and isinstance(wrapped, torch.nn.Module):
            named = [(n, p) for n, p in wrapped.named_parameters() if p.requires_grad]
            parameters = [f"{n} [{' x '.join(map(str, p.shape))}]" for n, p in named]
            link.link().tell({"op": "Model", "keys": parameters, **sites.site()})
            constructing.append(wrapped)
        try:
            init(self, *args, **changes.changed("DistributedDataParallel", kwargs))
        finally:
            constructing.clear()

    @functools.wraps(init)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        _layout.clear()
        _constructors.began = True
        training.in_phase("DistributedDataParallel", "construction", build, self, *args, **kwargs)
        sites.place.step = max(sites.place.step, 0)
        if _layout and link.is_open():
            watched = Watched(self, _layout[0])
            _watched.append(watched)
            _tell_options(self, len(watched.buckets))
            watched.tell_layout()
            states.made(self)

    @functools.wraps(forward)
    def forwarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        phase = "forward" if self.training else "evaluation"
        states.before_forward(self)
        result = training.in_phase("forward", phase, forward, self, *args, **kwargs)
        if link.is_open():
            counts = self.training and self.broadcast_buffers and torch.is_grad_enabled()
            _forwards.append({n: b._version for n, b in self.module.named_buffers()} if counts else {})
        for watched in _watched:
            if watched.wrapper is self:
                watched.begins()
        return result

    kind.__init__ = made
    kind.forward = forwarded
    kind.no_sync = _recorded_no_sync(kind.no_sync)
    states.watch_wrapper(kind)
