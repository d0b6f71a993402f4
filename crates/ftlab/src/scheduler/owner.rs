//! Who is told when a command is done.

/// The owner of a command: a service of the device and a token of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The service.
    pub service: ServiceId,
    /// What the command is for: a request, a plane, a page of the map.
    pub token: u32,
}

/// A service, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceId(u8);

/// Numbers the services, one per line.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        impl ServiceId {
            $($(#[$doc])* pub const $name: ServiceId = ServiceId($number);)*
        }

        #[cfg(test)]
        const NUMBERS: &[u8] = &[$($number),*];
    };
}

numbers! {
    /// Reads of the host; the token is the request.
    READS = 0;
    /// Write-backs of the buffer, and the reads for them.
    WRITES = 1;
    /// Collection; the token is the plane.
    COLLECTOR = 2;
    /// Merges of blocks; the token is the plane.
    MERGER = 3;
    /// The map on flash.
    MAP = 4;
    /// Pages that are programmed again at another cost; the token is the die.
    REWRITER = 5;
    /// The system area.
    JOURNAL = 6;
    /// Commands of dies that are used together.
    STRIPES = 7;
    /// Blocks of a superblock; the token is the erase of the superblock.
    SUPERBLOCKS = 10;
    /// Flash pages that are read only for the read cache.
    READ_AHEAD = 8;
    /// Writes that program their page directly, without translation; the token is the request.
    DIRECT = 9;
}

impl ServiceId {
    /// Returns the owner of a command of this service.
    #[inline]
    #[must_use]
    pub const fn owner(self, token: u32) -> Owner {
        Owner { service: self, token }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::NUMBERS;

    #[test]
    fn no_two_services_share_a_number() {
        assert_eq!(NUMBERS.iter().collect::<BTreeSet<_>>().len(), NUMBERS.len());
    }
}
