"""ftlab: a laboratory for flash translation layers.

::

    import ftlab as fl

    drive = fl.device("tlc-32g", over_provisioning="28%", gc=fl.gc.CostBenefit())
    aged = fl.age(drive, seed=1)
    run = fl.run(aged, fl.workload("mixed-70-30-zipf", requests=500_000), seed=7)
    run["read.latency.p99"]
"""

from __future__ import annotations

from typing import Any

from ftlab import _ftlab, inspection, plot, policies
from ftlab._calibrate import Calibration, Determined, Fit, Measurement, calibrate
from ftlab._cluster import Local, Ray
from ftlab._compare import Comparison, compare
from ftlab._device import Device, age, cache_folder, device, load
from ftlab._errors import ConfigError, ExperimentError, FileError, FtlabError, UsageError
from ftlab._load import Load, fio, requests, trace, workload
from ftlab._outside import (
    SchedulerPolicy,
    StreamsPolicy,
    VictimPolicy,
    VictimView,
    WriteBufferPolicy,
)
from ftlab._paper import figure
from ftlab._policy import Policy
from ftlab._run import Run, Summary, run
from ftlab._search import Between, Found, Trial, between, search
from ftlab._simulator import Simulator, open
from ftlab._sweep import Span, Sweep, span, sweep
from ftlab._table import Table
from ftlab._values import catalog as _catalog
from ftlab._values import short_names as _short_names
from ftlab.inspection import Inspection, LoadComparison, compare_loads, inspect
from ftlab.policies import (
    arbitration,
    bus,
    cache,
    cost,
    endurance,
    gc,
    hints,
    mapping,
    merge,
    pacing,
    placement,
    read_cache,
    recovery,
    scheduler,
    slc_cache,
    streams,
    timing,
    wear,
)

__version__ = _ftlab.__version__

__all__ = [
    "Between",
    "Calibration",
    "Comparison",
    "ConfigError",
    "Determined",
    "Device",
    "ExperimentError",
    "FileError",
    "Fit",
    "Found",
    "FtlabError",
    "Inspection",
    "Load",
    "LoadComparison",
    "Local",
    "Measurement",
    "Policy",
    "Ray",
    "Run",
    "SchedulerPolicy",
    "Simulator",
    "Span",
    "StreamsPolicy",
    "Summary",
    "Sweep",
    "Table",
    "Trial",
    "UsageError",
    "VictimPolicy",
    "VictimView",
    "WriteBufferPolicy",
    "age",
    "arbitration",
    "between",
    "bus",
    "cache",
    "cache_folder",
    "calibrate",
    "compare",
    "compare_loads",
    "cost",
    "device",
    "devices",
    "endurance",
    "explain",
    "figure",
    "fio",
    "formats",
    "gc",
    "hints",
    "inspect",
    "inspection",
    "load",
    "mapping",
    "merge",
    "open",
    "options",
    "pacing",
    "placement",
    "plot",
    "policies",
    "policies_listed",
    "read_cache",
    "recovery",
    "requests",
    "run",
    "scheduler",
    "search",
    "slc_cache",
    "span",
    "streams",
    "sweep",
    "timing",
    "trace",
    "wear",
    "workload",
    "workloads",
]


def devices() -> list[dict[str, Any]]:
    """The built-in devices, a dict for each."""
    return _catalog("devices")


def workloads() -> list[dict[str, Any]]:
    """The built-in workloads, a dict for each."""
    return _catalog("workloads")


def formats() -> list[dict[str, Any]]:
    """The trace formats, a dict for each."""
    return _catalog("formats")


def options() -> list[dict[str, Any]]:
    """All options of a device, with meaning, unit, default, range and source."""
    return _catalog("options")


def policies_listed() -> list[dict[str, Any]]:
    """The policies, by the option that names them."""
    return _catalog("policies")


def explain(path: str) -> str:
    """What an option, a section or a policy means, as ``ftlab explain`` prints it."""
    return _ftlab.explain(_short_names().get(path, path))
