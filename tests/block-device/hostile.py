"""Clients that misbehave, one kind after another, while an honest one must be served and memory stay bounded.

A behaviour is a function that opens connections, does its worst and returns them, for they stay open while the honest
client is measured. What it checks itself it reports by Failure.
"""

import random
import socket
import struct
import threading
import time

from client import Client, Closed, Refused, Socket
from common import Failure, memory, say
from drive import Drive
from protocol import *  # noqa: F403 (its names are those of the protocol's document)

MIB = 1 << 20


class Honest(threading.Thread):
    """Writes and reads back its own MiB without end, and notes how long each request took."""

    def __init__(self, drive, given):
        super().__init__(daemon=True)
        self.drive, self.given, self.longest, self.requests = drive, given, 0.0, 0
        self.failure, self.running = None, True

    def run(self):
        try:
            with Client(self.drive.socket, self.given.reply_limit) as client:
                rng = random.Random(self.given.seed)
                while self.running:
                    self.once(client, rng)
                    time.sleep(0.002)
        except (Closed, OSError, ValueError, Refused) as error:
            self.failure = f"{type(error).__name__}: {error}"

    def once(self, client, rng):
        offset, data = rng.randrange(256) * 4096, rng.randbytes(4096)
        start = time.monotonic()
        client.write(offset, data)
        if client.read(offset, 4096) != data:
            raise ValueError("it reads something else than it wrote")
        self.longest = max(self.longest, time.monotonic() - start)
        self.requests += 2

    def end(self):
        self.running = False
        self.join(self.given.reply_limit + 5)
        return self.failure or ("a request has no reply" if self.is_alive() else None)


def open_some(drive, count, kind=Socket, **options):
    """Opens connections; that a server refuses more than it can bear is its right."""
    opened = []
    for _ in range(count):
        try:
            opened.append(kind(drive.socket, 10, **options))
        except (OSError, Closed):
            break
    return opened


def trickle(peer, data):
    """Sends what the server is willing to take, and doesn't mind being thrown out."""
    try:
        peer.socket.settimeout(2)
        peer.socket.sendall(data)
    except OSError:
        pass


def expect_refusal(client, what, *arguments, **named):
    """A request that must end in an error and leave the connection usable."""
    try:
        client.call(what, *arguments, **named)
    except Refused:
        client.read(0, 512)
        return
    raise Failure(f"{what} was carried out")


# Before the handshake ends.


def silent(drive):
    """connects and says nothing"""
    return open_some(drive, 40)


def garbage(drive):
    """answers the greeting with noise"""
    opened = open_some(drive, 20)
    for number, peer in enumerate(opened):
        trickle(peer, random.Random(number).randbytes(100_000))
    return opened


def unknown_options(drive):
    """sends options that don't exist, 20,000 of them, without reading the answers"""
    opened = open_some(drive, 4)
    for peer in opened:
        peer.greet()
        trickle(peer, struct.pack(">QII", IHAVEOPT, 0x7777, 0) * 20_000)
    return opened


def lists(drive):
    """asks for the list of exports 5,000 times"""
    opened = open_some(drive, 4)
    for peer in opened:
        peer.greet()
        trickle(peer, struct.pack(">QII", IHAVEOPT, OPT_LIST, 0) * 5_000)
    return opened


def long_option(drive):
    """announces an option of 4 GiB, and starts to send it"""
    opened = open_some(drive, 8)
    for peer in opened:
        peer.greet()
        trickle(peer, struct.pack(">QII", IHAVEOPT, OPT_GO, 0xFFFFFFFF) + bytes(4 * MIB))
    return opened


def bad_lengths(drive):
    """sends GO and SET_META_CONTEXT whose inner lengths lie"""
    opened = open_some(drive, 4)
    for peer, data in zip(opened, [
        struct.pack(">I", 0xFFFFFFFF) + bytes(20),
        struct.pack(">I", 0) + struct.pack(">H", 0xFFFF),
        struct.pack(">II", 0, 0xFFFFFFFF),
        b"\1",
    ]):  # fmt: skip
        peer.greet()
        option = OPT_SET_META_CONTEXT if len(data) == 8 else OPT_GO
        try:
            if not peer.option(option, data)[-1][0] & REP_ERROR:
                raise Failure(f"option {option} with {data[:12].hex()} was accepted")
        except Closed:
            pass
    return opened


