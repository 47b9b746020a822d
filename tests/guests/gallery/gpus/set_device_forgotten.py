# ranks: 2
# finds: error[device-shared]
# line: dist.all_reduce(loss)
# says: Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 0
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
loss = torch.tensor([float(dist.get_rank())]).cuda()
dist.all_reduce(loss)
print(loss.item())
