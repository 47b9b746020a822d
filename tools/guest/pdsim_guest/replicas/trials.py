"""Changes that `pdsim run --try-cures` makes to a script whose replicas differ, to see what cures it: each is what the report proposes,
made from outside."""

import contextlib
from typing import Any, Iterator

import torch

from .. import changes


def _wants(what: str) -> bool:
    return bool(changes.changed("replicas", {}).get(what))


class _Through:
    """Stands for the module that the script takes out of the wrapper: a call goes through the wrapper."""

    def __init__(self, wrapper: Any, module: Any) -> None:
        self._wrapper, self._module = wrapper, module

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._wrapper(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self._module[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def module_of(wrapper: Any, module: Any) -> Any:
    return _Through(wrapper, module) if _wants("through_wrapper") else module


@contextlib.contextmanager
def no_sync(context: Any) -> Iterator[None]:
    """The context, or one in which every backward is synchronised."""
    if _wants("without_no_sync"):
        yield
        return
    with context:
        yield


def before_forward(wrapper: Any, parameters: Any) -> None:
    """Gives all ranks the parameters of the first."""
    if _wants("parameters"):
        for parameter in parameters:
            torch.distributed.broadcast(parameter.data, src=wrapper.process_group.members[0], group=wrapper.process_group)


def before_step(optimizer: Any, wrapper: Any, parameters: Any) -> None:
    """Gives all ranks the numbers that the first one's optimizer goes by, its state, or the first one's gradients."""
    source = {"src": wrapper.process_group.members[0], "group": wrapper.process_group}
    if _wants("settings"):
        sent = [[{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]]
        torch.distributed.broadcast_object_list(sent, **source)
        for group, settings in zip(optimizer.param_groups, sent[0]):
            group.update(settings)
    if _wants("state"):
        states = [optimizer.state_dict()["state"]]
        torch.distributed.broadcast_object_list(states, **source)
        optimizer.load_state_dict({**optimizer.state_dict(), "state": states[0]})
    if _wants("gradients"):
        for parameter in parameters:
            if parameter.grad is not None:
                torch.distributed.broadcast(parameter.grad, **source)
