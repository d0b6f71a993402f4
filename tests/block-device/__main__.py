#!/usr/bin/env python3
"""Real software on a simulated drive: python3 tests/block-device SUBCOMMAND (see README.md)."""

import argparse
import importlib
import random
import sys
from pathlib import Path

from client import Closed
from common import Failure, Missing, say
from drive import close_all, end_on_signals
from reference import FAULTS
from servers import SERVERS

# Subcommand -> (module, what it does).
SUBCOMMANDS = {
    "tools": ("tools", "fio, nbdcopy, qemu-io, qemu-img, nbdinfo, each checking its data"),
    "sqlite": ("cuts_sqlite", "power cuts under SQLite on a mounted file system"),
    "fs": ("cuts_fs", "power cuts under ext4, xfs and btrfs"),
    "guest": ("guest", "file systems and databases in a virtual machine, with write amplification"),
    "soak": ("soak", "random clients with a shadow copy of every sector, for long"),
    "replay": ("replay", "a served drive against ftlab run with what was recorded: both must do the same"),
    "timing": ("timing", "how late answers leave, and what of the device a client sees, by depth"),
    "hostile": ("hostile", "clients that misbehave, while an honest one is served"),
    "quick": ("quick", "what CI runs: all of the above that this machine can do, but the guest, each in brief"),
}


def common_arguments(parser):
    server = parser.add_argument_group("the server")
    server.add_argument("--server", choices=SERVERS, default="ftlab")
    server.add_argument("--device", default="plain-32g", help="ftlab: preset or file of the device")
    server.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an option of the device")
    server.add_argument("--plain", action="store_true", help="ftlab: no options but those of --set; it can't be cut then")
    server.add_argument("--serve", action="append", default=[], metavar="ARG", help="one more argument of ftlab serve")
    server.add_argument("--lying", action="store_true", help="flushes are ignored; the checks must find losses")
    server.add_argument("--fault", choices=FAULTS, help="reference: the fault it has")
    server.add_argument("--size", type=int, default=1024, metavar="MIB", help="nbdkit, reference: size of the device; at most so much of any is used for a file system")
    server.add_argument("--log", metavar="FILE", help="nbdkit: log all requests")
    server.add_argument("--patience", type=float, default=60, metavar="S", help="how long the server may take to come up")
    parser.add_argument("--seed", type=int, help="of all random choices (drawn and told if not given)")
    parser.add_argument("--scratch", metavar="DIR", help="where folders for data and mounts are made")
    parser.add_argument("--keep", action="store_true", help="keep those folders")


def arguments_of(name, parser):
    if name == "tools":
        checks = importlib.import_module("tools").CHECKS
        parser.add_argument("--only", action="append", choices=checks, help="one check (may be repeated)")
        parser.add_argument("--megabytes", type=int, default=128, help="data of fio and nbdcopy")
    else:
        importlib.import_module(SUBCOMMANDS[name][0]).arguments(parser)


def parse():
    parser = argparse.ArgumentParser(prog="tests/block-device", description=__doc__)
    subcommands = parser.add_subparsers(dest="subcommand", required=True)
    for name, (_, what) in SUBCOMMANDS.items():
        sub = subcommands.add_parser(name, help=what, description=what)
        common_arguments(sub)
        arguments_of(name, sub)
    given = parser.parse_args()
    if given.seed is None:
        given.seed = random.randrange(1 << 31)
    if given.scratch:
        given.scratch = str(Path(given.scratch).resolve())
    return given


def main():
    given = parse()
    end_on_signals()
    say(f"{given.subcommand} on {given.server}, seed {given.seed}")
    try:
        importlib.import_module(SUBCOMMANDS[given.subcommand][0]).main(given)
    except Failure as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    except Closed:
        print("FAILED: the server closed a connection that did nothing wrong", file=sys.stderr)
        return 1
    except Missing as missing:
        print(f"missing: {missing}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        print("interrupted", *interrupt.args, file=sys.stderr)
        return 130
    finally:
        close_all()
    say("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
