"""What CI runs: all checks that need no guest, each in brief. What needs a mount is left out where there can be none."""

import sys
import time

from common import Failure, Missing, end_process, need, say, start, undisturbed
from drive import MAKE, need_mounts
from servers import HERE

# A drive that lies is found at the first or second cut, so half a minute is long.
ANYWHERE = [
    ["tools", "--megabytes", "32"],
    ["hostile"],
    ["soak", "--minutes", "0.2", "--cut-every", "3", "--how", "kill", "--how", "ctl"],
    ["soak", "--minutes", "0.5", "--cut-every", "2", "--lying"],
]
MOUNTED = [["sqlite", "--cuts", "5"], ["fs", "--cuts", "5"]]


def arguments(parser):
    parser.epilog = "Options of the server, and --seed and --scratch, are passed on to each check."


def passed_on():
    """Returns the arguments that each check gets, but for the name of this subcommand."""
    given = sys.argv[1:]
    given.remove("quick")
    return given


def carry_out(check, seed):
    """Runs a check as a program of its own; returns whether it passed."""
    command = [sys.executable, HERE, *check, "--seed", seed, *passed_on()]
    with undisturbed():
        process = start(command)
    try:
        return process.wait() == 0
    finally:
        end_process(process)


def main(given):
    need("fio", "nbdcopy", "nbdinfo", "qemu-img", "qemu-io")
    checks = list(ANYWHERE)
    try:
        for kind in MAKE:
            need_mounts(kind)
        checks += MOUNTED
    except Missing as missing:
        say(f"no cuts under file systems and SQLite: {missing}")
    failed = []
    for check in checks:
        began = time.monotonic()
        passed = carry_out(check, given.seed)
        say(f"== {' '.join(check)}: {'passed' if passed else 'FAILED'}, {time.monotonic() - began:.0f} s")
        if not passed:
            failed.append(check[0])
    if failed:
        raise Failure(f"{len(failed)} of {len(checks)} checks: {', '.join(failed)}")
