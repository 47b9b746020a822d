# ranks: 2
# finds: nothing
# when: slow
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


class Block(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.attention(self.norm(x)).split(c, dim=2)
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in (q, k, v))
        weights = (q @ k.transpose(-2, -1)) / (k.size(-1) ** 0.5)
        weights = F.softmax(weights.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf")), dim=-1)
        return x + self.out((weights @ v).transpose(1, 2).contiguous().view(b, t, c))


class GPT(nn.Module):
    def __init__(self, tokens=20, width=16, length=8):
        super().__init__()
        self.tokens, self.places = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, 2, length) for _ in range(2)])
        self.head = nn.Linear(width, tokens, bias=False)

    def forward(self, idx, targets=None):
        places = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device).unsqueeze(0)
        x = self.tokens(idx) + self.places(places)
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


ddp_local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group(backend="nccl")
device = f"cuda:{ddp_local_rank}"
torch.cuda.set_device(device)
torch.manual_seed(1337 + dist.get_rank())
torch.backends.cuda.matmul.allow_tf32 = True
model = GPT().to(device)
model = DDP(model, device_ids=[ddp_local_rank])
scaler = torch.cuda.amp.GradScaler(enabled=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95))
accumulate = 2
data = torch.randint(20, (100,))
for step in range(2):
    for micro in range(accumulate):
        model.require_backward_grad_sync = micro == accumulate - 1
        at = torch.randint(90, (4,))
        x = torch.stack([data[i : i + 8] for i in at]).pin_memory().to(device, non_blocking=True)
        y = torch.stack([data[i + 1 : i + 9] for i in at]).pin_memory().to(device, non_blocking=True)
        with torch.amp.autocast(device_type="cuda", dtype=torch.float16):
            logits, loss = model(x, y)
        scaler.scale(loss / accumulate).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    mean = loss.detach().clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    losses = [None] * dist.get_world_size()
    dist.all_gather_object(losses, mean.item())
    assert len(set(losses)) == 1
dist.destroy_process_group()
