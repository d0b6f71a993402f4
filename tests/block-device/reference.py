"""A naive block device with a volatile cache, as an NBD server: reference.py SOCKET FILE [--fault NAME]

It keeps its promises in the simplest way. Its faults can be chosen: they show that the checks find them. Killing it
is a power cut: what is in its cache is lost, but for blocks that happened to be written back.

    flush    a flush is acknowledged and does nothing
    fua      the flag FUA is ignored
    torn     a flush writes the cache back after it was acknowledged
    stale    one write in 1,000 is acknowledged and dropped
    trim     a trim does nothing and yet says it did
    leak     memory grows with every request
"""

import argparse
import os
import random
import signal
import socket
import struct
import sys
import threading
import time

from protocol import *  # noqa: F403 (its names are those of the protocol's document)

BLOCK = 512
FLAGS = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES | CAN_MULTI_CONN
LONGEST = 32 << 20
FAULTS = ("flush", "fua", "torn", "stale", "trim", "leak")


class Device:
    """A file behind a cache of sectors that are not yet written back."""

    def __init__(self, path, size, fault):
        self.file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if size and os.fstat(self.file).st_size < size:
            os.ftruncate(self.file, size)
        self.size = os.fstat(self.file).st_size
        self.fault, self.cache, self.lock, self.leaked = fault, {}, threading.Lock(), []

    def read(self, offset, length):
        with self.lock:
            data = bytearray(os.pread(self.file, length, offset))
            if self.cache:
                for at in range(0, length, BLOCK):
                    if (block := self.cache.get(offset + at)) is not None:
                        data[at : at + BLOCK] = block
        return data

    def write(self, offset, data, fua=False):
        if self.fault == "stale" and random.random() < 0.001:
            return
        if self.fault == "leak":
            self.leaked.append(bytes(len(data)) + b"x")
        with self.lock:
            for at in range(0, len(data), BLOCK):
                self.cache[offset + at] = data[at : at + BLOCK]
            if fua and self.fault != "fua":
                self.back(range(offset, offset + len(data), BLOCK))

    def back(self, blocks):
        """Writes blocks of the cache back (under the lock)."""
        for at in blocks:
            if (block := self.cache.pop(at, None)) is not None:
                os.pwrite(self.file, block, at)

    def trim(self, offset, length):
        if self.fault != "trim":
            self.write(offset, bytes(length), fua=True)

    def flush(self):
        if self.fault == "torn":
            threading.Timer(0.02, self.flush_now).start()
        elif self.fault != "flush":
            self.flush_now()

    def flush_now(self):
        with self.lock:
            self.back(list(self.cache))

    def some_back(self):
        """Writes random sectors back, in no order, as a drive does in its own time."""
        while True:
            time.sleep(0.05)
            with self.lock:
                blocks = list(self.cache)
                self.back(random.sample(blocks, len(blocks) // 8))


class Connection:
    """Serves one client."""

    def __init__(self, device, peer):
        self.device, self.peer = device, peer.makefile("rb", 1 << 20)
        self.socket = peer

    def take(self, form):
        data = self.bytes(struct.calcsize(form))
        return struct.unpack(form, data)

    def bytes(self, length):
        data = self.peer.read(length)
        if len(data) < length:
            raise EOFError
        return data

    def serve(self):
        try:
            if self.handshake():
                while self.request():
                    pass
        except (EOFError, OSError):
            pass
        finally:
            self.peer.close()
            self.socket.close()

    def answer(self, option, kind, data=b""):
        self.socket.sendall(struct.pack(">QIII", OPTION_REPLY, option, kind, len(data)) + data)

    def handshake(self):
        """Negotiates; returns whether requests follow."""
        self.socket.sendall(
            struct.pack(">QQH", NBDMAGIC, IHAVEOPT, FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES)
        )
        (flags,) = self.take(">I")
        while True:
            magic, option, length = self.take(">QII")
            if magic != IHAVEOPT or length > 65536:
                return False
            data = self.bytes(length)
            export = struct.pack(">QH", self.device.size, FLAGS)
            if option == OPT_EXPORT_NAME:
                self.socket.sendall(export + (b"" if flags & FLAG_NO_ZEROES else bytes(124)))
                return True
            if option in (OPT_GO, OPT_INFO):
                if not self.is_whole(data):
                    self.answer(option, REP_ERR_INVALID)
                    continue
                self.answer(option, REP_INFO, struct.pack(">H", INFO_EXPORT) + export)
                sizes = struct.pack(">HIII", INFO_BLOCK_SIZE, BLOCK, 4096, LONGEST)
                self.answer(option, REP_INFO, sizes)
                self.answer(option, REP_ACK)
                if option == OPT_GO:
                    return True
            elif option == OPT_LIST:
                self.answer(option, REP_SERVER, struct.pack(">I", 0))
                self.answer(option, REP_ACK)
            elif option == OPT_ABORT:
                self.answer(option, REP_ACK)
                return False
            else:
                self.answer(option, REP_ERR_UNSUP)

    def is_whole(self, data):
        """Returns whether the lengths within the data of GO or INFO add up."""
        if len(data) < 6 or len(data) < 6 + (name := struct.unpack(">I", data[:4])[0]):
            return False
        return len(data) == 6 + name + 2 * struct.unpack(">H", data[4 + name : 6 + name])[0]

    def request(self):
        """Carries out one request; returns whether more may follow."""
        magic, flags, command, cookie, offset, length = self.take(">IHHQQI")
        if magic != REQUEST or command == DISC:
            return False
        if command in (READ, WRITE) and length > LONGEST:
            return False
        data = self.bytes(length) if command == WRITE else b""
        error, reply = self.carry_out(flags, command, offset, length, data)
        self.socket.sendall(struct.pack(">IIQ", SIMPLE_REPLY, error, cookie) + reply)
        return True

    def carry_out(self, flags, command, offset, length, data):
        if command == FLUSH:
            self.device.flush()
            return 0, b""
        if command not in (READ, WRITE, TRIM, WRITE_ZEROES):
            return EINVAL, b""
        if offset % BLOCK or length % BLOCK or offset + length > self.device.size:
            return EINVAL if command in (READ, TRIM) else ENOSPC, b""
        if command == READ:
            return 0, self.device.read(offset, length)
        if command == TRIM:
            self.device.trim(offset, length)
        else:
            self.device.write(offset, data or bytes(length), bool(flags & FUA))
        return 0, b""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("socket")
    parser.add_argument("file")
    parser.add_argument("--size", type=int, default=0, help="bytes, if the file is to be made or to grow")
    parser.add_argument("--fault", choices=FAULTS)
    given = parser.parse_args()
    device = Device(given.file, given.size, given.fault)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(given.socket)
    listener.listen(64)

    def stop(*_):
        device.fault = None
        device.flush_now()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    threading.Thread(target=device.some_back, daemon=True).start()
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=Connection(device, peer).serve, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
