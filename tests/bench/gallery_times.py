"""What each script of tests/guests/gallery takes with four ranks, from the start of Python to the report: seconds and processor seconds.

    python3 tests/bench/gallery_times.py build/release/tools/pdsim [PYTHON [FOLDER]]
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Tuple

ranks = "4"
gallery = Path(__file__).parent.parent / "guests" / "gallery"


def used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def measured(pdsim: str, python: str, script: Path) -> Tuple[float, float, int]:
    before, began = used(), time.monotonic()
    starts_its_ranks = "# ranks:" not in script.read_text()
    count = [] if starts_its_ranks else ["-n", ranks]
    done = subprocess.run([pdsim, "run", *count, "--", python, str(script)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began, used() - before, done.returncode


def main() -> None:
    pdsim, python, folder = [*sys.argv[1:], *["python3", ""][len(sys.argv) - 2 :]]
    slowest = 0.0
    for script in sorted((gallery / folder).rglob("*.py")):
        if script.parent.name == "torch2" and folder != "torch2":
            continue
        seconds, processor, status = measured(pdsim, python, script)
        slowest = max(slowest, processor)
        print(f"{script.parent.name}/{script.stem:36} {seconds:6.1f} s {processor:6.1f} s of processor time, status {status}", flush=True)
    print(f"at most {slowest:.1f} s of processor time; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
