"""Real file systems and databases in a virtual machine whose disk is the drive: what each writes, and what flash pays.

The disk is virtio over NBD with no cache of the host between, so flushes and discards reach the drive.
"""

import json
import os
import socket
import tempfile
import time
from pathlib import Path

import guest_image
from common import Failure, Progress, end_process, find, need, say, start, undisturbed
from drive import OPEN, Drive
from servers import SMALL

# File system -> how it is made, the option of that to trim nothing, how it is checked.
FILESYSTEMS = {
    "ext4": ("mkfs.ext4 -q -F", "-E nodiscard", "e2fsck -fn"),
    "xfs": ("mkfs.xfs -q -f", "-K", "xfs_repair -n"),
    "btrfs": ("mkfs.btrfs -q -f", "-K", "btrfs check --readonly"),
    "f2fs": ("mkfs.f2fs -q -f", "-t 0", "fsck.f2fs --dry-run"),
}


def sql(megabytes):
    """A load of SQLite: rows of 1,000 bytes, inserted, updated at random and in part deleted, in transactions."""
    rows = megabytes * 1000
    insert = (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{rows}) "
        "INSERT INTO t SELECT i, random(), randomblob(1000) FROM n;"
    )
    update = f"UPDATE t SET data=randomblob(1000), k=random() WHERE id IN (SELECT abs(random())%{rows} FROM t LIMIT {rows // 20});"
    return " ".join([
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, data BLOB); CREATE INDEX by_k ON t (k);",
        insert, update * 20, f"DELETE FROM t WHERE id%4=0; {update * 5}", "PRAGMA integrity_check;",
    ])  # fmt: skip


def steps(kind, megabytes, fill, discard):
    """Returns (name, command, what its output must contain) of each step on a file system, in order."""
    make, keep, check = FILESYSTEMS[kind]
    make, option = (f"{make} /dev/vda", "discard") if discard else (f"{make} {keep} /dev/vda", "nodiscard")
    verify = "--verify=crc32c --verify_fatal=1 --verify_dump=0"
    fio = (
        f"fio --name=load --directory=/mnt --size={megabytes * 2}m --ioengine=psync --rw=randwrite --bsrange=4k-32k "
        f"--norandommap --io_size={megabytes * 4}m --fsync=128 {verify} --output-format=terse"
    )
    # Without norandommap each block is written once; then what is verified is what was last written.
    fio_verified = fio.replace("--norandommap ", "").replace(f"{megabytes * 4}m", f"{megabytes * 2}m")
    keys = megabytes * 1000
    bench = (
        f"db_bench --db=/mnt/rocksdb --num={keys} --value_size=1000 --compression_type=none --threads=1 "
        f"--benchmarks=fillrandom,overwrite,overwrite,levelstats --write_buffer_size=4194304 "
        "--target_file_size_base=4194304 --max_bytes_for_level_base=16777216"
    )
    return [
        ("make", f"{make} && mount -t {kind} -o {option} /dev/vda /mnt", ""),
        # Data that stays makes garbage collection copy something.
        ("fill", f"dd if=/dev/zero of=/mnt/cold bs=1M count={fill} conv=fsync", ""),
        ("fio", f"{fio} && {fio_verified} && rm /mnt/load.*", ""),
        ("sqlite", f'sqlite3 /mnt/database "{sql(megabytes)}"', "\nok"),
        ("rocksdb", bench, "overwrite"),
        ("delete", "rm -rf /mnt/rocksdb /mnt/database*", ""),
        ("check", f"umount /mnt && {check} /dev/vda", ""),
    ]


class Guest:
    """A virtual machine with the drive as its disk, that carries out shell commands."""

    def __init__(self, drive, given, kernel, initramfs):
        need("qemu-system-x86_64")
        self.folder = Path(tempfile.mkdtemp(prefix="guest-", dir=drive.folder))
        serial = self.folder / "serial"
        disk = f"driver=nbd,node-name=disk,server.type=unix,server.path={drive.socket},discard=unmap,cache.direct=on"
        accelerator = ["-accel", "kvm", "-cpu", "host"] if given.kvm else ["-accel", "tcg,thread=multi", "-cpu", "max"]
        command = [
            find("qemu-system-x86_64"), *accelerator, "-smp", "2", "-m", "1024", "-nodefaults", "-display", "none",
            "-no-reboot", "-kernel", kernel, "-initrd", initramfs, "-append", "console=ttyS0 quiet panic=-1",
            "-serial", f"file:{self.folder / 'console'}", "-chardev", f"socket,id=line,path={serial},server=on,wait=off",
            "-serial", "chardev:line", "-blockdev", disk, "-device", "virtio-blk-pci,drive=disk,write-cache=on",
        ]  # fmt: skip
        self.line = socket.socket(socket.AF_UNIX)
        with undisturbed(), open(self.folder / "log", "wb") as log:
            self.process = start(command, stdout=log, stderr=log)
            OPEN.append(self)
        self.connect(serial)
        self.buffer = b""

    def connect(self, serial):
        for _ in range(200):
            try:
                return self.line.connect(str(serial))
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise Failure(f"qemu: {(self.folder / 'log').read_text()[-1000:]}")

    def until_done(self, limit):
        """Returns (output, status, seconds) once the guest says that it is done."""
        end = time.monotonic() + limit
        while True:
            head, mark, rest = self.buffer.partition(b"<<< ")
            line, newline, rest = rest.partition(b"\n")
            if mark and newline:
                self.buffer = rest
                status, seconds = line.decode().split()
                return head.decode(errors="replace").replace("\r", ""), status, float(seconds)
            self.line.settimeout(max(0.01, end - time.monotonic()))
            try:
                part = self.line.recv(65536)
            except socket.timeout:
                part = b""
            if not part:
                raise Failure(f"the guest does not answer: {head.decode(errors='replace')[-500:]} {self.console()}")
            self.buffer += part

    def run(self, command, limit):
        self.line.sendall(command.encode() + b"\n")
        return self.until_done(limit)

    def console(self):
        path = self.folder / "console"
        return path.read_text(errors="replace")[-1500:] if path.exists() else ""

    def power_off(self):
        self.line.sendall(b"poweroff\n")
        self.process.wait(60)

    def discard(self):
        if self in OPEN:
            OPEN.remove(self)
        self.line.close()
        if self.process.poll() is None:
            end_process(self.process, 9)


