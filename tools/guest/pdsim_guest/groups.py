"""The process group that a script gets instead of its backend's: every call becomes a request to pdsim."""

import sys
from datetime import timedelta
from typing import Any, Dict, List, Optional, Sequence, Set

import torch
from torch._C._distributed_c10d import ProcessGroup

from . import ddp, link, sites, training
from .cuda import calls
from .memory import Landing, dtype_name, packed, view
from .works import GuestWork

Tensors = Sequence[torch.Tensor]
_in_place = ("all_reduce", "broadcast", "reduce")  # what the rank gives is what it gets
_reduce_names = ["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"]


def reduce_name(op: Any) -> str:
    ReduceOp = torch._C._distributed_c10d.ReduceOp
    for name in _reduce_names:
        known = getattr(ReduceOp, name, None)
        if known is not None and op == known:
            return name.lower()
    raise RuntimeError("Unhandled ReduceOp")


def _seconds(options: Any) -> Optional[float]:
    timeout = getattr(options, "timeout", None)
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else -1.0
    return seconds if seconds > 0 else None


def _one(tensors: Tensors) -> torch.Tensor:
    if len(tensors) != 1:
        raise RuntimeError("pdsim: a call with several tensors per rank, which only processes with several GPUs make")
    return tensors[0]


def _caller() -> str:
    """The file whose function makes this call."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(sites._own):
        frame = frame.f_back
    return frame.f_code.co_filename


def _is_operator(path: str) -> bool:
    """Functional collectives come through there, as those of DTensor."""
    return path.endswith("torch/_ops.py")


def _is_c(path: str) -> bool:
    """Whether PyTorch's C++ makes this call, for DDP, and neither a function of torch.distributed's nor the script itself."""
    return not path.endswith("distributed_c10d.py") and not _is_operator(path) and not sites.is_users(path)


def _purpose(group: Any, kind: str, like: Optional[torch.Tensor], count: int) -> Dict[str, Any]:
    """What DDP makes the call for, where it is DDP's."""
    if like is None:
        return {}
    integers = like.dtype in (torch.int32, torch.int64)
    if sites.place.in_phase("backward") and kind == "all_reduce":
        of = ddp.bucket_of(group, count)
        if of is None:
            return {"purpose": "used map"} if integers else {}
        of.next_bucket += 1
        number = of.next_bucket - 1
        return {"purpose": "bucket", "number": number, "keys": [of.names[i] for i in of.buckets[number]]}
    if kind == "all_reduce" and not integers:
        shadow = ddp.shadowed_bucket(group, count)
        return {} if shadow is None else {"purpose": "bucket", "number": shadow}
    if sites.place.in_phase("construction"):
        return {"purpose": ddp.purpose_in_constructor(kind, integers)}
    if kind == "broadcast":
        # The order of buckets is of int32, also from a rank that has joined and is in no forward; num_batches_tracked is of int64.
        return {"purpose": "rebuild order" if like.dtype == torch.int32 else "buffers"}
    return {}


