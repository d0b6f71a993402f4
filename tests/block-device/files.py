"""The operations of the file system check, known to the writer and to the judge; as a program, the writer.

files.py FOLDER SEED FIRST: carries out operation FIRST and those after it without end, and prints the number of each
once it is durable, that is, once fsync returned.
"""

import hashlib
import os
import random
import sys

from writer import write_on

FILES = 40
SECTOR = 512
KINDS = ["overwrite", "overwrite", "replace", "replace", "remove", "loose", "drop"]


def operation(seed, number):
    """Returns (kind, file) of an operation.

    overwrite  writes a file in place, syncs it and its folder
    replace    writes another file, syncs it, renames it over the first, syncs the folder
    remove     removes a file and syncs the folder
    loose      writes a new file and syncs nothing
    drop       removes a loose file written earlier, if there is one, and syncs nothing
    """
    rng = random.Random(f"{seed}.{number}")
    return rng.choice(KINDS), rng.randrange(FILES)


def content(seed, number):
    """Returns what an operation writes: from nothing to 100 KB."""
    length = random.Random(f"{seed}.{number}.length").choice([0, 1, 700, 4096, 10000, 65536, 100001])
    return hashlib.shake_128(f"{seed}.{number}".encode()).digest(length)


def sync(path, flags=os.O_RDONLY):
    file = os.open(path, flags)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def put(path, data, synced=True):
    """Writes a file in place; whether it grows or shrinks, the length is set at the end."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for at in range(0, len(data), 16384):
            os.pwrite(file, data[at : at + 16384], at)
        os.ftruncate(file, len(data))
        if synced:
            os.fsync(file)
    finally:
        os.close(file)


def carry_out(folder, seed, number):
    kind, name = operation(seed, number)
    path = os.path.join(folder, f"file-{name}")
    if kind == "loose":
        return put(os.path.join(folder, f"loose-{number}"), content(seed, number), synced=False)
    if kind == "drop":
        loose = [other for other in os.listdir(folder) if other.startswith("loose-")]
        if len(loose) > 10:
            os.unlink(os.path.join(folder, min(loose)))
        return None
    if kind == "overwrite":
        put(path, content(seed, number))
    elif kind == "replace":
        put(path + ".new", content(seed, number))
        os.rename(path + ".new", path)
    elif os.path.exists(path):
        os.unlink(path)
    return sync(folder)


if __name__ == "__main__":
    folder, seed, first = sys.argv[1:]
    write_on(first, lambda number: carry_out(folder, seed, number))
