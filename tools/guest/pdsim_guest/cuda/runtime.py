"""torch.cuda's own functions, for pretended GPUs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Dict, List

from . import devices, streams

_memory = 80 << 30  # of each; nothing of it is ever used
_name = "GPU emulated by pdsim"


def set_device(device: Any) -> None:
    index = devices.index_of(device)
    if index is not None:
        devices.chosen.index = index


def _properties(device: Any = None) -> Any:
    return SimpleNamespace(name=_name, total_memory=_memory, major=8, minor=0, multi_processor_count=108)


def _state(device: Any = "cuda") -> Any:
    import torch

    return torch.zeros(16, dtype=torch.uint8)


def giving(value: Any) -> Any:
    """A function of its own for each name: PyTorch 2.x refuses two names of one object when it imports its compiler, as DDP does there."""
    return lambda *args, **kwargs: value


def _states() -> List[Any]:
    return [_state() for _ in range(devices.count())]


_without_effect = """_lazy_init _lazy_call init empty_cache ipc_collect synchronize manual_seed manual_seed_all seed seed_all set_rng_state
set_rng_state_all reset_max_memory_allocated reset_max_memory_cached reset_peak_memory_stats reset_accumulated_memory_stats
set_per_process_memory_fraction""".split()
_figures = """memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached utilization
initial_seed temperature power_draw""".split()

# These alone do not say that a script wants a GPU: it calls them on any machine.
harmless = {*_without_effect, "is_initialized", "initial_seed", "get_rng_state", "get_rng_state_all"}

functions: Dict[str, Any] = {
    **{name: giving(None) for name in _without_effect},
    **{name: giving(0) for name in _figures},
    "is_available": lambda: devices.count() > 0,
    "is_initialized": lambda: True,
    "is_bf16_supported": lambda *unused: True,
    "is_current_stream_capturing": lambda: False,
    "device_count": devices.count,
    "current_device": lambda: devices.chosen.index,
    "set_device": set_device,
    "get_device_name": lambda device=None: _name,
    "get_device_capability": lambda device=None: (8, 0),
    "get_device_properties": _properties,
    "get_arch_list": list,
    "can_device_access_peer": lambda device, peer: True,
    "mem_get_info": lambda device=None: (_memory, _memory),
    "memory_stats": lambda *unused, **named: {},
    "memory_stats_as_nested_dict": lambda *unused, **named: {},
    "memory_summary": lambda *args, **kwargs: "the GPUs are emulated; their memory is not counted",
    "memory_snapshot": lambda: [],
    "list_gpu_processes": lambda device=None: "no processes are running",
    "get_rng_state": _state,
    "get_rng_state_all": _states,
    "Stream": streams.Stream,
    "ExternalStream": streams.ExternalStream,
    "Event": streams.Event,
    "StreamContext": streams.StreamContext,
    "stream": streams.StreamContext,
    "set_stream": streams.set_stream,
    "current_stream": streams.current_stream,
    "default_stream": streams.default_stream,
    "device": streams.device,
    "device_of": streams.device_of,
}


class _Ranges:
    """torch.cuda.nvtx and torch.cuda.profiler, which mark time lines of tools for GPUs."""

    def __getattr__(self, name: str) -> Any:
        return giving(0)


def install(torch: Any) -> None:
    for name, function in functions.items():
        if hasattr(torch.cuda, name):
            setattr(torch.cuda, name, function)
    for part in ("streams", "memory", "random"):
        module = getattr(torch.cuda, part, None)
        for name, function in functions.items():
            if module is not None and name in vars(module):
                setattr(module, name, function)
    torch.cuda.nvtx._NVTX = _Ranges()
    torch.cuda.nccl.version = lambda: (2, 14, 3)
    torch.backends.cudnn.is_acceptable = lambda tensor: False
