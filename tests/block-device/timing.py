"""How honest the clocks `wall` and `scaled` are: how late answers leave, and what a client sees of the device.

fio runs a job on a served drive, and ftlab run the same job on the same device alone, without a server, a socket or a
client that need time of their own. Where the two differ, the clock is not honest any more.
"""

import json

from common import run, say
from drive import Drive
from fio import fio

# Devices with fast, middling and slow reads.
DEVICES = ("slc-240g", "tlc-1t", "qlc-1t")
LOADS = [("randread", depth) for depth in (1, 4, 16, 32)] + [("randwrite", depth) for depth in (1, 32)]
HEAD = (
    f"{'device':11} {'clock':11} {'load':9} depth"
    + "".join(f" | {whose + ' p50':>10} {'p99':>10}" for whose in ("device", "late", "client", "alone"))
    + f" | {'client IOPS':>12} {'alone':>8}"
)


def arguments(parser):
    parser.add_argument("--of", action="append", metavar="DEVICE", help=f"default: {', '.join(DEVICES)}")
    parser.add_argument("--clock", action="append", help="wall or scaled:X (default: wall and scaled:0.1)")
    parser.add_argument("--depth", action="append", type=int, help="default: 1, 4, 16, 32")
    parser.add_argument("--seconds", type=float, default=3, help="how long each job runs")
    parser.add_argument("--megabytes", type=int, default=256, help="the data that is read and written")


def job(given, load, depth):
    """Returns the options of fio that this program and ftlab both follow."""
    return {
        "rw": load, "bs": "4k", "iodepth": depth, "size": f"{given.megabytes}m", "randseed": given.seed,
        "norandommap": 1, "time_based": 1, "runtime": f"{round(given.seconds * 1000)}ms",
    }  # fmt: skip


def prepare(drive, given):
    """Writes what is read later, at full speed; saves the device for ftlab run."""
    image = drive.folder / "image.ftlab"
    drive.server.control(drive.socket, "clock", "simulated")
    fio(drive, given, "--rw=write", "--bs=1m", "--iodepth=4", f"--size={given.megabytes}m", "--end_fsync=1")
    drive.server.control(drive.socket, "save", "-o", image)
    return image


def alone(drive, given, image, load, depth):
    """Returns what ftlab run reports of the operation."""
    file, result = drive.folder / "job.fio", drive.folder / "result"
    options = {**job(given, load, depth), "ioengine": "libaio"}
    file.write_text("[drive]\n" + "".join(f"{key}={value}\n" for key, value in options.items()))
    command = [drive.server.program(), "run", "--image", image, "--fio", file, "-o", result, "--force", "--quiet"]
    run(*command, limit=300)
    return json.loads((result / "result.json").read_text())["report"]["host"][load[4:]]


def served(drive, given, clock, load, depth):
    """Returns what the server has counted of the operation, and what fio has."""
    drive.stop()
    drive.start()
    drive.server.control(drive.socket, "clock", clock)
    options = job(given, load, depth)
    seen = fio(drive, given, *(f"--{key}={value}" for key, value in options.items()))
    return drive.statistics()["latencies"][load[4:]], seen[load[4:]]


def pair(p50, p99):
    """Two times in microseconds, from nanoseconds."""
    return " ".join(f"{time / 1000:10.1f}" if time is not None else f"{'-':>10}" for time in (p50, p99))


def row(device, clock, load, depth, counted, seen, truth):
    """Prints one line. What the client saw is given in the device's time."""
    factor = float(clock.partition(":")[2] or 1)
    simulated, late, percentiles = counted["simulated"], counted["late"], seen["clat_ns"]["percentile"]
    client = (percentiles[f"{percent}.000000"] * factor for percent in (50, 99))
    say(
        f"{device:11} {clock:11} {load:9} {depth:5} | {pair(simulated['p50_ns'], simulated['p99_ns'])}"
        f" | {pair(late['p50_ns'] * factor, late['p99_ns'] * factor)} | {pair(*client)}"
        f" | {pair(truth['latency_ns']['p50'], truth['latency_ns']['p99'])}"
        f" | {seen['iops'] / factor:12.0f} {truth['iops']:8.0f}"
    )


def main(given):
    say("Latencies in microseconds of the device's time; alone: the same job by ftlab run.")
    say(HEAD)
    loads = [(load, depth) for load, depth in LOADS if not given.depth or depth in given.depth]
    for device in given.of or DEVICES:
        given.device = device
        with Drive(given) as drive:
            image = prepare(drive, given)
            for load, depth in loads:
                truth = alone(drive, given, image, load, depth)
                for clock in given.clock or ["wall", "scaled:0.1"]:
                    row(device, clock, load, depth, *served(drive, given, clock, load, depth), truth)
