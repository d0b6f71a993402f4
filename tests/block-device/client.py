"""A small NBD client: requests may be pipelined, and the socket is open to those who want to misbehave."""

import select
import socket
import struct

from protocol import *  # noqa: F403 (its names are those of the protocol's document)


class Closed(Exception):
    """The server closed the connection."""


class Refused(Exception):
    """The server answered a request with an error; `code` is its number."""

    def __init__(self, what, code):
        super().__init__(f"{what}: error {code}")
        self.code = code


class Socket:
    """A connection to a Unix socket, before any handshake."""

    def __init__(self, path, limit=60):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(limit)
        self.limit, self.inbox = limit, bytearray()
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise

    def send(self, *parts):
        """Sends all; takes replies in meanwhile, lest both sides wait for each other to read."""
        rest = memoryview(b"".join(parts))
        while rest:
            readable, writable, _ = select.select([self.socket], [self.socket], [], self.limit)
            if not readable and not writable:
                raise TimeoutError("the server neither reads nor writes")
            if readable:
                self.take_in()
            if writable:
                try:
                    rest = rest[self.socket.send(rest, socket.MSG_DONTWAIT) :]
                except BlockingIOError:
                    pass
                except (BrokenPipeError, ConnectionResetError):
                    raise Closed() from None

    def take_in(self):
        """Moves what has arrived, or arrives next, to the inbox."""
        try:
            part = self.socket.recv(1 << 20)
        except ConnectionResetError:
            raise Closed() from None
        if not part:
            raise Closed()
        self.inbox += part

    def receive(self, length):
        while len(self.inbox) < length:
            self.take_in()
        data = bytes(self.inbox[:length])
        del self.inbox[:length]
        return data

    def unpack(self, form):
        return struct.unpack(form, self.receive(struct.calcsize(form)))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def greet(self):
        """Does the first step of the handshake; options follow."""
        magic, version, self.server_flags = self.unpack(">QQH")
        if (magic, version) != (NBDMAGIC, IHAVEOPT):
            raise ValueError("this is no NBD server of the new style")
        self.send(struct.pack(">I", self.server_flags & (FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES)))

    def option(self, number, data=b""):
        """Sends an option and returns its replies as (type, data), the last of which ends it."""
        self.send(struct.pack(">QII", IHAVEOPT, number, len(data)), data)
        replies = []
        while True:
            magic, of, kind, length = self.unpack(">QIII")
            if magic != OPTION_REPLY or of != number:
                raise ValueError(f"bad reply to option {number}")
            replies.append((kind, self.receive(length)))
            if kind == REP_ACK or kind & REP_ERROR:
                return replies


class Client(Socket):
    """A connection that is ready for requests."""

    def __init__(self, path, limit=60, structured=True, name=""):
        super().__init__(path, limit)
        try:
            self.greet()
            self.structured = structured and self.option(OPT_STRUCTURED_REPLY)[-1][0] == REP_ACK
            self.go(name.encode())
        except BaseException:
            self.close()
            raise
        self.cookie = 0
        self.reads = {}  # cookie -> (offset, buffer, errors so far)
        self.waiting = {}  # cookie -> command

    def go(self, name):
        """Chooses the export and learns its size, flags and preferred size of blocks."""
        self.minimum_block, self.block, self.maximum = 1, 4096, 1 << 25
        data = struct.pack(">I", len(name)) + name + struct.pack(">HH", 1, INFO_BLOCK_SIZE)
        for kind, reply in self.option(OPT_GO, data):
            if kind & REP_ERROR:
                raise Refused("GO", kind & ~REP_ERROR)
            if kind != REP_INFO:
                continue
            what = struct.unpack(">H", reply[:2])[0]
            if what == INFO_EXPORT:
                self.size, self.flags = struct.unpack(">QH", reply[2:])
            elif what == INFO_BLOCK_SIZE:
                self.minimum_block, self.block, self.maximum = struct.unpack(">III", reply[2:])

    def submit(self, command, offset=0, length=0, data=b"", flags=0):
        """Sends a request without waiting; returns its cookie."""
        self.cookie += 1
        if command == READ:
            self.reads[self.cookie] = (offset, bytearray(length))
        self.waiting[self.cookie] = command
        self.send(self.header(command, offset, len(data) or length, flags), data)
        return self.cookie

    def header(self, command, offset, length, flags=0, cookie=None):
        return struct.pack(
            ">IHHQQI", REQUEST, flags, command, cookie or self.cookie, offset, length
        )

    def reply(self):
        """Waits for the end of any request; returns (cookie, error, data of a read or None)."""
        error = 0
        while True:
            (magic,) = self.unpack(">I")
            if magic == SIMPLE_REPLY:
                error, cookie = self.unpack(">IQ")
                if self.waiting.get(cookie) == READ and not error:
                    offset, buffer = self.reads[cookie]
                    buffer[:] = self.receive(len(buffer))
                break
            if magic != STRUCTURED_REPLY:
                raise ValueError(f"reply with magic {magic:#x}")
            flags, kind, cookie, length = self.unpack(">HHQI")
            error = self.chunk(kind, cookie, length) or error
            if flags & CHUNK_DONE:
                break
        if cookie not in self.waiting:
            raise ValueError(f"a reply with the cookie {cookie}, which no request has")
        del self.waiting[cookie]
        data = self.reads.pop(cookie, (0, None))[1]
        return cookie, error, data

    def chunk(self, kind, cookie, length):
        """Takes one chunk of a structured reply; returns its error or 0."""
        body = self.receive(length)
        if kind & 0x8000:
            return struct.unpack(">I", body[:4])[0]
        if kind in (CHUNK_DATA, CHUNK_HOLE):
            offset, buffer = self.reads[cookie]
            at = struct.unpack(">Q", body[:8])[0] - offset
            part = body[8:] if kind == CHUNK_DATA else bytes(struct.unpack(">I", body[8:])[0])
            if at < 0 or at + len(part) > len(buffer):
                raise ValueError("a chunk lies outside of what was read")
            buffer[at : at + len(part)] = part
        return 0

    def call(self, what, *arguments, **named):
        """Submits a request and waits for its end (no others may be in flight)."""
        cookie = self.submit(*arguments, **named)
        ended, error, data = self.reply()
        if ended != cookie:
            raise ValueError("the reply belongs to another request")
        if error:
            raise Refused(what, error)
        return data

    def read(self, offset, length):
        return bytes(self.call("read", READ, offset, length))

    def write(self, offset, data, flags=0):
        self.call("write", WRITE, offset, data=data, flags=flags)

    def trim(self, offset, length, flags=0):
        self.call("trim", TRIM, offset, length, flags=flags)

    def zero(self, offset, length, flags=0):
        self.call("write zeroes", WRITE_ZEROES, offset, length, flags=flags)

    def flush(self):
        self.call("flush", FLUSH)

    def disconnect(self):
        """Says goodbye as the protocol wants it."""
        self.send(self.header(DISC, 0, 0))
        self.close()
