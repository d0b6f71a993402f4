"""A device that is served (`Drive`) and a file system on it (`Mount`), both of which always clean up."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from client import Client, Closed
from common import SIGNALS, Failure, Missing, end_process, find, need, need_root, run, start, undisturbed, wait_until
from servers import SERVERS

# What is to be undone if the program ends in the midst, the newest last.
OPEN = []


@atexit.register
def close_all():
    # Who is impatient must not leave a mount behind.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    for thing in reversed(OPEN[:]):
        thing.discard()


def end_on_signals():
    """Makes signals end the program as Ctrl-C does, so that clean-up happens (also where a shell ignores Ctrl-C)."""

    def end(number, _):
        raise KeyboardInterrupt(f"signal {number}")

    for number in SIGNALS:
        signal.signal(number, end)


class Drive:
    """A server with its data, which outlive it: with Drive(given) as drive: ..."""

    def __init__(self, given):
        self.given = given
        self.server, self.process, self.cuts = SERVERS[given.server](given), None, 0
        with undisturbed():
            self.folder = Path(tempfile.mkdtemp(prefix="drive-", dir=given.scratch))
            OPEN.append(self)
        self.socket, self.data = self.folder / "socket", self.folder / "data"

    def start(self):
        """Starts the server and waits until it accepts and greets."""
        self.server.prepare(self.data)
        self.socket.unlink(missing_ok=True)
        command = list(map(str, self.server.command(self.socket, self.data)))
        need(command[0])
        command[0] = find(command[0])
        with undisturbed(), open(self.folder / "log", "ab") as log:
            self.process = start(command, stdout=log, stderr=log)
        wait_until(self.ready, self.given.patience, "the server does not accept")
        return self

    def ready(self):
        if self.process.poll() is not None:
            raise Failure(f"the server ended with {self.process.returncode}: {self.said()}")
        try:
            with Client(self.socket, self.given.patience) as client:
                self.size, self.flags = client.size, client.flags
            return True
        except (OSError, Closed):
            return False

    def said(self):
        """Returns the end of what the server printed."""
        return (self.folder / "log").read_text(errors="replace")[-2000:].strip()

    def stop(self):
        """Ends the server in order; what it holds in DRAM goes to its data."""
        if self.process:
            code = end_process(self.process, signal.SIGTERM, self.given.patience)
            self.process = None
            if code not in (0, -signal.SIGTERM):
                raise Failure(f"the server ended with {code} after SIGTERM: {self.said()}")

    def kill(self):
        """Cuts the power: SIGKILL. Returns when the server is gone."""
        self.cuts += 1
        self.server.kill(self.process, self.socket)
        self.process = None

    def cut(self):
        """Cuts the power by the server's own command, and sees that no connection outlives it.

        A connection that went on would hide the cut from its client, which would never write again what was lost.
        """
        self.cuts += 1
        with Client(self.socket, 10) as witness:
            self.server.cut(self.process, self.socket)
            try:
                witness.read(0, 4096)
            except (Closed, OSError):
                return
        raise Failure("a connection outlived the power cut")

    def lose_power(self, how):
        """Cuts the power in the way asked for: `kill` or `ctl`."""
        self.kill() if how == "kill" else self.cut()

    def restart(self):
        """Has the server up after a cut, on the same data."""
        if self.process and self.process.poll() is None:
            wait_until(self.ready, self.given.patience, "the server does not come back after a cut")
        else:
            self.start()

    def statistics(self):
        return self.server.statistics(self.socket)

    def connect(self, **options):
        return Client(self.socket, **options)

    @property
    def uri(self):
        return f"nbd+unix:///?socket={self.socket}"

    def discard(self):
        """Ends the server whatever its state and removes its folder."""
        if self in OPEN:
            OPEN.remove(self)
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if not self.given.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.discard()
            raise

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.stop()
        finally:
            self.discard()


# How each file system is made. lazy_itable_init and nodiscard keep background work out of short tests.
MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
CHECK = {
    "ext4": ["e2fsck", "-fn"],
    "xfs": ["xfs_repair", "-n"],
    "btrfs": ["btrfs", "check", "--readonly"],
}
OPTIONS = {"ext4": "discard", "xfs": "discard,nouuid", "btrfs": "discard=async"}


def need_mounts(kind="ext4"):
    """Raises Missing unless a drive can be mounted here."""
    need_root()
    need("nbdfuse", "fusermount3", "losetup", MAKE[kind][0], CHECK[kind][0])
    for device in ("/dev/fuse", "/dev/loop-control"):
        try:
            os.close(os.open(device, os.O_RDWR))
        except OSError as error:
            raise Missing(f"mounting needs {device}: {error.strerror}") from None


class Mount:
    """A file system on a drive, by nbdfuse and a loop device."""

    def __init__(self, drive, kind, options=None):
        need_mounts(kind)
        self.drive, self.kind, self.options = drive, kind, options or OPTIONS[kind]
        self.process = self.loop = None
        with undisturbed():
            self.folder = Path(tempfile.mkdtemp(prefix="mount-", dir=drive.given.scratch))
            self.fuse, self.path = self.folder / "fuse", self.folder / "files"
            self.fuse.mkdir()
            self.path.mkdir()
            OPEN.append(self)

    def attach(self):
        """Presents the drive as a block device."""
        pid = self.folder / "pid"
        pid.unlink(missing_ok=True)
        command = [find("nbdfuse"), "-P", pid, self.fuse / "disk", self.drive.uri]
        with undisturbed(), open(self.folder / "log", "ab") as log:
            self.process = start(command, stdout=log, stderr=log)
        wait_until(lambda: self.process.poll() is not None or pid.exists(), 30, "nbdfuse")
        if self.process.poll() is not None:
            raise Failure(f"nbdfuse ended: {(self.folder / 'log').read_text()[-1000:]}")
        # With direct I/O the file's pages are not cached once more, and reads come from the server.
        size = min(self.drive.size, self.drive.given.size << 20)
        with undisturbed():
            done = run("losetup", "--find", "--show", "--direct-io=on", "--sizelimit", size, self.fuse / "disk")
            self.loop = done.stdout.strip()
        return self

    def make(self):
        run(*MAKE[self.kind], self.loop, limit=300)
        return self

    def mount(self):
        run("mount", "-t", self.kind, "-o", self.options, self.loop, self.path, limit=300)
        return self

    def unmount(self):
        run("umount", self.path, limit=300)

    def mounted(self):
        """Asks the kernel: whoever was interrupted can't know, and a dead file system does not answer."""
        with open("/proc/self/mounts") as mounts:
            return any(line.split(" ")[1] == str(self.path) for line in mounts)

    def let_go(self):
        """Unmounts as soon as the last program has gone; returns whether that was soon enough."""
        for _ in range(100):
            if not self.mounted() or run("umount", self.path, check=False).returncode == 0:
                return True
            time.sleep(0.05)
        run("umount", "-l", self.path, check=False)
        return False

    def check(self):
        """Checks the file system, which is not mounted, without mending it."""
        run(*CHECK[self.kind], self.loop, limit=300)

    def detach(self):
        """Takes the block device away; an error of any step leaves nothing behind all the same."""
        problems = []
        if not self.let_go():
            problems.append(f"umount of {self.path}")
        if self.loop:
            if run("losetup", "-d", self.loop, check=False).returncode != 0:
                problems.append(f"losetup -d {self.loop}")
            self.loop = None
        if self.process:
            if self.process.poll() is None:
                self.let_fuse_end()
            run("fusermount3", "-u", "-z", self.fuse / "disk", check=False)
            run("fusermount3", "-u", "-z", self.fuse, check=False)
            self.process = None
        return problems

    def let_fuse_end(self):
        """Unmounts nbdfuse, which then ends by itself; kills it if it does not."""
        for _ in range(50):
            run("fusermount3", "-u", self.fuse, check=False)
            try:
                self.process.wait(0.1)
                return
            except subprocess.TimeoutExpired:
                pass
        self.process.kill()
        self.process.wait()

    def sever(self):
        """After a power cut: gets rid of a mount that has lost its device."""
        if self.process and self.process.poll() is None:
            # The kernel then fails all that waits for the device.
            self.process.kill()
            self.process.wait()
        if self.detach():
            raise Failure("a mount that lost its device can't be unmounted")

    def discard(self):
        if self in OPEN:
            OPEN.remove(self)
        try:
            if self.process and self.drive.process is None:
                self.process.kill()
            self.detach()
        finally:
            if not self.mounted() and not self.drive.given.keep:
                shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        try:
            return self.attach()
        except BaseException:
            self.discard()
            raise

    def __exit__(self, *_):
        self.discard()