def written(drive):
    """Returns the bytes that the host wrote and that flash took, as far as the server counts them."""
    statistics = drive.statistics()
    if statistics is None:
        return None
    smart = statistics["smart"]
    return smart["host_bytes_written"], smart["media_bytes_written"]


def run_step(guest, drive, given, kind, step):
    """Runs one step and returns its row; raises Failure if it went wrong."""
    name, command, expected = step
    before = written(drive)
    output, status, seconds = guest.run(command, given.limit)
    if status != "0" or expected not in output:
        raise Failure(f"{kind}, {name}: status {status}\n{output[-1500:]}\n{guest.console()}")
    # What a step wrote must reach the disk to be counted with it.
    guest.run("sync", given.limit)
    after = written(drive)
    row = {"filesystem": kind, "step": name, "seconds": seconds}
    if before and after:
        host, flash = (b - a for a, b in zip(before, after))
        row.update(host_bytes=host, flash_bytes=flash)
        row["write_amplification"] = round(flash / host, 3) if host else None
    return row


def write_all(drive):
    """Writes the drive once, so that all of it holds data that nobody trims."""
    data = os.urandom(1 << 20)
    with drive.connect() as client:
        for offset in range(0, drive.size, 1 << 20):
            client.write(offset, data[: drive.size - offset])
        client.flush()


def table(rows):
    say(f"{'file system':12}{'step':10}{'s':>8}{'host MB':>10}{'flash MB':>10}{'amplification':>15}")
    for row in rows:
        mega = [f"{row[key] / 1e6:.1f}" if key in row else "-" for key in ("host_bytes", "flash_bytes")]
        amplification = row.get("write_amplification")
        shown = "-" if amplification is None else f"{amplification:.2f}"
        say(f"{row['filesystem']:12}{row['step']:10}{row['seconds']:8.1f}{mega[0]:>10}{mega[1]:>10}{shown:>15}")


def arguments(parser):
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    parser.add_argument("--filesystem", action="append", choices=FILESYSTEMS, help="default: each in turn")
    parser.add_argument("--megabytes", type=int, default=24, help="the size of each load")
    parser.add_argument("--fill", type=int, default=65, metavar="PERCENT", help="how much of the drive holds data that stays")
    parser.add_argument("--no-discard", action="store_true", help="trim nothing, on a drive that was written to its end before")
    parser.add_argument("--cache", default=f"{cache}/ftlab-guest", metavar="DIR", help="where kernel and initramfs are kept")
    parser.add_argument("--kvm", action="store_true", help="use hardware virtualisation (default: emulate)")
    parser.add_argument("--limit", type=float, default=300, metavar="S", help="the most that a step may take")
    parser.add_argument("--boot-limit", type=float, default=120, metavar="S")


def main(given):
    if not given.set and not given.plain:
        given.set = list(SMALL)
    kernel, initramfs = guest_image.build(Path(given.cache).expanduser())
    rows, progress, began = [], Progress(), time.monotonic()
    with Drive(given) as drive:
        if given.no_discard:
            write_all(drive)
        guest = Guest(drive, given, kernel, initramfs)
        try:
            boot = guest.until_done(given.boot_limit)[2]
            say(f"the guest is up after {time.monotonic() - began:.1f} s (by its own clock {boot:.1f} s)")
            for kind in given.filesystem or FILESYSTEMS:
                for step in steps(kind, given.megabytes, drive.size * given.fill // 100 >> 20, not given.no_discard):
                    progress.show(f"{kind}: {step[0]}")
                    rows.append(run_step(guest, drive, given, kind, step))
                    say(json.dumps(rows[-1]))
            guest.power_off()
        finally:
            guest.discard()
    progress.done()
    table(rows)
    say(f"guest: {time.monotonic() - began:.0f} s")
