# Every command, with structured replies and without. URI and STRUCTURED are filled in.
import errno

h.set_request_structured_replies(STRUCTURED)
h.set_strict_mode(0)
h.add_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
h.connect_uri("URI")
assert h.get_structured_replies_negotiated() == STRUCTURED
size = h.get_size()

h.pwrite(b"ab" * 4096, 4096)
h.zero(4096, 4096)
assert h.pread(8192, 4096) == b"\0" * 4096 + b"ab" * 2048
h.zero(4096, 65536, nbd.CMD_FLAG_NO_HOLE | nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_FUA)
h.trim(4096, 65536, nbd.CMD_FLAG_FUA)
h.flush()
h.cache(4096, 0)


def fails(number, call, *arguments):
    try:
        call(*arguments)
    except nbd.Error as error:
        assert error.errnum == number, error
    else:
        raise AssertionError(arguments)


fails(errno.EINVAL, h.pread, 512, size)
fails(errno.EINVAL, h.pread, 511, 0)
fails(errno.EINVAL, h.pread, 512, 0, nbd.CMD_FLAG_REQ_ONE)
fails(errno.EINVAL, h.pwrite, b"x" * 511, 0)
fails(errno.EINVAL, h.trim, 512, size)
fails(errno.ENOSPC, h.pwrite, b"x" * 512, size)
fails(errno.ENOSPC, h.zero, 512, size)

chunks = []


def chunk(data, offset, status, error):
    chunks.append((len(data), offset, status))


if STRUCTURED:
    h.pread_structured(12288, 4096, chunk)
    hole, data = nbd.READ_HOLE, nbd.READ_DATA
    assert [part[1:] for part in chunks] == [(4096, hole), (8192, data), (12288, hole)], chunks
    chunks.clear()
    h.pread_structured(12288, 4096, chunk, nbd.CMD_FLAG_DF)
    assert chunks == [(12288, 4096, data)], chunks
    extents = []
    h.block_status(16384, 0, lambda context, offset, found, error: extents.append(found))
    assert extents == [[8192, 3, 4096, 0, 4096, 3]], extents
    h.block_status(16384, 0, lambda *found: extents.append(found[2]), nbd.CMD_FLAG_REQ_ONE)
    assert extents[1] == [8192, 3], extents

# Many requests at once, in any order.
pending = [h.aio_pwrite(nbd.Buffer.from_bytearray(bytearray([i]) * 65536), i << 16) for i in range(200)]
while pending:
    h.poll(-1)
    pending = [cookie for cookie in pending if not h.aio_command_completed(cookie)]
for i in range(200):
    assert h.pread(65536, i << 16) == bytes([i]) * 65536
h.shutdown()
