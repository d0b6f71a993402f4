//! Which requests are refused, and by which error: sections "Request types" and "Error values". No state.

use crate::protocol::codec::flags::CommandFlags;
use crate::protocol::codec::transmission::{Action, RequestHeader};
use crate::protocol::limits::{MINIMUM_BLOCK, MOST_PAYLOAD};
use crate::protocol::{Errno, Export};

/// Why a request is not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRefusal {
    /// The error.
    pub errno: Errno,
    /// Its explanation.
    pub message: &'static str,
}

/// What was negotiated, as far as it decides which requests are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Whether reads are answered in chunks.
    pub structured: bool,
    /// Whether block status can be asked for.
    pub block_status: bool,
}

fn refuse<T>(errno: Errno, message: &'static str) -> Result<T, RequestRefusal> {
    Err(RequestRefusal { errno, message })
}

/// Returns what a request asks for, if it is valid.
pub fn check(
    request: &RequestHeader,
    export: &Export,
    terms: Terms,
) -> Result<Action, RequestRefusal> {
    let Some(action) = request.action else {
        return refuse(Errno::Invalid, "unknown command");
    };
    // It has no reply, so nothing can be said about its flags.
    if action == Action::Disconnect {
        return Ok(action);
    }
    if request.flags.without(allowed(action, export, terms)) != CommandFlags::NONE {
        return refuse(Errno::Invalid, "a flag that this command does not have");
    }
    let modifies = matches!(action, Action::Write | Action::Trim | Action::WriteZeroes);
    if modifies && export.read_only {
        return refuse(Errno::NotPermitted, "the export is read-only");
    }
    match action {
        Action::Flush if request.offset != 0 || request.length != 0 => {
            refuse(Errno::Invalid, "a flush has no offset and no length")
        }
        Action::Flush => Ok(action),
        Action::BlockStatus if !terms.block_status => {
            refuse(Errno::Invalid, "no metadata context was negotiated for this export")
        }
        _ => check_range(action, request, export).map(|()| action),
    }
}

/// Flags that an action may have. Forced unit access is accepted everywhere, as the specification demands.
fn allowed(action: Action, export: &Export, terms: Terms) -> CommandFlags {
    use CommandFlags as F;
    F::FUA
        | match action {
            Action::Read => F::DONT_FRAGMENT.only_if(terms.structured),
            Action::WriteZeroes => F::NO_HOLE | F::FAST_ZERO.only_if(export.fast_zeroes),
            Action::BlockStatus => F::REQ_ONE,
            _ => F::NONE,
        }
}

