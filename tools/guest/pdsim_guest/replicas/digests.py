"""CRC-32 over the bytes of a tensor: of all, or of one block in so many and the last one."""

import zlib

import torch

from ..memory import is_on_gpu, packed, view


def of_memory(memory: memoryview, block: int, every: int, value: int = 0) -> int:
    if every == 1 or memory.nbytes <= block:
        return zlib.crc32(memory, value)
    for at in range(0, memory.nbytes, block * every):
        value = zlib.crc32(memory[at : at + block], value)
    return zlib.crc32(memory[-block:], value)


def of_tensor(tensor: torch.Tensor, block: int, every: int, value: int = 0) -> int:
    """Of a tensor on a GPU only the blocks are copied; that waits for the GPU."""
    if not is_on_gpu(tensor):
        held = packed(tensor)
        return of_memory(view(held), block, every, value)
    flat = tensor.detach().contiguous().view(-1).view(torch.uint8)
    if every > 1 and flat.numel() > block:
        parts = [flat[at : at + block] for at in range(0, flat.numel(), block * every)]
        flat = torch.cat([*parts, flat[-block:]])
    held = flat.cpu()
    return zlib.crc32(view(held), value)
