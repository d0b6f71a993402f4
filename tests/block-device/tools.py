"""Well-known clients of block devices, each of which checks its own data: fio, nbdcopy, qemu-io, qemu-img, nbdinfo."""

import json
import os
import random
import time

from common import Failure, Missing, need, run, say
from drive import Drive, Mount, need_mounts
from fio import fio


def fio_verify(drive, given):
    """Random writes of mixed sizes with flushes and trims between, read back and verified by checksum."""
    size = min(drive.size // 2, given.megabytes << 20)
    job = fio(
        drive, given, f"--size={size}", "--rw=randwrite", "--bsrange=4k-64k", "--iodepth=16", "--verify=crc32c", "--verify_fatal=1",
        "--do_verify=1", "--fsync=64", "--verify_dump=0",
    )  # fmt: skip
    written = job["write"]["total_ios"]
    if not written or job["read"]["total_ios"] < written:
        raise Failure(f"fio verified {job['read']['total_ios']} of {written} writes")
    return f"{written} writes verified"


def fio_mix(drive, given):
    """Reads, writes and trims at once, in blocks that are verified as soon as they may be."""
    job = fio(
        drive, given, "--rw=randrw", "--bs=4k", "--iodepth=32", "--verify=crc32c", "--verify_fatal=1",
        "--verify_backlog=128", "--offset=50%", "--size=25%", f"--io_size={given.megabytes >> 1}m",
    )  # fmt: skip
    return f"{job['read']['total_ios']} reads, {job['write']['total_ios']} writes"


def nbdcopy(drive, given):
    """Random data with holes, copied there and back by several connections."""
    need("nbdcopy")
    there, back = drive.folder / "there", drive.folder / "back"
    chunk, rng = 1 << 20, random.Random(given.seed)
    with open(there, "wb") as file:
        for _ in range(min(given.megabytes, drive.size >> 20)):
            if rng.random() < 0.2:
                file.seek(chunk, os.SEEK_CUR)
            else:
                file.write(rng.randbytes(chunk))
        file.truncate(file.tell())
    length = there.stat().st_size
    run("nbdcopy", "--flush", there, drive.uri, limit=900)
    run("nbdcopy", drive.uri, back, limit=900)
    with open(there, "rb") as a, open(back, "rb") as b:
        for at in range(0, length, chunk):
            if a.read(chunk) != b.read(chunk):
                raise Failure(f"the MiB at {at} came back changed")
    there.unlink()
    back.unlink()
    return f"{length >> 20} MiB the same"


def qemu_io(drive, given):
    """Patterns at odd places: sectors, ends of pages, zeroes and trims, FUA."""
    need("qemu-io")
    rng, commands, shadow = random.Random(given.seed), [], {}
    sectors = min(drive.size, 8 << 20) // 512
    for number in range(200):
        first, count = rng.randrange(sectors - 64), rng.randrange(1, 64)
        kind = rng.choice(["write -q", "write -q -f", "write -q -z", "write -q -z -u"])
        byte = 0 if "-z" in kind else number % 255 + 1
        pattern = "" if "-z" in kind else f" -P {byte}"
        commands.append(f"{kind}{pattern} {first * 512} {count * 512}")
        shadow.update((sector, byte) for sector in range(first, first + count))
        if number % 16 == 0:
            commands.append("flush")
    commands += [f"read -q -P {byte} {sector * 512} 512" for sector, byte in sorted(shadow.items())]
    script = "\n".join([*commands, "quit", ""])
    image = f"driver=raw,file.driver=nbd,file.server.type=unix,file.server.path={drive.socket},discard=unmap"
    done = run("qemu-io", "--image-opts", "-t", "none", image, input=script, limit=300)
    said = done.stdout.replace("qemu-io> ", "").strip()
    if "failed" in said or "error" in said.lower():
        raise Failure(f"qemu-io: {said[:500]}")
    return f"{len(shadow)} sectors hold their patterns"


def qemu_img(drive, given):
    """Reads the device into an image and compares the two."""
    need("qemu-img")
    image = drive.folder / "image.qcow2"
    size = json.loads(run("qemu-img", "info", "--output=json", drive.uri).stdout)["virtual-size"]
    if size != drive.size:
        raise Failure(f"qemu-img sees {size} bytes, the export has {drive.size}")
    run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", drive.uri, image, limit=1800)
    run("qemu-img", "compare", "-f", "raw", "-F", "qcow2", drive.uri, image, limit=1800)
    image.unlink()
    return f"{size >> 20} MiB converted and compared"


def nbdinfo(drive, given):
    """What the export says of itself, and its map of blocks, if it has one."""
    need("nbdinfo")
    export = json.loads(run("nbdinfo", "--json", drive.uri).stdout)["exports"][0]
    for ability in ("can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn"):
        if not export.get(ability):
            raise Failure(f"the export lacks {ability}")
    if "base:allocation" not in export.get("contexts", []):
        return "flush, FUA, trim, zeroes, several connections; no map of blocks"
    extents = json.loads(run("nbdinfo", "--json", "--map", drive.uri, limit=300).stdout)
    covered = sum(extent["length"] for extent in extents)
    if covered != drive.size:
        raise Failure(f"the map of blocks covers {covered} of {drive.size} bytes")
    return f"{len(extents)} extents cover the device"


def flushes(drive, given):
    """Returns how many flushes have reached the server, or None if that is not known."""
    if given.log:
        with open(given.log) as log:
            return sum(" Flush " in line and "...Flush" not in line for line in log)
    statistics = drive.statistics()
    return statistics and statistics["host"]["flushes"]


def flush_path(drive, given):
    """Each fsync on a mounted file system must become a flush at the server: without that power cuts test nothing."""
    if flushes(drive, given) is None:
        return "not counted by this server (nbdkit: --log FILE)"
    try:
        need_mounts()
    except Missing as missing:
        if given.only:
            raise
        return f"skipped: {missing}"
    with Mount(drive, "ext4") as mount:
        mount.make().mount()
        before = flushes(drive, given)
        with open(mount.path / "file", "wb", buffering=0) as file:
            for _ in range(20):
                file.write(bytes(4096))
                os.fsync(file.fileno())
        seen = flushes(drive, given) - before
    if seen < 20:
        raise Failure(f"20 times fsync brought {seen} flushes to the server")
    return f"20 times fsync brought {seen} flushes"


def zeroes(drive, given):
    """Zeroes that begin and end within pages: the drive trims what lies between. No part may wait for the next tick."""
    page, longest = 16384, 0.0
    with drive.connect() as client:
        for number in range(10):
            at = number * 8 * page + 512
            client.write(at - 512, b"z" * 8 * page)
            client.flush()
            start = time.monotonic()
            client.zero(at, 6 * page)
            longest = max(longest, time.monotonic() - start)
            if client.read(at - 512, 8 * page) != b"z" * 512 + bytes(6 * page) + b"z" * (2 * page - 512):
                raise Failure(f"the zeroes at {at} do not end where they should")
    # The device takes a millisecond; a server that sleeps meanwhile, up to a second.
    if longest > 0.3:
        raise Failure(f"zeroes took {longest:.3f} s")
    return f"10 times, {1000 * longest:.1f} ms at most"


CHECKS = {
    "nbdinfo": nbdinfo, "fio-verify": fio_verify, "fio-mix": fio_mix, "nbdcopy": nbdcopy,
    "qemu-io": qemu_io, "qemu-img": qemu_img, "zeroes": zeroes, "flush-path": flush_path,
}  # fmt: skip


def main(given):
    with Drive(given) as drive:
        for name in given.only or CHECKS:
            start = time.monotonic()
            say(f"{name}: {CHECKS[name](drive, given)} ({time.monotonic() - start:.1f} s)")
