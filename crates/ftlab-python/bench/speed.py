"""What the package costs: its runs against those of the program, requests stepped by hand, policies in Python.

    python bench/speed.py PROGRAM     # the program of the same build, such as target/dist/ftlab

Times are of the processor, the least of several rounds, whose parts take turns. Ratios are what to trust.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable

import ftlab as fl
import numpy as np

ROUNDS = 5
DEVICE = "plain-32g"
WORKLOAD = "mixed-70-30-zipf"
REQUESTS = 10_000_000
#: The measured phase of that workload, longer.
LONG = f"""
name = "long"
[[phase]]
name = "mixed"
reads = "70%"
writes = "30%"
size = "4KiB"
address = {{ kind = "zipf", theta = 0.99 }}
arrivals = {{ kind = "closed", queue_depth = 32 }}
requests = {REQUESTS}
"""
STEP = 1_000


class Fewest(fl.VictimPolicy):
    def choose(self, view: fl.VictimView, /) -> int:
        return int(np.argmin(view.valid))


class InOrder(fl.SchedulerPolicy):
    def rank(self, kind: str, origin: str, die: int, at_ns: int, sequence: int, /) -> int:
        return sequence


class FirstStream(fl.StreamsPolicy):
    def stream(self, page: int, host_stream: int, /) -> int:
        return 0


class Lru(fl.WriteBufferPolicy):
    def __init__(self) -> None:
        self.pages: OrderedDict[int, None] = OrderedDict()

    def inserted(self, page: int, /) -> None:
        self.pages[page] = None

    def written(self, page: int, /) -> None:
        self.pages.move_to_end(page)

    def read(self, page: int, /) -> None:
        self.pages.move_to_end(page)

    def removed(self, page: int, /) -> None:
        del self.pages[page]

    def choose(self) -> int | None:
        return next(iter(self.pages), None)


def spent(call: Callable[[], object]) -> float:
    """Seconds of the processor that a call takes, those of its child processes included."""

    def now() -> float:
        each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in each)

    begun = now()
    call()
    return now() - begun


def least(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time of each call; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(spent(call))
    return {name: min(each) for name, each in times.items()}


def of_program(program: str) -> None:
    """A run of the package against one of the program."""
    load = fl.workload(LONG)
    drive = fl.device(DEVICE)
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(LONG)
        file.flush()
        command = [program, "run", "--device", DEVICE, "--workload", file.name, "--precondition", "fill", "--no-output"]
        found = least(
            {
                "program": lambda: subprocess.run(command, check=True, capture_output=True),
                "package": lambda: fl.run(drive, load, precondition="fill", progress=False),
            }
        )
    print(f"fl.run of {REQUESTS:,} requests against the program: {found['package'] / found['program']:.3f} ({found['program']:.2f} s)")


def stepping() -> None:
    """Requests a second of a full device in batches, each submitted and its completions taken."""
    drive = fl.age(fl.device(DEVICE), precondition="fill")
    batches = 1_000
    rng = np.random.default_rng(1)
    columns = {
        "op": rng.integers(0, 2, STEP, dtype=np.uint8),
        "lba": rng.integers(0, 1 << 20, STEP, dtype=np.uint64) * 8,
        "sectors": np.full(STEP, 8, dtype=np.uint32),
    }
    rates: list[float] = []
    for _ in range(ROUNDS):
        with fl.open(drive) as simulator:
            begun = time.process_time()
            for _ in range(batches):
                simulator.submit(columns)
                simulator.advance(by="100ms")
            rates.append(simulator.submitted / (time.process_time() - begun))
    print(f"stepping in batches of {STEP:,}: {max(rates) / 1e6:.2f} million requests a second")


def policies() -> None:
    """The price of a policy in Python, against the same decision by one of the simulator."""
    prices = {
        "victim": ("randwrite-4k", {}, {"gc": "greedy"}, {"gc": Fewest()}),
        "scheduler": (WORKLOAD, {}, {"scheduler": "fifo"}, {"scheduler": InOrder()}),
        "stream": (WORKLOAD, {}, {"streams": "single"}, {"streams": FirstStream()}),
        "write buffer": (WORKLOAD, {"cache": "lru"}, {"cache": "lru"}, {"cache": Lru()}),
    }
    for name, (workload, base, own, python) in prices.items():
        load = fl.workload(workload, requests=1_000_000)
        aged = fl.age(fl.device(DEVICE, **base))
        found = least(
            {
                "own": lambda device=aged.but(**own), load=load: fl.run(device, load, progress=False),
                "python": lambda device=aged.but(**python), load=load: fl.run(device, load, progress=False),
            }
        )
        print(f"a {name} policy in Python, on an aged device: {found['python'] / found['own']:.2f} of the time")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    of_program(sys.argv[1])
    stepping()
    policies()
