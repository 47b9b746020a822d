"""When the GPUs are pretended: at the first time that the script asks for one, on a machine that has fewer than it needs.

  PDSIM_CUDA   on: from the start; auto: when the script asks; off: never
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import link, sites

_makers = """arange as_tensor empty empty_like empty_strided eye full full_like linspace logspace ones ones_like rand rand_like
randint randint_like randn randn_like randperm sparse_coo_tensor tensor zeros zeros_like""".split()
_undo: List[Tuple[Any, str, Any]] = []  # what waits for the first time
mode: Any = None  # the mode that sees all functions, once GPUs are pretended


def install(torch: Any) -> None:
    wish = os.environ.get("PDSIM_CUDA", "off")
    if wish == "on":
        _begin(torch)
    elif wish == "auto":
        _wait_for_the_first_time(torch)


def ask(what: str) -> None:
    """The script wants a GPU of this machine."""
    import torch

    if mode is None and os.environ.get("PDSIM_CUDA", "off") == "auto" and _real_count(torch) < _wanted_count():
        there = int(os.environ.get("PDSIM_GPUS_HIDDEN", _real_count(torch)))
        _begin(torch)
        _say(what, there)


def has_gpus() -> bool:
    """Emulated ones, or the machine's."""
    import torch

    return mode is not None or _real_count(torch) > 0


def _wanted_count() -> int:
    """One for each rank of the node, unless --world says how many a node has."""
    given = int(os.environ.get("PDSIM_CUDA_DEVICES", "0"))
    return given if given > 0 else int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


_counted: List[int] = []


def _real_count(torch: Any) -> int:
    if not _counted:
        formers = {name: former for owner, name, former in _undo if owner is torch.cuda}
        available = formers.get("is_available", torch.cuda.is_available)
        count = formers.get("device_count", torch.cuda.device_count)
        _counted.append(int(count()) if available() else 0)
    return _counted[0]


def _begin(torch: Any) -> None:
    global mode
    from . import accelerator, files, mode as modes, patches, refused, runtime

    for owner, name, former in _undo:
        setattr(owner, name, former)
    _undo.clear()
    mode = modes.Devices()
    runtime.install(torch)
    accelerator.install(torch)
    files.install(torch)
    patches.install(torch, mode)
    refused.install(torch)
    mode.__enter__()
    _enter_in_threads()


def _say(what: str, there: int) -> None:
    first = link._slot() == 0 or (link._slot() < 0 and link._own_number() <= 0)
    if first and "PDSIM_CUDA_SAID" not in os.environ:
        from . import devices

        found = "none" if there == 0 else f"{there} for {_wanted_count()} ranks"
        print(
            f"pdsim: {what} asks for a GPU, and this machine has {found}: {devices.count()} are emulated on the CPU "
            "(--no-cuda-on-cpu turns this off)",
            file=sys.stderr,
            flush=True,
        )
    os.environ["PDSIM_CUDA_SAID"] = "1"
    os.environ["PDSIM_CUDA"] = "on"  # for the processes that this one starts


def _enter_in_threads() -> None:
    run: Callable[[Any], None] = threading.Thread.run

    def seen(self: Any) -> None:
        with mode:
            run(self)

    threading.Thread.run = seen  # type: ignore[method-assign]


# Until then


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> Any:
    former = getattr(owner, name)
    _undo.append((owner, name, former))
    made = make(former)
    setattr(owner, name, made)
    return made


def _wants(args: Any, kwargs: Dict[str, Any]) -> bool:
    from . import devices

    given = kwargs.get("device")
    if given is None and args:
        given = args[0]
    return devices.is_gpu(given)


def _asks(torch: Any, owner: Any, name: str, what: str, when: Optional[Callable[[Any, Any], bool]]) -> Any:
    def make(former: Any) -> Any:
        @functools.wraps(former)
        def asked(*args: Any, **kwargs: Any) -> Any:
            if (when is None or when(args, kwargs)) and sites.is_users(sys._getframe(1).f_code.co_filename):
                ask(what)
                if mode is not None:
                    return getattr(owner, name)(*args, **kwargs)
            return former(*args, **kwargs)

        return asked

    return _replace(owner, name, make)


def _tell_compiler(torch: Any, function: Any, name: str) -> None:
    """torch.jit.script knows its own functions by what they are: to it, this one is a function of the script's."""
    try:
        torch.jit._builtins._register_builtin(function, f"aten::{name}")
    except AttributeError:
        pass


def _wait_for_the_first_time(torch: Any) -> None:
    from . import accelerator, runtime

    for module, part, of in ((torch.cuda, "cuda", runtime), (getattr(torch, "accelerator", None), "accelerator", accelerator)):
        for name in of.functions:
            former = getattr(module, name, None)
            if former is not None and name not in of.harmless and not isinstance(former, type):
                _asks(torch, module, name, f"torch.{part}.{name}", None)
    for name in _makers:
        asked = _asks(torch, torch, name, f"torch.{name}(device='cuda')", lambda args, kwargs: _is_named(kwargs))
        _tell_compiler(torch, asked, name)
    for owner, what in ((torch.Tensor, "Tensor"), (torch.nn.Module, "Module")):
        _asks(torch, owner, "cuda", f"{what}.cuda", None)
        _asks(torch, owner, "to", f"{what}.to", lambda args, kwargs: _wants(args[1:], kwargs))


def _is_named(kwargs: Dict[str, Any]) -> bool:
    from . import devices

    return devices.is_gpu(kwargs.get("device"))