class GuestProcessGroup(ProcessGroup):  # type: ignore[misc]
    def __init__(self, backend: str, rank: int, size: int, ranks: List[int], name: str, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self._backend_name = backend
        self._size = size
        self._rank = rank
        self._sequence = 0
        self.members = list(ranks)
        self.collectives = 0  # that were begun
        self._gpus: Set[int] = set()  # that its calls have used
        request = {"op": "join", "name": name, "ranks": ranks, "rank": rank, "size": size, "backend": backend}
        request["seconds"] = timeout.total_seconds()
        reply, _ = link.link().ask({**request, **sites.site()})
        self._number = int(reply["group"])

    # Requests

    def _start(
        self,
        kind: str,
        inputs: Tensors,
        outputs: Tensors,
        like: Optional[torch.Tensor],
        count: int,
        options: Any = None,
        peer: int = -1,
        **more: Any,
    ) -> GuestWork:
        request: Dict[str, Any] = {"op": "start", "group": self._number, "kind": kind, "count": count}
        if like is not None:
            request["dtype"] = dtype_name(like)
        request["seconds"] = _seconds(options)
        request.update(more)
        if not sites.place.in_phase("backward"):
            training.settle()
        if kind not in ("send", "recv"):
            self.collectives += 1
        request.update(sites.site())
        caller = _caller()
        from_c = _is_c(caller)
        if from_c:
            request.update(_purpose(self, kind, like, count))
        request.update(calls.placement(self, [*inputs, *outputs], options, from_c, _is_operator(caller)))
        kept = [packed(t) for t in inputs]
        given, landing = [view(t) for t in kept], Landing(outputs)
        asked = link.link()
        segment = asked.segments.place(given, landing.nbytes, kind in _in_place)
        if segment is not None:
            request.update(memory=segment.fd, output_at=segment.output_at)
        try:
            reply, _ = asked.ask(request, given if segment is None else ())
        except RuntimeError:
            if segment is not None:
                asked.segments.give_back(segment)
            raise
        self._sequence += 1
        return GuestWork(int(reply["work"]), landing, list(outputs), segment, peer)

    # Collectives

    def broadcast(self, tensors: Tensors, opts: Any = None) -> GuestWork:
        tensor, root = _one(tensors), opts.rootRank
        mine = [tensor] if root == self._rank else []
        return self._start("broadcast", mine, [tensor], tensor, tensor.numel(), opts, root=root)

    def allreduce(self, tensors: Tensors, opts: Any = None) -> GuestWork:
        tensor = _one(tensors)
        op = reduce_name(opts.reduceOp) if opts is not None and hasattr(opts, "reduceOp") else "sum"
        return self._start("all_reduce", [tensor], [tensor], tensor, tensor.numel(), opts, reduce=op)

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> GuestWork:
        count = sum(t.numel() for t in tensors)
        op = reduce_name(opts.reduceOp)
        return self._start("all_reduce", tensors, tensors, tensors[0], count, opts, reduce=op, coalesced=len(tensors))

    def reduce(self, tensors: Tensors, opts: Any = None) -> GuestWork:
        tensor, root = _one(tensors), opts.rootRank
        op = reduce_name(opts.reduceOp)
        return self._start("reduce", [tensor], [tensor], tensor, tensor.numel(), opts, root=root, reduce=op)

    def allgather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> GuestWork:
        tensor, parts = _one(inputs), outputs[0]
        if len(parts) != self._size:
            raise RuntimeError(f"Expected output list of {self._size} tensors, one per rank, and got {len(parts)}")
        for part in parts:
            if part.numel() != tensor.numel() or part.dtype != tensor.dtype:
                raise RuntimeError("Tensor list must have tensors of the input's type and size")
        return self._start("all_gather", [tensor], parts, tensor, tensor.numel(), opts)

    def _allgather_base(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> GuestWork:
        if output.numel() != tensor.numel() * self._size:
            raise RuntimeError("output tensor size must be equal to world_size times input tensor size")
        return self._start("all_gather", [tensor], [output], tensor, tensor.numel(), opts, base=True)

    def gather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> GuestWork:
        tensor, root = _one(inputs), opts.rootRank
        parts = outputs[0] if root == self._rank else []
        return self._start("gather", [tensor], parts, tensor, tensor.numel(), opts, root=root)

    def scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any = None) -> GuestWork:
        tensor, root = _one(outputs), opts.rootRank
        parts = inputs[0] if root == self._rank else []
        return self._start("scatter", parts, [tensor], tensor, tensor.numel(), opts, root=root)

    def reduce_scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any = None) -> GuestWork:
        tensor, op = _one(outputs), reduce_name(opts.reduceOp)
        return self._start("reduce_scatter", inputs[0], [tensor], tensor, tensor.numel(), opts, reduce=op)

    def _reduce_scatter_base(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> GuestWork:
        op = reduce_name(opts.reduceOp)
        return self._start("reduce_scatter", [tensor], [output], output, output.numel(), opts, reduce=op, base=True)

    def alltoall_base(
        self,
        output: torch.Tensor,
        tensor: torch.Tensor,
        output_splits: Sequence[int],
        input_splits: Sequence[int],
        opts: Any = None,
    ) -> GuestWork:
        if not output_splits and not input_splits:
            if tensor.size(0) % self._size != 0 or output.size(0) % self._size != 0:
                raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
            return self._start("all_to_all", [tensor], [output], tensor, tensor.numel() // self._size, opts)
        return self._uneven(
            [tensor], [output], _elements(tensor, input_splits, self._size), _elements(output, output_splits, self._size), opts
        )

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> GuestWork:
        return self._uneven(inputs, outputs, [t.numel() for t in inputs], [t.numel() for t in outputs], opts)

    def _uneven(self, ins: Tensors, outs: Tensors, sends: List[int], receives: List[int], opts: Any) -> GuestWork:
        return self._start("all_to_all_v", ins, outs, ins[0], sum(sends), opts, sends=sends, receives=receives)

    def barrier(self, opts: Any = None) -> GuestWork:
        return self._start("barrier", [], [], None, 0, opts)

    def monitored_barrier(self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False) -> None:
        seconds = timeout.total_seconds() if timeout is not None else None
        request = {"op": "monitored_barrier", "group": self._number, "seconds": seconds, "all": wait_all_ranks}
        link.link().ask({**request, **sites.site()})

    # Messages

    def send(self, tensors: Tensors, dst: int, tag: int = 0) -> GuestWork:
        tensor = _one(tensors)
        return self._start("send", [tensor], [], tensor, tensor.numel(), root=dst, tag=tag)

    def recv(self, tensors: Tensors, src: int, tag: int = 0) -> GuestWork:
        tensor = _one(tensors)
        return self._start("recv", [], [tensor], tensor, tensor.numel(), root=src, tag=tag, peer=src)

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> GuestWork:
        tensor = _one(tensors)
        return self._start("recv", [], [tensor], tensor, tensor.numel(), root=-2, tag=tag)

    # About itself

    def name(self) -> str:
        return self._backend_name

    def getBackendName(self) -> str:
        """For C++, which takes a group of this name for its own class: the Logger of DDP looks into what calls itself gloo."""
        return "pdsim"

    def _set_sequence_number_for_group(self) -> None:
        pass

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence


def _elements(tensor: torch.Tensor, splits: Sequence[int], size: int) -> List[int]:
    rows = tensor.size(0) if tensor.dim() > 0 else tensor.numel()
    row = tensor.numel() // rows if rows else 0
    if not splits:
        return [tensor.numel() // size] * size
    if sum(splits) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [s * row for s in splits]
