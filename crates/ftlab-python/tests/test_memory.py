"""Memory stays flat over steps, runs and simulators.

Each case is measured in an interpreter of its own, so that nothing else grows meanwhile. After a warm-up the resident set
was seen to grow by up to 94 kB, no more with eight times the repetitions. The bound is five times that: half a byte kept of
each of a million requests, 2.5 kB of each run, or 1.3 kB of each simulator would exceed it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

Child = Callable[[str], "subprocess.CompletedProcess[str]"]

BOUND = 500_000

MEASURED = """
import ctypes, gc, resource
import numpy as np
import ftlab as fl

device = fl.device("tiny")
load = fl.workload("mixed-70-30-zipf", requests=1000)
random = np.random.default_rng(1)


def batch():
    return {{
        "op": random.integers(0, 2, 1000, dtype=np.uint8),
        "offset": random.integers(0, device.capacity_bytes // 4096, 1000, dtype=np.uint64) * 4096,
        "size": np.full(1000, 4096, np.uint32),
    }}


def resident():
    gc.collect()
    # Freed memory goes back, so that what is seen is in use; a C library other than GNU's can't be asked.
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


{before}
for number in range({warm} + {count}):
    if number == {warm}:
        warm = resident()
    {work}
print(resident() - warm)
"""

#: What comes first, what is repeated, how often to warm up, and how often while it is measured.
CASES = {
    "a million steps": (
        "simulator = fl.open(device)",
        "simulator.submit(batch()); assert len(simulator.advance()) == 1000",
        200,
        1000,
    ),
    "runs": ("", "fl.run(device, load, seed=number)", 30, 200),
    "runs with requests": ("", "fl.run(device, load, seed=number, records=True).requests.to_numpy()", 30, 200),
    "simulators that are dropped": ("", "fl.open(device).submit(batch())", 100, 400),
    "simulators that are closed": (
        "",
        "simulator = fl.open(device); simulator.submit(batch()); simulator.advance(); simulator.close()",
        100,
        400,
    ),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the resident set is read as Linux tells it")
@pytest.mark.parametrize("case", CASES)
def test_memory_stays_flat(child: Child, case: str) -> None:
    before, work, warm, count = CASES[case]
    done = child(MEASURED.format(before=before, work=work, warm=warm, count=count))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < BOUND
