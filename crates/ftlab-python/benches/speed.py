"""What Python costs: a run against the program's, steps in batches, and the import.

    speed.py PROGRAM [--requests N] [--turns N]

Compare builds of the same profile: `cargo build --profile dist -p ftlab-cli` and `./x python`. Program and package take
turns, so that other load on the machine meets both; the least time of each counts.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ftlab as fl

#: The device and the workload of runs.
DEVICE, WORKLOAD = "tlc-32g", "mixed-70-30-zipf"
BATCH = 1_000


def seconds(work: Callable[[], object]) -> float:
    """Processor time that something takes, that of child processes included."""
    before = processor_time()
    work()
    return processor_time() - before


def processor_time() -> float:
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def runs(program: str, requests: int, turns: int) -> dict[str, Any]:
    """The same run by both."""
    theirs, ours = [], []
    device, load = fl.device(DEVICE), fl.workload(WORKLOAD, requests=requests)
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", "--device", DEVICE, "--workload", WORKLOAD, "--requests", str(requests)]
        for turn in range(turns):
            result = os.path.join(folder, str(turn))
            theirs.append(seconds(lambda: subprocess.run([*command, "-o", result], check=True, capture_output=True)))  # noqa: B023
            ours.append(seconds(lambda: fl.run(device, load, progress=False)))
    return {"program_s": min(theirs), "python_s": min(ours), "python_to_program": min(ours) / min(theirs)}


def steps(device: fl.Device, op: int, requests: int, turns: int) -> dict[str, Any]:
    """Batches of requests, each submitted and advanced to its end, against the same requests in one run."""
    random = np.random.default_rng(1)
    pages = device.capacity_bytes // 4096
    batches = [
        {
            "op": np.full(BATCH, op, np.uint8),
            "lba": random.integers(0, pages, BATCH).astype(np.uint64) * 8,
            "sectors": np.full(BATCH, 8, np.uint32),
        }
        for _ in range(requests // BATCH)
    ]

    def step() -> None:
        with fl.open(device) as simulator:
            for batch in batches:
                simulator.submit(batch)
                done = simulator.advance()
                done["latency_ns"].max()

    whole = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    load = fl.requests(whole, queue_depth=min(BATCH, 256))
    opened = min(seconds(lambda: fl.open(device).close()) for _ in range(turns))
    stepped = min(seconds(step) for _ in range(turns)) - opened
    at_once = min(seconds(lambda: fl.run(device, load, progress=False)) for _ in range(turns)) - opened
    return {"requests_per_s": requests / stepped, "at_once_per_s": requests / at_once}


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("program")
    given.add_argument("--requests", type=int, default=2_000_000)
    given.add_argument("--turns", type=int, default=5)
    options = given.parse_args()
    filled = fl.age(fl.device(DEVICE, over_provisioning="28%"), precondition="fill", cache=False)
    found = {
        "import_s": min(
            seconds(lambda: subprocess.run([sys.executable, "-c", "import ftlab"], check=True))
            - seconds(lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True))
            for _ in range(options.turns)
        ),
        "steps, reads of an empty device": steps(fl.device(DEVICE), 0, options.requests, options.turns),
        "steps, reads of a full device": steps(filled, 0, options.requests, options.turns),
        "steps, writes within the buffer": steps(
            fl.device(DEVICE, cache_capacity="1GiB"), 1, options.requests // 20, options.turns
        ),
        "runs": runs(options.program, options.requests, options.turns),
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
