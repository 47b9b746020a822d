"""What recording a call costs (PDSIM_RECORD): prints microseconds per call. One rank, on Gloo, so that the calls themselves are short.

    PYTHONPATH=tools/guest python3 tests/bench/recorded_calls.py
"""

import os
import subprocess
import sys
import tempfile
import time

calls, rounds = 500, 40


def measure() -> float:
    import torch
    import torch.distributed as dist

    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
        tensor = torch.ones(1)
        times = []
        for _ in range(rounds):
            begin = time.thread_time()  # of this rank's own thread: Gloo's and the machine's others do not count
            for _ in range(calls):
                dist.all_reduce(tensor)
            times.append((time.thread_time() - begin) / calls * 1e6)
    return min(times)  # what else the machine does only adds


def child(folder: str) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PDSIM_RECORD"}
    if folder:
        environment["PDSIM_RECORD"] = folder
    done = subprocess.run([sys.executable, __file__, "measure"], env=environment, stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        print(measure())
    else:
        with tempfile.TemporaryDirectory() as records:
            without, beside = child(""), child(records)
        print(f"all_reduce alone {without:.1f} us, recorded {beside:.1f} us: a recorded call costs {beside - without:.1f} us")