def many_contexts(drive):
    """asks for thousands of meta contexts"""
    opened = open_some(drive, 2)
    for peer in opened:
        peer.greet()
        queries = struct.pack(">I", 4) + b"a:bc"
        data = struct.pack(">II", 0, 100_000) + queries * 100_000
        trickle(peer, struct.pack(">QII", IHAVEOPT, OPT_SET_META_CONTEXT, len(data)) + data)
    return opened


def byte_by_byte(drive):
    """negotiates a byte at a time"""
    opened = open_some(drive, 1)
    for peer in opened:
        for byte in struct.pack(">IQIII", 3, IHAVEOPT, OPT_GO, 6, 0) + bytes(2):
            trickle(peer, bytes([byte]))
            time.sleep(0.01)
    return opened


def come_and_go(drive):
    """connects and hangs up 500 times, with a handshake every tenth time"""
    for number in range(500):
        try:
            (Client if number % 10 == 0 else Socket)(drive.socket, 10).close()
        except (OSError, Closed):
            time.sleep(0.01)
    return []


# With requests.


def beyond_the_end(drive):
    """reads, writes and trims beyond the end"""
    with Client(drive.socket) as client:
        for offset in (client.size, client.size - 512, (1 << 64) - 512):
            for command in (READ, TRIM, WRITE_ZEROES):
                expect_refusal(client, f"request {command} at {offset}", command, offset, 1024)
            expect_refusal(client, f"a write at {offset}", WRITE, offset, data=bytes(1024))
    return []


def unknown_commands(drive):
    """sends commands that don't exist"""
    with Client(drive.socket) as client:
        for command in (9, 77, 0xFFFF):
            expect_refusal(client, f"command {command}", command, 0, 0)
    return []


def bad_magic(drive):
    """follows a good request by one with the wrong magic"""
    client = Client(drive.socket, 10)
    client.read(0, 512)
    client.send(bytes(28))
    try:
        client.receive(1)
    except Closed:
        return []
    raise Failure("the server answered a request with a wrong magic")


def huge_requests(drive):
    """announces writes of 4 GiB and asks for reads of 4 GiB"""
    opened = open_some(drive, 6, Client)
    for number, client in enumerate(opened):
        command = WRITE if number % 2 else READ
        trickle(client, client.header(command, 0, 0xFFFFF000, cookie=1) + bytes(MIB if command == WRITE else 0))
    return opened


def stalled_writes(drive):
    """announces writes of 32 MiB and sends one byte of each"""
    opened = open_some(drive, 16, Client)
    for client in opened:
        trickle(client, client.header(WRITE, 0, 32 * MIB, cookie=1) + b"x")
    return opened


def deaf(drive):
    """asks for gigabytes and reads no reply"""
    opened = open_some(drive, 4, Client)
    for client in opened:
        client.socket.settimeout(0.5)
        try:
            for number in range(64):
                client.socket.sendall(client.header(READ, 0, 16 * MIB, cookie=number + 1))
        except OSError:
            pass
    return opened


def flood(drive):
    """sends 100,000 small requests on each of 4 connections and reads no reply"""
    opened = open_some(drive, 4, Client)
    for client in opened:
        client.socket.setblocking(False)
        data = memoryview(client.header(FLUSH, 0, 0, cookie=7) * 100_000)
        end = time.monotonic() + 1
        while data and time.monotonic() < end:
            try:
                data = data[client.socket.send(data) :]
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:
                break
    return opened


def same_cookie(drive):
    """uses one cookie for all its requests"""
    with Client(drive.socket, 30, structured=False) as client:
        client.send(client.header(FLUSH, 0, 0, cookie=5) * 100)
        for _ in range(100):
            if client.unpack(">IIQ") != (SIMPLE_REPLY, 0, 5):
                raise Failure("a reply to a cookie that was used more than once is wrong")
    return []


def hang_up_in_the_midst(drive):
    """hangs up within a write, 200 times; nothing of the writes may be seen"""
    at = drive.size // 2 // 4096 * 4096
    with Client(drive.socket) as client:
        client.write(at, b"h" * 65536)
        for number in range(200):
            try:
                with Client(drive.socket, 10) as peer:
                    data = peer.header(WRITE, at, 65536, cookie=1) + b"x" * (number * 300)
                    peer.socket.sendall(data)
                    if number % 2:
                        peer.socket.shutdown(socket.SHUT_WR)
            except (OSError, Closed):
                time.sleep(0.01)
        if client.read(at, 65536) != b"h" * 65536:
            raise Failure("a write whose data did not all arrive had an effect")
    return []


