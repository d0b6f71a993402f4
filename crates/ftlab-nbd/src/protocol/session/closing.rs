//! Why a connection ends, in words for a log.

use crate::protocol::codec::handshake::OPTION_MAGIC;
use crate::protocol::codec::transmission::REQUEST_MAGIC;
use crate::protocol::limits::{
    MOST_OPTION, MOST_OPTIONS, MOST_PAYLOAD, MOST_SKIPPED_OPTION, MOST_SKIPPED_PAYLOAD,
};

/// Why a connection ends. Reads on from "client 7 ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closing {
    /// By a disconnect request: the usual end.
    #[error("disconnected")]
    Disconnected,
    /// By the option that ends the negotiation: usual for clients that only ask.
    #[error("ended the negotiation")]
    Aborted,
    /// Without a word, but between messages. Some programs never say more.
    #[error("hung up without a disconnect request")]
    HungUp,
    /// In the middle of a message.
    #[error("hung up in the middle of a message")]
    HungUpInMessage,
    /// Flags that the server did not offer.
    #[error("answered the greeting with unknown flags ({0:#x})")]
    UnknownClientFlags(u32),
    /// Not an option.
    #[error("sent {0:#018x} where an option begins, which is {OPTION_MAGIC:#018x}")]
    BadOptionMagic(u64),
    /// Options of fixed newstyle from a client that does not speak it.
    #[error("sent option {0} without fixed newstyle negotiation")]
    NotFixedNewstyle(u32),
    /// An option that is not worth skipping.
    #[error(
        "sent an option of {length}; the most is {most}, and {skipped} are skipped",
        length = Size(u64::from(*.0)),
        most = Size(MOST_OPTION as u64),
        skipped = Size(MOST_SKIPPED_OPTION as u64)
    )]
    OptionTooBig(u32),
    /// The name of an export that is too long, in an option that has no other answer.
    #[error("asked for an export by a name of {0} bytes")]
    NameTooLong(usize),
    /// An export that does not exist, in an option that has no other answer.
    #[error("asked for an export {0:?}, which does not exist")]
    UnknownExport(String),
    /// Negotiates for ever.
    #[error("sent more than {MOST_OPTIONS} options without choosing an export")]
    TooManyOptions,
    /// Not a request.
    #[error("sent {0:#010x} where a request begins, which is {REQUEST_MAGIC:#010x}")]
    BadRequestMagic(u32),
    /// A write that is not worth skipping.
    #[error(
        "sent a write of {length}; the most is {most}, and {skipped} are skipped",
        length = Size(u64::from(*.0)),
        most = Size(u64::from(MOST_PAYLOAD)),
        skipped = Size(u64::from(MOST_SKIPPED_PAYLOAD))
    )]
    WriteTooBig(u32),
}

impl Closing {
    /// Returns whether well-behaved clients end like this.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        matches!(self, Self::Disconnected | Self::Aborted | Self::HungUp)
    }
}

/// A number of bytes for people.
struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match UNITS.into_iter().find(|&(size, _)| self.0 >= size) {
            Some((size, unit)) if self.0.is_multiple_of(size) => {
                write!(f, "{} {unit}", self.0 / size)
            }
            Some((size, unit)) => write!(f, "{:.1} {unit}", self.0 as f64 / size as f64),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Closing::*;

    #[test]
    fn reasons_read_well() {
        let told = [
            (
                OptionTooBig(3 << 30),
                "sent an option of 3 GiB; the most is 64 KiB, and 1 MiB are skipped",
            ),
            (
                WriteTooBig(u32::MAX),
                "sent a write of 4.0 GiB; the most is 32 MiB, and 64 MiB are skipped",
            ),
            (UnknownExport("a\nb".into()), "asked for an export \"a\\nb\", which does not exist"),
            (TooManyOptions, "sent more than 1000 options without choosing an export"),
            (BadRequestMagic(1), "sent 0x00000001 where a request begins, which is 0x25609513"),
            (
                BadOptionMagic(1),
                "sent 0x0000000000000001 where an option begins, which is 0x49484156454f5054",
            ),
        ];
        for (reason, text) in told {
            assert_eq!(reason.to_string(), text);
        }
    }
}
