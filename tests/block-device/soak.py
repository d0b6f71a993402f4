"""Random clients for long: every sector is compared with a shadow, the server's memory with a bound.

Several connections write, read, trim, zero and flush at once, some hang up in the midst of a request, and with
--cut-every the power goes now and then. shadow.py knows what each sector may hold.
"""

import random
import selectors
import time

from client import Client, Closed
from common import Failure, Loss, Progress, memory, verdict
from drive import Drive
from protocol import *  # noqa: F403 (its names are those of the protocol's document)
from shadow import SECTOR, Shadow, fill, stamp_of

MIB = 1 << 20
LIMBO = 2.0  # seconds after which a request of a connection that hung up surely has no more effect
KINDS = {READ: 40, WRITE: 40, TRIM: 8, WRITE_ZEROES: 8, FLUSH: 4}


class Request:
    def __init__(self, command, first, count):
        self.command, self.first, self.count = command, first, count
        self.entries, self.allowed, self.undisturbed = [], None, True
        self.durable, self.whole, self.submitted = False, False, 0

    def sectors(self):
        return range(self.first, self.first + self.count)

    def overlaps(self, other):
        return self.first < other.first + other.count and other.first < self.first + self.count


class Soak:
    def __init__(self, drive, given):
        self.drive, self.given, self.rng = drive, given, random.Random(given.seed)
        self.sectors = min(drive.size, given.span * MIB) // SECTOR
        # Part of the span lies at the device's end.
        self.split = self.sectors // 2
        self.jump = drive.size // SECTOR - self.sectors
        self.shadow, self.busy, self.limbo = Shadow(self.sectors), {}, []
        self.clients, self.clock, self.stamp, self.requests, self.flushes = {}, 0, 0, 0, 0
        statistics = drive.statistics()
        self.page = (statistics["device"]["page_bytes"] if statistics else 4096) // SECTOR

    def place(self, sector):
        """Returns the offset on the device of a sector of the span."""
        return (sector + (self.jump if sector >= self.split else 0)) * SECTOR

    def connect(self):
        client = self.drive.connect(structured=self.rng.random() < 0.7)
        self.clients[client] = {}

    def tick(self):
        self.clock += 1
        return self.clock

    # Requests.

    def draw(self):
        command = self.rng.choices(list(KINDS), KINDS.values())[0]
        if command == FLUSH:
            return Request(command, 0, 0)
        count = min(self.rng.choice([1, 1, 7, 8, 8, 32, 100, 256]), self.split)
        first = self.rng.randrange(self.sectors - count)
        if self.rng.random() < 0.5:
            first -= first % 8
        if first < self.split < first + count:
            first = self.split - count
        return Request(command, first, count)

    def submit(self, client):
        request = self.draw()
        reading = request.command == READ
        if not reading and any(sector in self.busy for sector in request.sectors()):
            return
        request.submitted = self.tick()
        flags, data = 0, b""
        if reading:
            request.allowed = [self.shadow.readable(sector) for sector in request.sectors()]
            request.undisturbed = not any(sector in self.busy for sector in request.sectors())
        elif request.command != FLUSH:
            flags, data = self.begin_write(request)
        length = request.count * SECTOR if not data else 0
        at = self.place(request.first)
        cookie = client.submit(request.command, at, length, data, flags)
        self.clients[client][cookie] = request

    def begin_write(self, request):
        """Notes a write, trim or write of zeroes in the shadow; returns its flags and data."""
        stamp = 0
        if request.command == WRITE:
            self.stamp += 1
            stamp = self.stamp
        request.entries = self.shadow.submit(request.first, request.count, stamp)
        for sector in request.sectors():
            self.busy[sector] = self.busy.get(sector, 0) + 1
        for pending in self.clients.values():
            for other in pending.values():
                if other.command == READ and other.overlaps(request):
                    self.disturb(other, request, stamp)
        flags = FUA if self.rng.random() < 0.1 and self.drive.flags & SEND_FUA else 0
        request.durable = bool(flags) or (request.command == TRIM and self.drive.server.trims_are_durable)
        if request.command == WRITE_ZEROES:
            flags |= self.rng.choice([0, NO_HOLE, FAST_ZERO if self.drive.flags & SEND_FAST_ZERO else 0])
        if request.command != WRITE:
            return flags, b""
        return flags, b"".join(fill(sector, stamp) for sector in request.sectors())

    def disturb(self, read, write, stamp):
        read.undisturbed = False
        for sector in set(read.sectors()) & set(write.sectors()):
            read.allowed[sector - read.first].add(stamp)

    # Replies.

    def take(self, client):
        """Takes one reply and judges it."""
        cookie, error, data = client.reply()
        request = self.clients[client].pop(cookie)
        self.requests += 1
        if error and not (error == ENOTSUP and request.command == WRITE_ZEROES):
            raise Failure(f"request {request.command} of {request.count} sectors ended with error {error}")
        if request.command == READ:
            self.judge(request, data)
        elif request.command == FLUSH:
            self.shadow.flushed(request.submitted)
            self.flushes += 1
        else:
            self.release(request)
            self.end_write(request, error)

    def end_write(self, request, error):
        if error:
            self.shadow.fail(request.entries)
        elif request.command != TRIM:
            self.shadow.acknowledge(request.entries, self.tick(), request.durable)
        else:
            # Trims take whole pages; what is covered in part may keep its data.
            clock, page = self.tick(), self.page
            start, end = (self.place(s) // SECTOR for s in (request.first, request.first + request.count - 1))
            whole = range(-(-start // page) * page, (end + 1) // page * page)
            for sector, entry in request.entries:
                certain = self.place(sector) // SECTOR in whole
                self.shadow.acknowledge([(sector, entry)], clock, request.durable, certain)

    def release(self, request):
        for sector in request.sectors():
            self.busy[sector] -= 1
            if not self.busy[sector]:
                del self.busy[sector]

    def judge(self, request, data):
        for sector, allowed in zip(request.sectors(), request.allowed):
            at = (sector - request.first) * SECTOR
            part = bytes(data[at : at + SECTOR])
            stamp = stamp_of(sector, part)
            if stamp not in allowed | self.shadow.readable(sector):
                raise Loss(f"sector {self.place(sector) // SECTOR} holds {self.describe(part, stamp)}, not {allowed}")
            if request.undisturbed and sector not in self.busy:
                self.shadow.resolve(sector, stamp)

    def describe(self, part, stamp):
        return f"what was never written to it ({part[:16].hex()})" if stamp is None else f"write {stamp}"

    # What goes wrong on purpose.

    def hang_up(self, client):
        """Ends a connection with requests in flight, and half of one more."""
        if self.rng.random() < 0.5:
            header = client.header(WRITE, self.place(0), 8 * SECTOR, cookie=1 << 60)
            client.send(header, bytes(self.rng.randrange(8 * SECTOR)))
            # Half a write must not have any effect: nothing of it is noted.
        pending = self.clients.pop(client)
        client.close()
        for request in pending.values():
            self.shadow.unknown(request.entries)
            if request.entries:
                self.limbo.append((time.monotonic() + LIMBO, request))

    def cut(self):
        """Cuts the power, and compares every sector with what may have survived."""
        how = self.rng.choice(self.given.how or ["kill"])
        if self.rng.random() < 0.5:
            self.until_flushed()
        self.drive.lose_power(how)
        for client in self.clients:
            client.close()
        self.clients.clear()
        self.busy.clear()
        self.limbo.clear()
        self.drive.restart()
        with Client(self.drive.socket) as client:
            for start, end in ((0, self.split), (self.split, self.sectors)):
                for first in range(start, end, 2048):
                    count = min(2048, end - first)
                    self.survived(first, count, client.read(self.place(first), count * SECTOR), how)

    def until_flushed(self):
        """Goes on until a flush is acknowledged: the moment at which a drive must be through with it."""
        flushes = self.flushes
        while flushes == self.flushes:
            self.step()

    def survived(self, first, count, data, how):
        for sector in range(first, first + count):
            part = data[(sector - first) * SECTOR :][:SECTOR]
            stamp = stamp_of(sector, part)
            if stamp not in (may := self.shadow.survivors(sector)):
                place = self.place(sector) // SECTOR
                raise Loss(f"after cut {self.drive.cuts} ({how}) sector {place} holds {self.describe(part, stamp)}, not {may}")
            self.shadow.found(sector, stamp)

    # The loop.

    def step(self):
        """Sends some requests and takes what has come back."""
        now = time.monotonic()
        while self.limbo and self.limbo[0][0] < now:
            self.release(self.limbo.pop(0)[1])
        while len(self.clients) < self.given.connections:
            self.connect()
        client = self.rng.choice(list(self.clients))
        if self.rng.random() < 0.0005:
            return self.hang_up(client)
        if len(self.clients[client]) < self.given.depth:
            self.submit(client)
        full = all(len(pending) >= self.given.depth for pending in self.clients.values())
        for ready in self.ready(10 if full else 0):
            self.take(ready)
        return None

    def ready(self, wait):
        """Returns the connections on which something has arrived."""
        waiting = [client for client in self.clients if client.inbox]
        with selectors.DefaultSelector() as selector:
            for client in self.clients:
                selector.register(client.socket, selectors.EVENT_READ, client)
            events = selector.select(0 if waiting else wait)
        if not events and not waiting and wait:
            raise Failure(f"no reply for {wait} s")
        return set(waiting) | {key.data for key, _ in events}


def arguments(parser):
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--connections", type=int, default=6)
    parser.add_argument("--depth", type=int, default=8, help="requests in flight of each connection")
    parser.add_argument("--span", type=int, default=64, metavar="MIB", help="how much of the device is used, at both its ends")
    parser.add_argument("--cut-every", type=float, metavar="S", help="cut the power about so often")
    parser.add_argument("--how", action="append", choices=["kill", "ctl"], default=[], help="see sqlite")
    parser.add_argument("--growth", type=int, default=64, metavar="MIB", help="how much the server's memory may grow after a fifth of the time")


def soak(given, drive):
    """Runs random clients for as long as asked; returns what is told of it."""
    run, progress, start = Soak(drive, given), Progress(), time.monotonic()
    end, warm, most = start + 60 * given.minutes, 0, 0
    next_cut = start + given.cut_every if given.cut_every else float("inf")
    while (now := time.monotonic()) < end:
        try:
            for _ in range(200):
                run.step()
        except Closed:
            raise Failure(f"the server closed a connection; {drive.state()}") from None
        most = max(most, memory(drive.process.pid))
        if now < start + 12 * given.minutes:
            warm = most
        elif most > warm * 1.2 + given.growth * MIB:
            raise Loss(f"the server's memory grew from {warm // MIB} to {most // MIB} MiB")
        if now > next_cut:
            run.cut()
            next_cut = time.monotonic() + given.cut_every * run.rng.uniform(0.5, 1.5)
        rate = run.requests / (now - start + 1e-9)
        progress.show(f"{run.requests} requests, {rate:.0f} a second, {drive.cuts} cuts, {most // MIB} MiB")
    progress.done()
    return f"{run.requests} requests, {drive.cuts} cuts; memory {warm // MIB} MiB warm, {most // MIB} MiB at most"


def main(given):
    with Drive(given) as drive:
        verdict(given, "soak", lambda: soak(given, drive))
