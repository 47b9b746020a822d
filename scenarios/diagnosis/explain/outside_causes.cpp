#include "scenarios/diagnosis/explain/outside_causes.h"

#include <algorithm>

namespace pdsim::scenarios {
namespace {

constexpr OutsideCause outside_cause_rows[] = {
    {"devices-differ", "one operation was given tensors on different devices",
     R"(A layer and its input, or a prediction and its target, are on two devices. The rank raises before it makes its next call, and
the other ranks wait for it. Often a tensor is created without `device=`, or a checkpoint is loaded without map_location and
puts its tensors on cuda:0.

Fix: move both to one device, torch.device("cuda", local_rank); call torch.cuda.set_device(local_rank) first.)"},
    {"gpu-missing", "a rank asked for a GPU that it does not see",
     R"(A process sees only the GPUs in CUDA_VISIBLE_DEVICES, numbered from 0. The index that it asked for is not among them, or there is
none: more processes than GPUs on this host, the global rank used in place of LOCAL_RANK, a launcher that gives each process one
GPU (which is then cuda:0), or a container started without GPUs.

Fix: print torch.cuda.device_count() and CUDA_VISIBLE_DEVICES on each rank; start at most one process per GPU
(--nproc-per-node), and use torch.cuda.set_device(int(os.environ["LOCAL_RANK"])).)"},
    {"gpu-peer-access", "two GPUs cannot read each other's memory",
     R"(NCCL copies directly between GPUs where it can. These two cannot: the driver, the virtual machine or the board does not allow it.

Fix: NCCL_P2P_DISABLE=1 makes NCCL copy through the host's memory, which is slower; `nvidia-smi topo -m` shows the links.)"},
    {"gradient-layout", "a gradient lies in memory in another order than its bucket",
     R"(DDP keeps gradients in flat buckets. A gradient with other strides (of a transposed or channels-last parameter) is copied element by
element. This is a warning: the results are right, and the step may be slower.

Fix: none is needed. To avoid the copy, make the parameter contiguous before the model is wrapped.)"},
    {"host-unreachable", "an address of another host does not answer",
     R"(Nothing refused the connection: packets to this address get no answer, or the network has no way to it. A firewall drops them, the
address is of another network or of a container, or the host is down. Whether a program is listening there is not known.

Fix: try `nc -vz HOST PORT` from this host to the other; open the ports between the hosts; set MASTER_ADDR to an address that all hosts
reach, and NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME to the interface of that network.)"},
    {"interface-missing", "the library found no network interface to use on this host",
     R"(NCCL and Gloo publish the address of one interface to the other ranks. The name in NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME is not
that of an interface of this host, or, without GLOO_SOCKET_IFNAME, the host's name does not resolve to one of its addresses.
Names often differ between hosts (eth0, ens5, enp5s0) and in containers.

Fix: `ip -br addr` lists the interfaces of a host; set the variable to one that exists on every host (NCCL takes a prefix, such as
`en`), or unset it; for Gloo repair the host's line in /etc/hosts.)"},
    {"job-cancelled", "the scheduler ended the job",
     R"(The scheduler sent signals to all processes: the job's time was over, or somebody cancelled it. No rank is to blame. A job that hung
until then looks the same: check when it last made progress.

Fix: ask for more time (sbatch --time), or save a checkpoint before the end (--signal sends one in advance) and continue in the next job.)"},
    {"lazy-parameters", "a lazy layer does not know its shapes yet",
     R"(The parameters of LazyLinear and its kin get their shapes in the first forward. DistributedDataParallel needs the shapes when it is
constructed.

Fix: run one forward with an example input on every rank before wrapping the model.)"},
    {"not-destroyed", "a process ended without destroying its process group",
     R"(PyTorch warns about it on the first rank of each host. Usually it is harmless: the process ends anyway. If it is printed while the job
should still run, this process ended early, and its first error is the cause.

Fix: call torch.distributed.destroy_process_group() at the end of the program, on every rank, after the last collective.)"},
    {"not-in-build", "this build of PyTorch lacks a part that the program asked for",
     R"(PyTorch was built without the library: the build for CPUs, Windows and macOS has no NCCL, and some builds for Windows no libuv. This
has nothing to do with the other ranks.

Fix: install the build for CUDA, or use another backend: init_process_group("gloo") works everywhere. The text names the part.)"},
    {"rendezvous-closed", "a node joined a job that is over or closed",
     R"(torchrun's nodes meet under the name --rdzv-id. When the workers of a run have ended, or its agents gave up, the rendezvous is
closed, and later nodes are rejected: this node started or restarted after the others had ended, or the id is of an earlier run whose
store is still there.

Fix: end the agents of all nodes, and start all of them again with a new --rdzv-id. The log of the node that ended first has the reason.)"},
    {"scaler-half-precision", "a GradScaler was given gradients in half precision",
     R"(The parameters were converted with model.half(), so their gradients are f16, and the scaler refuses to unscale them. No collective is
involved; a rank that raises alone leaves the others waiting.

Fix: keep the parameters in f32 and let torch.autocast choose f16; or use bf16 without a scaler.)"},
    {"shared-memory-small", "/dev/shm is too small for NCCL",
     R"(Ranks of one host exchange data through files in /dev/shm, some MB for each pair of them. A container has 64 MB there unless it is
started with more; files of killed jobs (/dev/shm/nccl-*) stay and take space.

Fix: docker run --shm-size=8g or --ipc=host; in Kubernetes an emptyDir with `medium: Memory` at /dev/shm; remove old files; `df -h /dev/shm`
shows the space. NCCL_SHM_DISABLE=1 avoids it and is slower.)"},
};

}  // namespace

std::span<const OutsideCause> outside_causes() { return outside_cause_rows; }

const OutsideCause* outside_cause_named(std::string_view name) {
  const auto rows = outside_causes();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const OutsideCause& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace pdsim::scenarios
