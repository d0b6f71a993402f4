"""Power cuts, one after another, under writers on a mounted file system; what is written and checked is a `Job`.

A round: writers write and note outside of the device what was acknowledged to them; the power goes at a random
moment; the server comes back with the same data; the file system is mounted, which recovers its log; the job checks
that all that was acknowledged is there. The next round goes on from there.
"""

import os
import random
import subprocess
import sys
import time

from common import Failure, Loss, Missing, Progress, start, undisturbed, wait_until
from drive import Drive, Mount
from servers import SERVERS, HERE

WAYS = ("kill", "ctl", "client")


def arguments(parser):
    parser.add_argument("--cuts", type=int, default=50, help="how many rounds")
    parser.add_argument(
        "--how", action="append", choices=WAYS, default=[],
        help="kill: SIGKILL for the server (default); ctl: the server's own power cut; client: nbdfuse is killed while "
        "the device keeps its power. May be repeated; each round then draws one",
    )  # fmt: skip
    parser.add_argument("--longest", type=float, default=0.8, metavar="S", help="longest time until a cut")
    parser.add_argument("--check-every", type=int, default=5, metavar="N", help="rounds between checks by fsck")


class Job:
    """What is written and checked. Each writer is a process that prints a line for whatever was acknowledged."""

    def begin(self, path):
        """Sets up an empty file system."""

    def writers(self, path, rng):
        """Returns the command lines of the writers of a round (scripts of this folder)."""
        raise NotImplementedError

    def check(self, path, printed):
        """Raises Loss unless the file system holds all that the writers printed; they have ended."""
        raise NotImplementedError

    def told(self):
        """Says what was checked, for the line of progress."""
        return ""


def start_writers(job, mount, rng, writers):
    """Starts the writers and notes each in the list."""
    for number, (script, *arguments) in enumerate(job.writers(mount.path, rng)):
        notes = open(mount.folder / f"notes-{number}", "w+b")
        command = [sys.executable, HERE / script, *map(str, arguments)]
        with undisturbed():
            writers.append((start(command, stdout=notes, stderr=subprocess.PIPE), notes))


def noted(notes):
    """Returns the whole lines that a writer has printed."""
    notes.seek(0)
    return [line for line in notes.read().decode().splitlines(True) if line.endswith("\n")]


def until_acknowledged(writers):
    """Waits until a writer has just noted something: the moment at which a drive must be through with it."""

    def size():
        return sum(os.fstat(notes.fileno()).st_size for _, notes in writers)

    before, end = size(), time.monotonic() + 1
    while size() == before and time.monotonic() < end:
        time.sleep(0.0002)


def end_writers(writers):
    for process, _ in writers:
        if process.poll() is None:
            process.kill()


def reap(writers):
    """Collects the writers; the kernel lets go of them once the device's mount is gone."""
    printed = []
    for process, notes in writers:
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            raise Failure("a writer does not end after SIGKILL") from None
        printed.append([line.rstrip("\n") for line in noted(notes)])
        notes.close()
        # A writer that met the cut itself says so; any other error is one of the harness or of the device.
        if process.returncode not in (0, -9):
            raise Failure(f"a writer failed: {errors.decode(errors='replace')[-1000:]}")
    return printed


def cut_under_writers(job, drive, mount, how, rng, given):
    """Runs writers until the power goes; returns what they printed."""
    writers = []
    try:
        start_writers(job, mount, rng, writers)
        for process, notes in writers:
            wait_until(lambda: process.poll() is not None or noted(notes), 120, "a writer's first line")
        time.sleep(rng.uniform(0, given.longest))
        if rng.random() < 0.5:
            until_acknowledged(writers)
        for process, _ in writers:
            if process.poll() is not None:
                raise Failure(f"a writer ended before the cut: {process.communicate()[1].decode()[-1000:]}")
        if how == "client":
            mount.process.kill()
        else:
            drive.lose_power(how)
        end_writers(writers)
        mount.sever()
        return reap(writers)
    finally:
        end_writers(writers)


def come_back(job, drive, mount, how, printed, fsck):
    """Has device and file system up again and checks them."""
    if how == "client":
        # The server may still be busy with requests of the client that died.
        time.sleep(0.3)
    else:
        drive.restart()
    mount.attach()
    try:
        mount.mount()
    except Failure as failure:
        raise Loss(f"the file system does not mount: {failure}") from None
    try:
        job.check(mount.path, printed)
    except OSError as error:
        raise Loss(f"the file system can't be read: {error}") from None
    if fsck:
        mount.unmount()
        try:
            mount.check()
        except Failure as failure:
            raise Loss(f"the check of the file system: {failure}") from None
        mount.mount()


def begin(job, drive, mount):
    try:
        mount.make().mount()
        job.begin(mount.path)
    except (Failure, OSError) as failure:
        raise Loss(f"the file system can't be made: {failure}") from None
    settle(drive, mount)


def settle(drive, mount):
    """Ends the server in order once, so that what a lying device loses is what is written from now on."""
    mount.unmount()
    if problems := mount.detach():
        raise Failure(f"clean-up: {', '.join(problems)}")
    drive.stop()
    drive.start()
    mount.attach()
    try:
        mount.mount()
    except Failure as failure:
        raise Loss(f"lost when the server ended in order: {failure}") from None


def rounds(given, kind, job, name):
    """Cuts the power `given.cuts` times; returns what is told of it."""
    rng, progress, began = random.Random(given.seed), Progress(), time.monotonic()
    ways = given.how or ["kill"]
    if "ctl" in ways and not SERVERS[given.server].can_cut:
        raise Missing(f"the server {given.server!r} has no power cut of its own (--how ctl)")
    with Drive(given) as drive, Mount(drive, kind) as mount:
        begin(job, drive, mount)
        for number in range(1, given.cuts + 1):
            how = rng.choice(ways)
            try:
                printed = cut_under_writers(job, drive, mount, how, rng, given)
                come_back(job, drive, mount, how, printed, number % given.check_every == 0)
            except Failure as failure:
                raise type(failure)(f"{name}, cut {number} ({how}), seed {given.seed}: {failure}") from None
            progress.show(f"{name}: cut {number} of {given.cuts}, {job.told()}")
    progress.done()
    return f"{given.cuts} cuts, {time.monotonic() - began:.0f} s"