def leave_writes_behind(drive):
    """sends whole writes of 16 MiB and hangs up at once, 10 times"""
    for _ in range(10):
        with Client(drive.socket, 10) as peer:
            trickle(peer, (peer.header(WRITE, MIB, 16 * MIB, cookie=1) + bytes(16 * MIB)) * 2)
    return []


def idle_after_much(drive):
    """moves 64 MiB on each of 30 connections, and then says nothing"""
    opened = open_some(drive, 30, Client)
    for peer in opened:
        data = bytes(32 * MIB)
        peer.write(32 * MIB, data)
        if peer.read(32 * MIB, len(data)) != data:
            raise Failure("a read returns something else than was written")
    return opened


class Asker(Client):
    """A client that may ask what is written."""

    def go(self, name):
        query = b"base:allocation"
        data = struct.pack(">I", len(name)) + name + struct.pack(">II", 1, len(query)) + query
        self.option(OPT_SET_META_CONTEXT, data)
        super().go(name)


def ask_what_is_written(drive):
    """asks for the state of 4 GiB, 250 times at once on each of 4 connections"""
    opened = open_some(drive, 4, Asker)
    for peer in opened:
        span = min(drive.size, 0xFFFFFE00)
        trickle(peer, peer.header(BLOCK_STATUS, 0, span, cookie=1) * 250)
    return opened


BEHAVIOURS = [
    silent, garbage, unknown_options, lists, long_option, bad_lengths, many_contexts, byte_by_byte, come_and_go,
    beyond_the_end, unknown_commands, bad_magic, huge_requests, stalled_writes, deaf, flood, same_cookie,
    hang_up_in_the_midst, leave_writes_behind, idle_after_much, ask_what_is_written,
]  # fmt: skip


def arguments(parser):
    names = [behaviour.__name__ for behaviour in BEHAVIOURS]
    parser.add_argument("--only", action="append", choices=names, help="one behaviour (may be repeated)")
    parser.add_argument("--reply-limit", type=float, default=5, metavar="S", help="the longest the honest client may wait")
    parser.add_argument("--memory", type=int, default=768, metavar="MIB", help="how much more memory the server may take")


def misbehave(drive, behaviour, given, at_rest):
    """Lets one kind misbehave while the honest client is served; raises Failure if that harms anyone else."""
    honest = Honest(drive, given)
    honest.start()
    opened, most = [], 0
    try:
        try:
            opened = behaviour(drive)
        except (Closed, OSError) as error:
            raise Failure(f"{behaviour.__name__}: {type(error).__name__} {error}") from None
        for _ in range(10):
            time.sleep(0.1)
            most = max(most, memory(drive.process.pid))
        problem = honest.end()
    finally:
        honest.running = False
        for peer in opened:
            peer.close()
    if drive.process.poll() is not None:
        raise Failure(f"{behaviour.__name__}: the server ended: {drive.said()}")
    if problem:
        raise Failure(f"{behaviour.__name__}: the honest client: {problem}")
    if honest.longest > given.reply_limit:
        raise Failure(f"{behaviour.__name__}: the honest client waited {honest.longest:.1f} s")
    if most > at_rest + given.memory * MIB:
        raise Failure(f"{behaviour.__name__}: the server takes {most // MIB} MiB, {at_rest // MIB} at rest")
    say(
        f"{behaviour.__name__:22}{behaviour.__doc__}: {honest.requests} honest requests, "
        f"longest {honest.longest * 1000:.0f} ms, server {most // MIB} MiB"
    )


def main(given):
    failed = []
    with Drive(given) as drive:
        at_rest = memory(drive.process.pid)
        for behaviour in BEHAVIOURS:
            if given.only and behaviour.__name__ not in given.only:
                continue
            try:
                misbehave(drive, behaviour, given, at_rest)
            except Failure as failure:
                if drive.process.poll() is not None:
                    raise
                say(f"FAILED: {failure}")
                failed.append(behaviour.__name__)
        # All of them are gone: whoever comes now must find the server as it was.
        with drive.connect() as client:
            client.read(0, 4096)
    if failed:
        raise Failure(f"{len(failed)} behaviours: {', '.join(failed)}")
