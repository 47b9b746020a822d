# ranks: 2
# finds: nothing
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.cuda.amp import GradScaler, autocast
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
device = torch.device("cuda", local_rank)
torch.manual_seed(1)
torch.cuda.manual_seed_all(1)

net = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 4)).to(device)
net = DDP(net, device_ids=[local_rank], output_device=local_rank)
opt = torch.optim.AdamW(net.parameters(), lr=0.001)
scaler = GradScaler()
copying = torch.cuda.Stream()
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
for step in range(3):
    with torch.cuda.stream(copying):
        data = torch.randn(6, 8).pin_memory().to(device, non_blocking=True)
        target = torch.randint(4, (6,)).to(device)
    torch.cuda.current_stream().wait_stream(copying)
    data.record_stream(torch.cuda.current_stream())
    with autocast():
        output = net(data)
        loss = nn.functional.cross_entropy(output, target)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.1)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad(set_to_none=True)
end.record()
torch.cuda.synchronize()
assert start.elapsed_time(end) >= 0
half = torch.ones(2, 2, device=device).half()
dist.all_reduce(half @ half)
assert scaler.get_scale() == 65536.0, scaler.get_scale()
print(f"{torch.cuda.get_device_name(device)}: {torch.cuda.memory_allocated() / 2**20} MB, {torch.cuda.max_memory_allocated()}")
torch.cuda.empty_cache()
assert data.is_cuda and str(data.device) == f"cuda:{local_rank}" and "device='cuda:" in repr(data)
dist.destroy_process_group()
