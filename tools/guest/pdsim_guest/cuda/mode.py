"""Turns what a script says about devices into the CPU, and remembers what it said: a mode that sees every function of PyTorch."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import torch
from torch.overrides import TorchFunctionMode

from . import devices, numbers

Args = Tuple[Any, ...]
Named = Dict[str, Any]

# Their result is where their first tensor is.
_properties_with_memory = {"grad", "_grad", "data", "T", "H", "mT", "mH", "real", "imag"}
# They take tensors of several devices.
_takes_any = {
    "_has_compatible_shallow_copy_type",
    "_pack_padded_sequence",
    "_pad_packed_sequence",
    "ctc_loss",
    "expand_as",
    "grad",
    "gru",
    "is_set_to",
    "lstm",
    "register_hook",
    "reshape_as",
    "result_type",
    "rnn_relu",
    "rnn_tanh",
    "tensor_split",
    "view_as",
}


class Devices(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.lenient = 0  # above 0: tensors that PyTorch's C++ has made are about, and nobody knows where they are
        self._special: Dict[str, Callable[[Any, Args, Named], Any]] = {
            "__get__": self._get,
            "__set__": self._set,
            "__repr__": self._shown,
            "_parse_to": self._numbered,
            "backward": self._backward,
            "copy_": self._copy,
            "cpu": self._cpu,
            "cuda": self._cuda,
            "device": self._numbered,
            "get_device": self._number,
            "is_pinned": lambda func, args, kwargs: getattr(args[0], "_pdsim_pinned", False),
            "numpy": self._numpy,
            "to": self._to,
            "type": self._type,
            "type_as": self._type_as,
            **numbers.replacements,
        }

    def __torch_function__(self, func: Any, types: Any, args: Args = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        special = self._special.get(getattr(func, "__name__", ""))
        if special is not None:
            return special(func, args, kwargs)
        return self._plain(func, args, kwargs)

    def _plain(self, func: Any, args: Args, kwargs: Named) -> Any:
        asked = kwargs.get("device")
        if asked is not None:
            index = devices.index_of(asked)
            kwargs = {**kwargs, "device": "cpu"}
        else:
            index = self._together(func, args, kwargs)
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        result = numbers.call(func, args, kwargs)
        devices.put_all(result, index)
        return result

    def _together(self, func: Any, args: Args, kwargs: Named) -> devices.Index:
        """Where the tensors of a call are. One without dimensions may come from the CPU to a GPU."""
        index: devices.Index = None
        on_cpu = False
        for tensor in devices.tensors_in((*args, *kwargs.values())):
            its = devices.of(tensor)
            if its is None:
                on_cpu = on_cpu or tensor.dim() > 0
            elif index is None or index == its:
                index = its
            elif func.__name__ not in _takes_any:
                raise _apart(devices.name(index), devices.name(its))
        if index is not None and on_cpu and self.lenient == 0 and func.__name__ not in _takes_any:
            raise _apart(devices.name(index), "cpu")
        return index

    # Properties

    def _get(self, func: Any, args: Args, kwargs: Named) -> Any:
        what = func.__self__.__name__
        index = devices.of(args[0])
        if index is None:
            return func(*args, **kwargs)
        if what == "device":
            return devices.device(index)
        if what in ("is_cuda", "is_cpu"):
            return what == "is_cuda"
        result = func(*args, **kwargs)
        if what in _properties_with_memory:
            devices.put_all(result, index)
        return result

    def _set(self, func: Any, args: Args, kwargs: Named) -> Any:
        result = func(*args, **kwargs)
        if func.__self__.__name__ == "data":
            devices.put(args[0], devices.of(args[1]))
        return result

    def _shown(self, func: Any, args: Args, kwargs: Named) -> Any:
        text, index = func(*args, **kwargs), devices.of(args[0])
        end = text.rfind(")")
        return text if index is None or end < 0 else f"{text[:end]}, device='{devices.name(index)}'{text[end:]}"

    def _number(self, func: Any, args: Args, kwargs: Named) -> int:
        index = devices.of(args[0])
        return -1 if index is None else index

    # From one device to another

    def _moved(self, tensor: Any, result: Any, index: devices.Index) -> Any:
        """The result of a function that moves: another tensor where the device is another."""
        if result is tensor:
            if devices.of(tensor) == index:
                return tensor
            result = tensor.clone()
        devices.put(result, index)
        return result

    def _to(self, func: Any, args: Args, kwargs: Named) -> Any:
        tensor, rest, named = args[0], list(args[1:]), dict(kwargs)
        index = devices.of(tensor)
        other = rest[0] if rest else named.get("other")
        if isinstance(other, torch.Tensor):
            index = devices.of(other)
        elif "device" in named:
            if named["device"] is not None:
                index = devices.index_of(named["device"])
            named["device"] = "cpu"
        elif rest and (isinstance(other, (str, torch.device)) or devices.is_gpu(other)):
            index = devices.index_of(other)
            rest[0] = "cpu"
        return self._moved(tensor, func(tensor, *rest, **named), index)

    def _numbered(self, func: Any, args: Args, kwargs: Named) -> Any:
        """torch.device(0), Module.to(0): 2.14 refuses the number of a GPU on a machine without one, and takes its name."""

        def named(device: Any) -> Any:
            return devices.name(devices.index_of(device)) if devices.is_gpu(device) and not isinstance(device, str) else device

        kwargs = {name: named(given) if name == "device" else given for name, given in kwargs.items()}
        return func(*map(named, args[:1]), *args[1:], **kwargs)

    def _cuda(self, func: Any, args: Args, kwargs: Named) -> Any:
        device = args[1] if len(args) > 1 else kwargs.get("device")
        index = devices.index_of(device)
        if index is None:
            raise RuntimeError(f"Invalid device, must be cuda device but got {device}")
        return self._moved(args[0], args[0], index)

    def _cpu(self, func: Any, args: Args, kwargs: Named) -> Any:
        return self._moved(args[0], func(*args, **kwargs), None)

    def _type(self, func: Any, args: Args, kwargs: Named) -> Any:
        tensor = args[0]
        asked = args[1] if len(args) > 1 else kwargs.get("dtype")
        index = devices.of(tensor)
        if asked is None:
            text = func(*args, **kwargs)
            return text if index is None else text.replace("torch.", "torch.cuda.")
        text = asked if isinstance(asked, str) else f"{asked.__module__}.{asked.__name__}" if isinstance(asked, type) else ""
        if text.startswith("torch."):  # names a device too
            index = devices.chosen.index if index is None and ".cuda." in text else index if ".cuda." in text else None
            asked = text.replace("torch.cuda.", "torch.")
        return self._moved(tensor, func(tensor, asked), index)

    def _type_as(self, func: Any, args: Args, kwargs: Named) -> Any:
        return self._moved(args[0], func(*args, **kwargs), devices.of(args[1]))

    def _copy(self, func: Any, args: Args, kwargs: Named) -> Any:
        return func(*args, **kwargs)

    def _numpy(self, func: Any, args: Args, kwargs: Named) -> Any:
        index = devices.of(args[0])
        if index is not None and not kwargs.get("force"):
            raise TypeError(
                f"can't convert {devices.name(index)} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                "host memory first."
            )
        return func(*args, **kwargs)

    # Autograd

    def _backward(self, func: Any, args: Args, kwargs: Named) -> Any:
        """Hooks and Functions of the script run inside: they see the mode too."""
        if func is torch.autograd.backward:
            return self._backward_of_2(func, args, kwargs)
        names = ("grad_tensors", "retain_graph", "create_graph", "inputs")
        named = {**dict(zip(names, args[1:])), **kwargs}
        if "gradient" in named:
            named["grad_tensors"] = named.pop("gradient")
        with self:
            return torch.autograd.backward(args[0], **named)


    def _backward_of_2(self, func: Any, args: Args, kwargs: Named) -> Any:
        """2.x asks the mode in this function too: entered before it, the mode would be asked forever."""
        autograd: Any = torch.autograd
        run = autograd._engine_run_backward

        def seen(*given: Any, **named: Any) -> Any:
            with self:
                return run(*given, **named)

        autograd._engine_run_backward = seen
        try:
            return getattr(func, "__wrapped__", func)(*args, **kwargs)  # whose caller is on record already
        finally:
            autograd._engine_run_backward = run


def _apart(first: str, second: str) -> RuntimeError:
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )
