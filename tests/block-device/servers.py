"""The servers that can be put under the checks: how each is started, cut and asked. The rest of the harness knows none."""

import json
import os
import signal
import sys
from pathlib import Path

from common import Failure, Missing, end_process, find, run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Server:
    """What all have in common; a subclass says its command line and what it can do."""

    trims_are_durable = False  # an acknowledged trim outlives a power cut without a flush
    can_cut = False  # power can be cut while the process lives on
    loses_on_kill = True  # what was not flushed may be gone after SIGKILL

    def __init__(self, given):
        self.given = given

    def command(self, socket, data):
        raise NotImplementedError

    def prepare(self, data):
        """Makes the file with the device's content, if the server does not do so."""
        if not data.exists():
            with open(data, "wb") as file:
                file.truncate(self.given.size << 20)

    def kill(self, process, socket):
        end_process(process, signal.SIGKILL)

    def cut(self, process, socket):
        raise Missing(f"the server {self.given.server!r} can be killed, but not cut")

    def statistics(self, socket):
        """Returns what the server counts, or None if it does not."""
        return None


# A drive of 0.8 GB, so that minutes of writing make its flash collect garbage.
SMALL = ["nand.blocks_per_plane=48", "ftl.over_provisioning=13%"]

RECOVERS = ("ftl.recovery.policy=scan",)


class Ftlab(Server):
    """`ftlab serve`: a simulated SSD that keeps its data in a file.

    A device needs a way to recover to bear a power cut; `--plain` leaves the options of the device as they are.
    """

    trims_are_durable = True
    can_cut = True

    def program(self):
        path = os.environ.get("FTLAB") or ROOT / "target" / "release" / "ftlab"
        if not find(str(path)):
            raise Missing(f"{path} not found; cargo build --release, or name the program in FTLAB")
        return str(path)

    def prepare(self, data):
        """The device decides how large its file is."""

    def settings(self):
        """Returns the arguments that make the device what it is, for any subcommand of the program."""
        settings = [] if self.given.plain else list(RECOVERS)
        settings += self.given.set
        if self.given.lying:
            settings.append("host.flush=ignored")
        return [word for setting in settings for word in ("--set", setting)]

    def command(self, socket, data):
        command = [self.program(), "serve", self.given.device, "--data", data, "--socket", socket]
        return [*command, *self.settings(), *self.given.serve]

    def control(self, socket, *arguments):
        return run(self.program(), "ctl", socket, *arguments)

    def cut(self, process, socket):
        self.control(socket, "cut")

    def statistics(self, socket):
        text = self.control(socket, "stats", "--json").stdout
        try:
            return json.loads(text)
        except ValueError:
            raise Failure(f"ftlab ctl stats --json printed no JSON: {text[:200]!r}") from None


class Nbdkit(Server):
    """nbdkit with a file, and with --lying a cache that flushes do not empty.

    `--set cache=writeback` puts an honest volatile cache before the file; without it a kill loses nothing.
    """

    @property
    def loses_on_kill(self):
        return self.given.lying or "cache=writeback" in self.given.set

    def command(self, socket, data):
        command = ["nbdkit", "-f", "-U", socket, "--threads", "16"]
        if self.given.log:
            command += ["--filter=log"]
        settings = ["cache=unsafe"] if self.given.lying else list(self.given.set)
        if any(setting.startswith("cache=") for setting in settings):
            command += ["--filter=cache"]
        command += ["file", data, *settings]
        return command + ([f"logfile={self.given.log}"] if self.given.log else [])


class Reference(Server):
    """reference.py: a naive device with a volatile cache and faults to choose."""

    trims_are_durable = True

    def command(self, socket, data):
        fault = "flush" if self.given.lying else self.given.fault
        command = [sys.executable, HERE / "reference.py", socket, data]
        return command + (["--fault", fault] if fault else [])


SERVERS = {"ftlab": Ftlab, "nbdkit": Nbdkit, "reference": Reference}