fn check_range(
    action: Action,
    request: &RequestHeader,
    export: &Export,
) -> Result<(), RequestRefusal> {
    let length = request.length;
    if !request.offset.is_multiple_of(MINIMUM_BLOCK.into()) || !length.is_multiple_of(MINIMUM_BLOCK)
    {
        return refuse(
            Errno::Invalid,
            "offset and length must be multiples of the minimum block size",
        );
    }
    match action {
        Action::Read if length > MOST_PAYLOAD => {
            let whole = request.flags.has(CommandFlags::DONT_FRAGMENT);
            let errno = if whole { Errno::Overflow } else { Errno::Invalid };
            return refuse(errno, "a read of more than the maximum block size");
        }
        Action::Write if length > MOST_PAYLOAD => {
            return refuse(Errno::Invalid, "a write of more than the maximum block size");
        }
        Action::BlockStatus if length == 0 => {
            return refuse(Errno::Invalid, "block status of nothing");
        }
        _ => {}
    }
    let fits = request.offset.checked_add(length.into()).is_some_and(|end| end <= export.size);
    match action {
        _ if fits => Ok(()),
        Action::Write | Action::WriteZeroes => refuse(Errno::NoSpace, "beyond the end"),
        _ => refuse(Errno::Invalid, "beyond the end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::codec::transmission::Cookie;
    use crate::protocol::session::tests::export;

    const ALL: Terms = Terms { structured: true, block_status: true };
    const SIZE: u64 = 1 << 20;

    fn request(action: Action, offset: u64, length: u32) -> RequestHeader {
        let flags = CommandFlags::NONE;
        RequestHeader { flags, action: Some(action), cookie: Cookie(1), offset, length }
    }

    fn verdict(request: &RequestHeader, export: &Export, terms: Terms) -> Result<Action, Errno> {
        check(request, export, terms).map_err(|refusal| refusal.errno)
    }

    #[test]
    fn ranges() {
        use Action::*;
        use Errno::*;
        let export = export("disk", SIZE);
        let cases = [
            (Read, 0, 512, Ok(Read)),
            (Read, SIZE - 512, 512, Ok(Read)),
            (Read, SIZE, 0, Ok(Read)),
            (Read, SIZE, 512, Err(Invalid)),
            (Read, u64::MAX - 511, 1024, Err(Invalid)),
            (Read, 1, 512, Err(Invalid)),
            (Read, 0, 513, Err(Invalid)),
            (Read, 0, MOST_PAYLOAD + 512, Err(Invalid)),
            (Write, SIZE, 512, Err(NoSpace)),
            (Write, 0, MOST_PAYLOAD + 512, Err(Invalid)),
            (Write, 0, 100, Err(Invalid)),
            (WriteZeroes, SIZE, 512, Err(NoSpace)),
            (WriteZeroes, 0, SIZE as u32, Ok(WriteZeroes)),
            (Trim, SIZE, 512, Err(Invalid)),
            (Trim, 512, 0, Ok(Trim)),
            (Cache, 512, SIZE as u32, Err(Invalid)),
            (Cache, 512, 512, Ok(Cache)),
            (BlockStatus, 0, SIZE as u32, Ok(BlockStatus)),
            (BlockStatus, 0, 0, Err(Invalid)),
            (BlockStatus, 512, SIZE as u32, Err(Invalid)),
            (Flush, 0, 0, Ok(Flush)),
            (Flush, 512, 0, Err(Invalid)),
            (Flush, 0, 512, Err(Invalid)),
        ];
        for (action, offset, length, expected) in cases {
            let found = verdict(&request(action, offset, length), &export, ALL);
            assert_eq!(found, expected, "{action:?} {offset} {length}");
        }
        let flags = CommandFlags::DONT_FRAGMENT;
        let whole = RequestHeader { flags, ..request(Read, 0, MOST_PAYLOAD + 512) };
        assert_eq!(verdict(&whole, &export, ALL), Err(Overflow));
    }

    #[test]
    fn flags() {
        use Action::*;
        use CommandFlags as F;
        let export = export("disk", SIZE);
        let valid = [
            (Read, F::FUA | F::DONT_FRAGMENT),
            (Write, F::FUA),
            (Flush, F::FUA),
            (Trim, F::FUA),
            (Cache, F::FUA),
            (WriteZeroes, F::FUA | F::NO_HOLE | F::FAST_ZERO),
            (BlockStatus, F::FUA | F::REQ_ONE),
        ];
        for (action, flags) in valid {
            let length = if action == Flush { 0 } else { 512 };
            for bit in 0..u16::BITS {
                let flag = F::from_bits(1 << bit);
                let request = RequestHeader { flags: flag, ..request(action, 0, length) };
                let expected = if flags.has(flag) { Ok(action) } else { Err(Errno::Invalid) };
                assert_eq!(verdict(&request, &export, ALL), expected, "{action:?} {flag:?}");
            }
        }
    }

    #[test]
    fn what_was_not_negotiated_is_refused() {
        let slow = Export { fast_zeroes: false, ..export("disk", SIZE) };
        let whole =
            RequestHeader { flags: CommandFlags::DONT_FRAGMENT, ..request(Action::Read, 0, 512) };
        let fast = RequestHeader {
            flags: CommandFlags::FAST_ZERO,
            ..request(Action::WriteZeroes, 0, 512)
        };
        let status = request(Action::BlockStatus, 0, 512);
        for request in [whole, fast, status] {
            assert_eq!(verdict(&request, &slow, Terms::default()), Err(Errno::Invalid));
        }
    }

    #[test]
    fn a_read_only_export_can_be_read() {
        use Action::*;
        let export = Export { read_only: true, ..export("disk", SIZE) };
        for action in [Write, Trim, WriteZeroes] {
            let found = verdict(&request(action, 0, 512), &export, ALL);
            assert_eq!(found, Err(Errno::NotPermitted), "{action:?}");
        }
        for action in [Read, Cache, BlockStatus] {
            assert_eq!(verdict(&request(action, 0, 512), &export, ALL), Ok(action));
        }
    }

    #[test]
    fn unknown_commands_are_refused() {
        let unknown = RequestHeader { action: None, ..request(Action::Read, 0, 512) };
        assert_eq!(verdict(&unknown, &export("disk", SIZE), ALL), Err(Errno::Invalid));
    }
}
