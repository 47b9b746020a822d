"""torch.accelerator's functions, for pretended GPUs: PyTorch 2.6 and newer ask them where older versions ask torch.cuda."""

from __future__ import annotations

from typing import Any, Dict

from . import devices, runtime, streams

_without_effect = """synchronize empty_cache empty_host_cache reset_accumulated_memory_stats reset_peak_memory_stats manual_seed
manual_seed_all""".split()
_figures = "memory_allocated max_memory_allocated memory_reserved max_memory_reserved initial_seed".split()
_same = "memory_stats current_stream set_stream get_rng_state get_rng_state_all get_device_capability".split()


def _as(function: Any) -> Any:
    """A function of its own, as giving() makes them (runtime.py)."""
    return lambda *args, **kwargs: function(*args, **kwargs)


def _current(check_available: bool = False) -> Any:
    import torch

    return torch.device("cuda")


functions: Dict[str, Any] = {
    **{name: runtime.giving(None) for name in _without_effect},
    **{name: runtime.giving(0) for name in _figures},
    **{name: _as(runtime.functions[name]) for name in _same},
    "is_available": lambda: devices.count() > 0,
    "device_count": _as(devices.count),
    "current_accelerator": _current,
    "current_device_index": lambda: devices.chosen.index,
    "current_device_idx": lambda: devices.chosen.index,
    "set_device_index": _as(runtime.set_device),
    "set_device_idx": _as(runtime.set_device),
    "device_index": streams.device,
    "get_memory_info": _as(runtime.functions["mem_get_info"]),
}

# These alone do not say that a script wants a GPU: it calls them on any machine.
harmless = {*_without_effect, "initial_seed", "get_rng_state", "get_rng_state_all"}


def install(torch: Any) -> None:
    module = getattr(torch, "accelerator", None)
    if module is None:
        return
    for name, function in functions.items():
        if hasattr(module, name):
            setattr(module, name, function)
    for part in ("memory", "random"):
        inner = getattr(module, part, None)
        for name, function in functions.items():
            if inner is not None and name in vars(inner):
                setattr(inner, name, function)
    torch._C._get_accelerator = _current
