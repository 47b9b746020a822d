"""Functions that PyTorch computes on GPUs alone, and element types for which its CPU has no arithmetic."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import torch

Args = Tuple[Any, ...]


def call(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    try:
        return func(*args, **kwargs)
    except RuntimeError as error:
        if "not implemented for 'Half'" not in str(error):
            raise
    return _in_single_precision(func, args, kwargs)


def _cast(value: Any, source: torch.dtype, to: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(to) if value.dtype == source else value
    if isinstance(value, (tuple, list)):
        return type(value)(_cast(v, source, to) for v in value)
    return to if value is source else value


def _in_single_precision(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    half, single = torch.float16, torch.float32
    wide = [_cast(a, half, single) for a in args]
    result = func(*wide, **{k: _cast(v, half, single) for k, v in kwargs.items()})
    name = func.__name__
    if name.endswith("_") and not name.endswith("__") and isinstance(args[0], torch.Tensor):
        return args[0].copy_(wide[0])
    return _cast(result, single, half)


# torch.cuda.amp.GradScaler


def _unscale(func: Any, args: Args, kwargs: Dict[str, Any]) -> None:
    gradients, found, factor = args
    for gradient in gradients:
        if not bool(torch.isfinite(gradient).all()):
            found.fill_(1.0)
        gradient.mul_(factor.to(gradient.dtype))


def _update_scale(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    scale, tracker, found, growth, backoff, interval = args
    if float(found) > 0:
        scale.mul_(backoff)
        tracker.zero_()
    else:
        tracker.add_(1)
        if int(tracker) == interval:
            scale.mul_(growth)
            tracker.zero_()
    return scale


# torch.nn.SyncBatchNorm


def _over_channels(tensor: torch.Tensor) -> Tuple[int, ...]:
    return tuple(d for d in range(tensor.dim()) if d != 1)


def _as_channels(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return values.reshape([-1 if d == 1 else 1 for d in range(like.dim())])


def _norm_stats(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    tensor, epsilon = args
    over = _over_channels(tensor)
    return tensor.float().mean(over), torch.rsqrt(tensor.float().var(over, unbiased=False) + epsilon)


def _gather_stats(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    _, means, inverses, running_mean, running_variance, momentum, epsilon, counts = args
    weights = counts.to(means.dtype).reshape(-1, 1)
    total = weights.sum()
    mean = (means * weights).sum(0) / total
    squares = (((1 / inverses**2 - epsilon) + (means - mean) ** 2) * weights).sum(0)
    if running_mean is not None:
        running_mean.mul_(1 - momentum).add_(mean * momentum)
        running_variance.mul_(1 - momentum).add_(squares / (total - 1) * momentum)
    return mean, torch.rsqrt(squares / total + epsilon)


def _normalized(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    tensor, weight, bias, mean, inverse = args[:5]
    result = (tensor - _as_channels(mean, tensor)) * _as_channels(inverse, tensor)
    if weight is not None:
        result = result * _as_channels(weight, tensor)
    return (result if bias is None else result + _as_channels(bias, tensor)).to(tensor.dtype)


def _norm_backward_sums(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    gradient, tensor, mean, inverse, weight, *_ = args
    over = _over_channels(tensor)
    sums = gradient.sum(over)
    products = (gradient * (tensor - _as_channels(mean, tensor))).sum(over)
    return sums, products, products * inverse, sums.clone()


def _norm_backward(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
    gradient, tensor, mean, inverse, weight, sums, products, counts = args
    total = counts.sum()
    scale = inverse if weight is None else inverse * weight
    away = (tensor - _as_channels(mean, tensor)) * _as_channels(products * inverse**2 / total, tensor)
    return (gradient - _as_channels(sums / total, tensor) - away) * _as_channels(scale, tensor)


def _where_the_first_is(function: Callable[..., Any]) -> Callable[..., Any]:
    from . import devices

    def placed(func: Any, args: Args, kwargs: Dict[str, Any]) -> Any:
        result = function(func, args, kwargs)
        devices.put_all(result, next((devices.of(t) for t in devices.tensors_in(args)), None))
        return result

    return placed


replacements: Dict[str, Callable[..., Any]] = {
    "_amp_foreach_non_finite_check_and_unscale_": _unscale,
    "_amp_update_scale_": _update_scale,
    "batch_norm_stats": _where_the_first_is(_norm_stats),
    "batch_norm_gather_stats_with_counts": _where_the_first_is(_gather_stats),
    "batch_norm_elemt": _where_the_first_is(_normalized),
    "batch_norm_backward_reduce": _where_the_first_is(_norm_backward_sums),
    "batch_norm_backward_elemt": _where_the_first_is(_norm_backward),
}
