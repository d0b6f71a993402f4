"""Power cuts under file systems: after each, what was synced must be there with its content, and fsck be content."""

import os

import cuts
from common import Loss, say, verdict
from drive import MAKE
from files import FILES, SECTOR, content, operation
from writer import last_durable

ZEROS = bytes(SECTOR)


class Folder:
    """What one writer's folder must hold. `versions` says which operation wrote each file; None: it is not there."""

    def __init__(self, seed):
        self.seed, self.number, self.versions = seed, 0, {}

    def apply(self, number):
        kind, name = operation(self.seed, number)
        if kind in ("overwrite", "replace"):
            self.versions[name] = number
        elif kind == "remove":
            self.versions.pop(name, None)

    def check(self, path, acknowledged):
        """Compares all files; takes over what the operation in flight left, which must then stay."""
        for number in range(self.number + 1, acknowledged + 1):
            self.apply(number)
        self.number = acknowledged + 1
        kind, touched = operation(self.seed, self.number)
        for name in range(FILES):
            in_flight = kind if name == touched else None
            self.check_file(path / f"file-{name}", name, in_flight)
        for entry in os.listdir(path):
            if entry.startswith("loose-"):
                self.check_loose(path / entry, int(entry[6:]))

    def check_file(self, path, name, in_flight):
        found = path.read_bytes() if path.exists() else None
        version = self.versions.get(name)
        old = None if version is None else content(self.seed, version)
        if found == old:
            return
        new = content(self.seed, self.number)
        if in_flight == "remove" and found is None:
            del self.versions[name]
        elif in_flight in ("overwrite", "replace") and found == new:
            self.versions[name] = self.number
        elif in_flight == "overwrite" and found is not None and mixture(found, [old or b"", new]):
            # Neither old nor new: whatever it is now, nobody was promised anything. It starts anew.
            path.unlink()
            self.versions.pop(name, None)
        else:
            raise Loss(f"{path.name} is not what was synced: {describe(found, old)}")

    def check_loose(self, path, number):
        """A file that was never synced may lack anything, but hold nothing that was not written to it."""
        if not mixture(path.read_bytes(), [content(self.seed, number)]):
            raise Loss(f"{path.name} holds what was never written to it")


def mixture(found, versions):
    """Returns whether each sector is that of one of the versions, or zeros."""
    if len(found) > max(map(len, versions)):
        return False
    for at in range(0, len(found), SECTOR):
        part = found[at : at + SECTOR]
        # A version that ends within the sector is followed by zeros.
        if part.strip(b"\0") and not any(
            part == version[at : at + SECTOR].ljust(SECTOR, b"\0")[: len(part)] for version in versions
        ):
            return False
    return True


def describe(found, old):
    if found is None or old is None:
        return "missing" if found is None else "there, though removed"
    if len(found) != len(old):
        return f"{len(found)} bytes instead of {len(old)}"
    wrong = sum(found[at : at + SECTOR] != old[at : at + SECTOR] for at in range(0, len(old), SECTOR))
    return f"{wrong} of {-(-len(old) // SECTOR)} sectors differ"


class Files(cuts.Job):
    """Several writers, each in a folder of its own."""

    def __init__(self, given):
        self.folders = [Folder(given.seed * 10 + writer) for writer in range(given.writers)]

    def begin(self, path):
        for writer in range(len(self.folders)):
            (path / f"writer-{writer}").mkdir()
        os.sync()

    def writers(self, path, rng):
        return [
            ("files.py", path / f"writer-{number}", folder.seed, folder.number + 1)
            for number, folder in enumerate(self.folders)
        ]

    def check(self, path, printed):
        for number, (folder, lines) in enumerate(zip(self.folders, printed)):
            folder.check(path / f"writer-{number}", last_durable(lines, folder.number))
        # What was found is now promised: it must outlive the next cut.
        os.sync()

    def told(self):
        return f"{sum(folder.number for folder in self.folders)} operations, all synced ones there"


def arguments(parser):
    cuts.arguments(parser)
    parser.add_argument("--filesystem", action="append", choices=MAKE, help="default: each in turn")
    parser.add_argument("--writers", type=int, default=3)


def main(given):
    for kind in given.filesystem or MAKE:
        job = Files(given)
        verdict(given, kind, lambda: cuts.rounds(given, kind, job, kind))
        say(f"{kind}: {job.told()}")
