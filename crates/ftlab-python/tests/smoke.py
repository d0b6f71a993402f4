"""A short run with an installed package, which has NumPy alone: `./x test --all` runs it with a wheel."""

import ftlab as fl

aged = fl.age(fl.device("tiny"), cache=False)
run = fl.run(aged, fl.workload("mixed-70-30-zipf", requests=2000), seed=7)
assert run["read.latency.mean"] > 0
assert len(run.latencies["latency_ns"]) == len(run.latencies)
with fl.open(aged) as simulator:
    simulator.submit({"op": ["read"], "lba": [0], "sectors": [8]})
    assert len(simulator.advance()) == 1
print(f"ftlab {fl.__version__}: {run!r}")
