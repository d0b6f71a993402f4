"""Fits a few options of a device to numbers that were measured on a drive, and predicts the others: drive.py DRIVE.toml

The file names the device (a preset, or what `ftlab device from-datasheet` or `ftlab device scale` wrote), a range for
each unknown option, and numbers by load: those to fit, and those that are kept back. README.md says more.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

import ftlab as fl

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def measurements(drive: dict[str, Any], kind: str, folder: Path) -> list[fl.Measurement]:
    """The loads of a kind, ``fit`` or ``predict``, with their numbers under the keys of a run."""
    keys: dict[str, str] = drive["keys"]
    found = []
    for one in drive.get(kind, []):
        numbers = {keys[name]: value * 1000 if "latency" in keys[name] else value for name, value in one["numbers"].items()}
        found.append(fl.Measurement(fl.workload(folder / one["load"]), numbers, name=one["name"]))
    return found


def show(title: str, aged: fl.Device, loads: list[fl.Measurement], names: dict[str, str], seeds: range) -> None:
    """Prints each number: measured on the drive, and simulated with each seed."""
    print(f"\n{title}", flush=True)
    sizes = []
    for one in loads:
        runs = [fl.run(aged, one.load, seed=seed) for seed in seeds]
        for key, measured in one.numbers.items():
            unit = 1000 if "latency" in key else 1
            values = [run[key] for run in runs]
            if any(value is None for value in values):
                print(f"  {one.label}, {names[key]}: measured {measured / unit:g}, simulated unknown")
                continue
            off = [value / measured - 1 for value in values]
            sizes.append(abs(off[0]))
            told = ", ".join(f"{value / unit:.6g} ({by:+.0%})" for value, by in zip(values, off, strict=True))
            print(f"  {one.label}, {names[key]}: measured {measured / unit:g}, simulated {told}", flush=True)
    if sizes:
        print(f"  median error of the first seed {statistics.median(sizes):.1%} of {len(sizes)} numbers")


def main() -> None:
    """Fits, says what is determined, and predicts."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("drive", type=Path)
    asked.add_argument("--trials", type=int, default=40, help="trials of each start")
    asked.add_argument("--starts", type=int, default=3)
    asked.add_argument("--image", type=Path, help="an image of the aged device, seed 1, with the options of `set`; else it is aged here")
    asked.add_argument("--threads", type=int, default=None)
    asked.add_argument("--seeds", type=int, default=1, help="seeds of what is printed; the fit has one")
    asked.add_argument("--fit-only", action="store_true", help="predict nothing")
    asked.add_argument("--no-fit", action="store_true", help="show what the device does as it is")
    given = asked.parse_args()
    drive = tomllib.loads(given.drive.read_text())
    folder = given.drive.parent
    file = folder / drive["device"]
    device = fl.device(file if file.exists() else drive["device"]).but(set=drive.get("set", {}))
    # What is unknown must not change the ageing: so one device, aged once, serves all trials.
    steps = drive.get("precondition", "fill,age")
    aged = fl.load(given.image) if given.image else fl.age(device, precondition=steps, seed=1)
    fit, predict = (measurements(drive, kind, folder) for kind in ("fit", "predict"))
    names = {key: name for name, key in drive["keys"].items()}
    seeds = range(2, 2 + given.seeds)
    if not given.no_fit:
        space = {option: fl.between(*ends) for option, ends in drive["unknown"].items()}
        found = fl.calibrate(fit, aged, space, trials=given.trials, starts=given.starts, seed=2, on=fl.Local(given.threads), progress=False)
        print("Starts, with what is left of each (0.1 is about 10 % a number)")
        for one in found.fits:
            print(f"  {one.distance:.4f}: " + ", ".join(f"{name} {value}" for name, value in one.values.items()))
        print("\nParameters")
        for parameter in found.parameters:
            print(f"  {parameter}")
        aged = found.device
    show("Fitted" if not given.no_fit else "Not fitted: numbers that a fit would use", aged, fit, names, seeds)
    if not given.fit_only:
        show("Predicted", aged, predict, names, seeds)


if __name__ == "__main__":
    main()
