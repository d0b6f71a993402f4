"""A served drive against `ftlab run`: what clients did is recorded, and replayed on the same device from the same start.

Both must then have done the same: exactly what the host wrote and read, and nearly the same flash pages. The load makes
a small drive collect garbage, whose amount depends on the order and the times of requests.
"""

import copy
import json
import tempfile
from pathlib import Path

from common import Failure, run, say
from drive import Drive
from fio import fio
from servers import SMALL

CLOCKS = ("simulated", "wall")
STARTS = ("new", "image")

# A load that makes less garbage than this shows nothing.
LEAST_AMPLIFICATION = 2.0


def arguments(parser):
    parser.add_argument("--clock", action="append", choices=CLOCKS, help="default: each in turn")
    parser.add_argument("--start", action="append", choices=STARTS, help="a new drive, or an aged image; default: each")
    parser.add_argument("--megabytes", type=int, default=300, help="random writes that are recorded")
    parser.add_argument("--bound", type=float, default=1.0, metavar="PERCENT", help="by how much flash pages may differ")
    parser.add_argument(
        "--other", action="append", default=[], metavar="KEY=VALUE",
        help="an option that only the replay has; a check that sees anything then fails",
    )  # fmt: skip


def served_with(given, *serve):
    """Returns the arguments of a drive with more arguments of ftlab serve."""
    given = copy.copy(given)
    given.serve = [*given.serve, *map(str, serve)]
    return given


def fill(drive, given):
    fio(drive, given, "--rw=write", "--bs=64k", "--iodepth=8", "--size=100%")


def load(drive, given):
    """Writes at random with flushes, then reads among writes."""
    size = f"--io_size={given.megabytes}m"
    fio(drive, given, "--rw=randwrite", "--norandommap", "--bs=4k", "--iodepth=32", "--size=100%", "--fsync=1024", size)
    size = f"--io_size={given.megabytes // 3}m"
    fio(drive, given, "--rw=randrw", "--rwmixread=70", "--norandommap", "--bs=4k", "--iodepth=16", "--size=100%", size)


def aged(given, folder):
    """Saves the image of a drive that was filled and written at random; returns its path."""
    image = folder / "aged.ftlab"
    with Drive(served_with(given, "--clock", "simulated")) as drive:
        fill(drive, given)
        load(drive, given)
        drive.server.control(drive.socket, "save", "-o", image)
    return image


def difference(given, clock, start, folder):
    """Records a served drive and replays that; returns the figures of both."""
    trace, result = folder / "requests.txt", folder / "result"
    begins = ["--image", aged(given, folder)] if start == "image" else []
    with Drive(served_with(given, "--clock", clock, "--record", trace, *begins)) as drive:
        if not begins:
            fill(drive, given)
        load(drive, given)
        statistics, server = drive.statistics(), drive.server
    device = begins or ["--device", given.device]
    others = [word for setting in given.other for word in ("--set", setting)]
    command = [server.program(), "run", *device, *server.settings(), *others]
    run(*command, "--trace", trace, "-o", result, "--quiet", limit=900)
    report = json.loads((result / "result.json").read_text())["report"]
    page_bytes = statistics["device"]["page_bytes"]
    return of_served(statistics), of_run(report, page_bytes)


def figures(written, read, programs, page_bytes, erases, latencies):
    return {
        "host bytes written": written,
        "host bytes read": read,
        "flash pages programmed": programs,
        "write amplification": programs * page_bytes / written,
        "blocks erased": erases,
        "read latency, mean, us": latencies[0] / 1000,
        "write latency, mean, us": latencies[1] / 1000,
    }


def of_served(statistics):
    host, flash = statistics["host"], statistics["flash"]
    latencies = [statistics["latencies"][op]["simulated"] for op in ("read", "write")]
    means = [latency["sum_ns"] / latency["count"] for latency in latencies]
    programs = sum(origin["pages"] for origin in flash["programs"])
    page = statistics["device"]["page_bytes"]
    return figures(host["written_bytes"], host["read_bytes"], programs, page, flash["erases"], means)


def of_run(report, page_bytes):
    host, commands = report["host"], report["flash_commands"].values()
    programs, erases = (sum(of[kind] for of in commands) for kind in ("programs", "erases"))
    means = [report["host"][op]["latency_ns"]["mean"] for op in ("read", "write")]
    return figures(host["write"]["bytes"], host["read"]["bytes"], programs, page_bytes, erases, means)


def compare(served, replayed, bound):
    """Prints both; raises Failure where they differ by more than they may. Latencies are only told."""
    say(f"{'':28}{'served':>16}{'replayed':>16}{'difference':>12}")
    wrong = []
    for name, here in served.items():
        there = replayed[name]
        change = 100 * (there / here - 1)
        say(f"{name:28}{here:16.6g}{there:16.6g}{change:11.2f} %")
        allowed = 0 if name.startswith("host") else bound
        if "latency" not in name and abs(change) > allowed:
            wrong.append(name)
    if served["write amplification"] < LEAST_AMPLIFICATION:
        raise Failure("the drive collected too little garbage to show anything; --megabytes")
    if wrong:
        raise Failure(f"served and replayed differ: {', '.join(wrong)}")


def main(given):
    given.set = given.set or list(SMALL)
    for start in given.start or STARTS:
        for clock in given.clock or CLOCKS:
            say(f"{start}, clock {clock}:")
            with tempfile.TemporaryDirectory(prefix="replay-", dir=given.scratch) as folder:
                compare(*difference(given, clock, start, Path(folder)), given.bound)
