"""Builds what the guest boots: Debian's kernel with the modules it needs, and programs copied from here and packages.

Nothing is installed on this machine: packages are downloaded and unpacked in a cache folder.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from common import Failure, Missing, find, need, run, say
from servers import HERE

MODULES = ["virtio_pci", "virtio_blk", "ext4", "xfs", "btrfs", "f2fs", "crc32c_generic", "crc32_generic"]

# Programs and the packages that bring them and their libraries; those that this machine has are taken from it.
PROGRAMS = [
    "fio", "sqlite3", "mkfs.ext4", "e2fsck", "mkfs.xfs", "xfs_repair", "mkfs.btrfs", "btrfs", "mkfs.f2fs", "fsck.f2fs",
    "db_bench",
]  # fmt: skip
ROCKSDB = ["rocksdb-tools", "librocksdb7.8", "libgflags2.2", "libsnappy1v5"]


def packages(folder, names):
    """Downloads Debian packages and unpacks them into a folder."""
    need("apt-get", "dpkg-deb")
    folder.mkdir(parents=True, exist_ok=True)
    run("apt-get", "download", *names, cwd=folder, limit=600)
    for package in folder.glob("*.deb"):
        run("dpkg-deb", "-x", package, folder, limit=300)
        package.unlink()


def kernel_package():
    """Returns the name of the newest kernel of Debian's stable line, by what linux-image-amd64 depends on."""
    need("apt-cache")
    found = re.search(r"Depends: (linux-image-\S+)", run("apt-cache", "depends", "linux-image-amd64").stdout)
    if not found:
        raise Missing("the package linux-image-amd64 is unknown; apt-get update")
    return found[1]


def built(folder, make):
    """Makes a folder unless it is there; a half-made one never has its name."""
    if not folder.exists():
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        make(part)
        part.rename(folder)
    return folder


def libraries(program, places):
    """Returns the paths of the shared libraries of a program, its loader included."""
    run_with = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, places)))
    text = run("ldd", program, env=run_with, check=False).stdout
    if "not found" in text:
        raise Failure(f"{program} lacks libraries: {text}")
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", text)]


def put(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy(source, target)


def add_programs(root, unpacked):
    places = [unpacked / "usr/lib/x86_64-linux-gnu"]
    for name in PROGRAMS:
        path = unpacked / "usr/bin" / name
        path = path if path.exists() else find(name)
        if not path:
            need(name)
        put(path, root / "usr/bin" / name)
        for library in libraries(path, places):
            # The loader's place is fixed; all else is found in one folder.
            loader = library.name.startswith("ld-linux")
            put(library, root / "lib64" / library.name if loader else root / "lib/x86_64-linux-gnu" / library.name)


def add_modules(root, kernel):
    """Copies the modules with all that they depend on, and lists them for modprobe."""
    (release,) = os.listdir(kernel / "lib/modules")
    source = kernel / "lib/modules" / release
    run("depmod", "-b", kernel, release)
    depends, by_name = {}, {}
    for line in (source / "modules.dep").read_text().splitlines():
        module, _, others = line.partition(":")
        depends[module] = others.split()
        by_name[Path(module).stem.replace("-", "_")] = module
    for name in MODULES:
        if name not in by_name:
            raise Missing(f"the kernel has no module {name}")
        for module in [by_name[name], *depends[by_name[name]]]:
            put(source / module, root / "lib/modules" / release / module)
    for index in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        put(source / index, root / "lib/modules" / release / index)
    run("depmod", "-b", root, release)


def build(cache):
    """Returns (kernel, initramfs), made in the folder `cache` if they are not there yet."""
    need("busybox", "cpio", "depmod", "ldd")
    name = kernel_package()
    cache.mkdir(parents=True, exist_ok=True)
    kernel = built(cache / name, lambda folder: packages(folder, [name]))
    unpacked = built(cache / "rocksdb", lambda folder: packages(folder, ROCKSDB))
    (image,) = (kernel / "boot").glob("vmlinuz-*")
    version = hashlib.sha256(b"".join((HERE / f).read_bytes() for f in ("guest_image.py", "guest/init"))).hexdigest()
    initramfs = cache / f"initramfs-{version[:12]}-{name}"
    if not initramfs.exists():
        say("building the guest")
        pack(cache / "root", initramfs, kernel, unpacked)
    return image, initramfs


def pack(root, initramfs, kernel, unpacked):
    shutil.rmtree(root, ignore_errors=True)
    put(find("busybox"), root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")
    put(HERE / "guest/init", root / "init")
    (root / "init").chmod(0o755)
    add_programs(root, unpacked)
    add_modules(root, kernel)
    part = initramfs.with_suffix(".part")
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    # Not compressed: an emulated processor unpacks slowly.
    with open(part, "wb") as file:
        run_cpio(root, names, file)
    part.rename(initramfs)
    shutil.rmtree(root)


def run_cpio(root, names, file):
    done = subprocess.run(
        [find("cpio"), "-o", "-H", "newc", "--quiet"], input=names.encode(), stdout=file, cwd=root, timeout=120
    )
    if done.returncode:
        raise Failure("cpio failed")
