"""What all checks share: failures, missing tools, running programs with a time limit, the line of progress."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

# Which Debian package brings a tool, for the message when it is missing.
PACKAGES = {
    "btrfs": "btrfs-progs",
    "cpio": "cpio",
    "e2fsck": "e2fsprogs",
    "fio": "fio",
    "fusermount3": "fuse3",
    "losetup": "mount",
    "mkfs.btrfs": "btrfs-progs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.f2fs": "f2fs-tools",
    "mkfs.xfs": "xfsprogs",
    "nbdcopy": "libnbd-bin",
    "nbdfuse": "libnbd-bin",
    "nbdinfo": "libnbd-bin",
    "nbdkit": "nbdkit",
    "qemu-img": "qemu-utils",
    "qemu-io": "qemu-utils",
    "qemu-system-x86_64": "qemu-system-x86",
    "sqlite3": "sqlite3",
    "busybox": "busybox-static",
    "depmod": "kmod",
    "xfs_repair": "xfsprogs",
}

# The number of the right to mount, as in capability.h.
CAP_SYS_ADMIN = 21


class Failure(Exception):
    """A check failed: what was observed is not what was promised."""


class Loss(Failure):
    """A device lost or damaged what it had promised to keep: what a lying device must lead to."""


class Missing(Exception):
    """Something that the checks need is not on this machine."""


def find(tool):
    """Returns the path of a tool, also in the folders of root, or None."""
    return shutil.which(tool) or shutil.which(tool, path="/usr/local/sbin:/usr/sbin:/sbin")


def need(*tools):
    """Raises Missing unless all tools are there."""
    lacking = [tool for tool in tools if not find(tool)]
    if lacking:
        packages = sorted({PACKAGES.get(tool, tool) for tool in lacking})
        raise Missing(f"{', '.join(lacking)} not found; apt-get install {' '.join(packages)}")


def need_root():
    """Raises Missing unless this process may mount; in a container root alone often may not."""
    with open("/proc/self/status") as status:
        (rights,) = (int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    if os.geteuid() != 0 or not rights >> CAP_SYS_ADMIN & 1:
        raise Missing("mounting needs root")


def wait_until(true, limit, what, every=0.01):
    """Waits until `true()` holds; raises Failure after `limit` seconds."""
    end = time.monotonic() + limit
    while not (value := true()):
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {limit} s")
        time.sleep(every)
    return value


# What ends the program in order, as Ctrl-C does.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def undisturbed():
    """Holds signals back while something is made that would be lost if its name were not noted."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start(command, **options):
    """Starts a program in a session of its own, which Ctrl-C does not reach: whoever catches that ends it in order.

    To be called with signals held back; the program gets them all.
    """
    return subprocess.Popen(
        list(map(str, command)), stdin=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS), **options,
    )  # fmt: skip


def run(*command, limit=120, check=True, input=None, **options):
    """Runs a program to its end and returns it with its output; raises Failure if it fails or takes too long."""
    command = [find(command[0]) or command[0], *map(str, command[1:])]
    stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
    process = None
    try:
        # A program that was started, and isn't known to have been, would go on while things are cleaned up.
        with undisturbed():
            process = subprocess.Popen(
                command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **options
            )
        output, errors = process.communicate(input, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failure(f"took more than {limit} s: {' '.join(command)}") from None
    finally:
        if process and process.poll() is None:
            process.kill()
            process.wait()
    if check and process.returncode != 0:
        raise Failure(f"exit code {process.returncode}: {' '.join(command)}\n{(output + errors).strip()[-2000:]}")
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def end_process(process, number=signal.SIGTERM, limit=30):
    """Ends a child and reaps it; with SIGKILL if it does not heed the signal in time."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Failure(f"{process.args[0]} did not end within {limit} s of signal {number}") from None
    return process.returncode


def memory(pid):
    """Returns the bytes of its own (not of mapped files) that a process has in memory."""
    with open(f"/proc/{pid}/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    if "RssAnon" not in fields:
        raise Failure("the server has ended")
    return 1024 * sum(int(fields[key].split()[0]) for key in ("RssAnon", "RssShmem"))


class Progress:
    """One line that is overwritten on a terminal; elsewhere a line now and then."""

    def __init__(self, every=10):
        self.terminal, self.every, self.last = sys.stderr.isatty(), every, time.monotonic()

    def show(self, text):
        if self.terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def done(self):
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def say(text):
    print(text, flush=True)


def verdict(given, name, check):
    """Carries out a check and tells its result. A device that lies must end it in a loss, any other in none."""
    lying = given.lying or given.fault
    try:
        told = check()
    except Loss as loss:
        if not lying:
            raise
        say(f"found, as it must be: {loss}")
        return
    if lying:
        raise Failure(f"{name}: a device that lies came through unnoticed: {told}")
    say(f"{name}: {told}")
