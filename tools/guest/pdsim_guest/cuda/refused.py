"""What is made for GPUs and cannot run on the CPU: each is named when the script comes to it."""

from __future__ import annotations

import importlib.abc
import sys
from types import ModuleType
from typing import Any, List, Optional, Sequence

from .. import link, sites

# Modules whose kernels are for GPUs.
_modules = ("triton", "cupy", "pycuda", "apex", "flash_attn", "xformers", "transformer_engine", "bitsandbytes", "numba.cuda")
_functions = {
    "torch.cuda": ("CUDAGraph", "graph", "make_graphed_callables", "graph_pool_handle", "cudart", "jiterator", "caching_allocator_alloc"),
    "torch.nn": ("DataParallel",),
    "torch": ("set_default_tensor_type",),
    "torch.utils.cpp_extension": ("load", "load_inline"),
}


def problem(what: str, kind: Any = RuntimeError) -> Exception:
    error: Exception = kind(
        f"pdsim run cannot run {what} on the CPU; run this part on a machine with GPUs, or use --no-cuda-on-cpu "
        "if the script can run without them"
    )
    error.pdsim_code = "unsupported"  # type: ignore[attr-defined]
    return error


class _Refused:
    def __init__(self, name: str, former: Any) -> None:
        self._name, self._former = name, former

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_for_the_cpu(args, kwargs):
            return self._former(*args, **kwargs)
        raise problem(self._name)

    def _is_for_the_cpu(self, args: Any, kwargs: Any) -> bool:
        if self._name == "torch.set_default_tensor_type":
            return "cuda" not in str(args[0] if args else "")
        if self._name.startswith("torch.utils.cpp_extension"):
            sources = [*args, *kwargs.values()]
            return not (kwargs.get("with_cuda") or kwargs.get("cuda_sources") or ".cu'" in str(sources))
        return False


class _Constructor(_Refused):
    def __get__(self, instance: Any, owner: Any) -> Any:
        return lambda *args, **kwargs: self(*args, **kwargs)


class _Finder(importlib.abc.MetaPathFinder):
    """Before the real ones: a script that imports these without a GPU would hear of a driver or a module that is missing."""

    def find_spec(self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None) -> None:
        if fullname in _modules and self._asked_by_the_script():
            raise problem(f"the GPU kernels of {fullname}", ImportError)

    def _asked_by_the_script(self) -> bool:
        frame = sys._getframe(2)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back  # type: ignore[assignment]
        return frame is not None and sites.is_users(frame.f_code.co_filename) and "-packages" not in frame.f_code.co_filename


def _runs_as_it_is(compile_: Any) -> Any:
    said: List[bool] = []

    def compiled(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not said and link._slot() <= 0:
            said.append(True)
            print("pdsim: torch.compile for CUDA is skipped: the model runs uncompiled", file=sys.stderr, flush=True)
        return model if model is not None else lambda function: function

    return compiled


def install(torch: Any) -> None:
    for module_name, names in _functions.items():
        if module_name == "torch.utils.cpp_extension" and module_name not in sys.modules:
            from .. import importing

            importing.after_import(module_name, lambda module: _refuse(module, "torch.utils.cpp_extension"))
            continue
        _refuse(sys.modules[module_name], module_name)
    sys.meta_path.insert(0, _Finder())
    if hasattr(torch, "compile"):
        torch.compile = _runs_as_it_is(torch.compile)


def _refuse(module: Any, module_name: str) -> None:
    for name in _functions[module_name]:
        former = getattr(module, name, None)
        if isinstance(former, type):  # stays a class, for isinstance
            former.__init__ = _Constructor(f"{module_name}.{name}", former.__init__)  # type: ignore[misc]
            former.__new__ = staticmethod(_Refused(f"{module_name}.{name}", former.__new__))  # 2.x's raises without a GPU
        elif former is not None:
            setattr(module, name, _Refused(f"{module_name}.{name}", former))
