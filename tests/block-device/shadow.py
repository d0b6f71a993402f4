"""What every sector of a device may hold, by what was promised: the judge of soak.py.

A sector's content follows from its place and a stamp; stamp 0 is zeros. `settled` is what the sector surely held
last; `later` lists what was written since: until a flush (or FUA) makes one of these durable, a power cut may leave any.
"""

import hashlib
import struct
from array import array

SECTOR = 512
ZEROS = bytes(SECTOR)


def fill(sector, stamp):
    """Returns the content of a sector; it names both, so that whatever is found can be explained."""
    if not stamp:
        return ZEROS
    head = struct.pack("<QQ", sector, stamp)
    return head + hashlib.shake_128(head).digest(32) * 15 + head


def stamp_of(sector, data):
    """Returns the stamp of what was read, or None if nobody ever wrote that here."""
    if data == ZEROS:
        return 0
    place, stamp = struct.unpack("<QQ", data[:16])
    return stamp if place == sector and data == fill(sector, stamp) else None


class Entry:
    """Something that was written: when it was acknowledged, and whether it is certain that it took effect."""

    __slots__ = ("acknowledged", "certain", "stamp")

    def __init__(self, stamp):
        self.stamp, self.acknowledged, self.certain = stamp, None, True


class Shadow:
    def __init__(self, sectors):
        self.settled = array("Q", bytes(8 * sectors))
        self.later = {}  # sector -> entries, the oldest first; the last ones may be in flight

    def submit(self, first, count, stamp):
        """Notes a write that is in flight; returns what `acknowledge` wants."""
        entries = []
        for sector in range(first, first + count):
            entry = Entry(stamp)
            self.later.setdefault(sector, []).append(entry)
            entries.append((sector, entry))
        return entries

    def acknowledge(self, entries, clock, durable, certain=True):
        """Notes that a write was acknowledged at `clock`; `certain`: what was before can't be read any more."""
        for sector, entry in entries:
            entry.acknowledged, entry.certain = clock, certain
            if durable and certain:
                self.settle(sector, entry)

    def fail(self, entries):
        """Notes that a request ended in an error: it must not have had an effect."""
        for sector, entry in entries:
            self.later[sector].remove(entry)
            self.tidy(sector)

    def unknown(self, entries):
        """Notes that nobody will know whether a write took effect: its connection is gone."""
        for _, entry in entries:
            entry.certain = False
            entry.acknowledged = float("inf")

    def flushed(self, submitted):
        """Notes that a flush which was submitted at that time is done."""
        for sector in list(self.later):
            done = [e for e in self.later[sector] if e.certain and e.acknowledged is not None and e.acknowledged < submitted]
            if done:
                self.settle(sector, done[-1])

    def settle(self, sector, entry):
        """A power cut leaves this entry or a later one."""
        entries = self.later[sector]
        del entries[: entries.index(entry) + 1]
        self.settled[sector] = entry.stamp
        self.tidy(sector)

    def tidy(self, sector):
        if not self.later[sector]:
            del self.later[sector]

    def readable(self, sector):
        """Returns the stamps that a read may return now."""
        stamps = {self.settled[sector]}
        for entry in self.later.get(sector, ()):
            if entry.acknowledged is not None and entry.certain:
                stamps = {entry.stamp}
            else:
                stamps.add(entry.stamp)
        return stamps

    def survivors(self, sector):
        """Returns the stamps that a power cut may leave."""
        return {self.settled[sector], *(entry.stamp for entry in self.later.get(sector, ()))}

    def found(self, sector, stamp):
        """Takes over what was read after a cut; from now on it must stay."""
        self.later.pop(sector, None)
        self.settled[sector] = stamp

    def resolve(self, sector, stamp):
        """Takes over what a read returned where it was uncertain, if nothing is in flight there."""
        entries = self.later.get(sector)
        if not entries or all(e.certain for e in entries) or any(e.acknowledged is None for e in entries):
            return
        if entries[-1].stamp != stamp:
            # Uncertain ones at the end did not take effect.
            while entries and not entries[-1].certain and entries[-1].stamp != stamp:
                entries.pop()
        # One that was never acknowledged stays so: a flush need not cover it.
        if entries:
            entries[-1].certain = True
        self.tidy(sector)
