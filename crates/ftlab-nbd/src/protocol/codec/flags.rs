//! Sets of flags: sections "Flag fields" of both phases.

macro_rules! flags {
    ($(#[$doc:meta])* $name:ident: $bits:ty { $($(#[$flag_doc:meta])* $flag:ident = $bit:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name($bits);

        #[allow(dead_code, reason = "not every set needs every function")]
        impl $name {
            /// No flag.
            pub const NONE: Self = Self(0);
            $($(#[$flag_doc])* pub const $flag: Self = Self(1 << $bit);)*

            /// Returns the flags that these bits mean, unknown ones included.
            #[must_use]
            pub const fn from_bits(bits: $bits) -> Self {
                Self(bits)
            }

            /// Returns the bits.
            #[must_use]
            pub const fn bits(self) -> $bits {
                self.0
            }

            /// Returns whether all flags of `other` are set.
            #[must_use]
            pub const fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Returns the flags that `other` lacks.
            #[must_use]
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// Returns the flags if the condition holds.
            #[must_use]
            pub const fn only_if(self, condition: bool) -> Self {
                if condition { self } else { Self::NONE }
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

flags! {
    /// What the server understands, and what the client chose of it: "Handshake flags" and "Client flags".
    HandshakeFlags: u32 {
        /// Options other than the name of an export, and replies to them.
        FIXED_NEWSTYLE = 0,
        /// The 124 zeroes behind the chosen export are left out.
        NO_ZEROES = 1,
    }
}

flags! {
    /// What an export can do: "Transmission flags".
    TransmissionFlags: u16 {
        /// Always set.
        HAS_FLAGS = 0,
        /// Writes are refused.
        READ_ONLY = 1,
        /// Flush is understood.
        FLUSH = 2,
        /// Forced unit access is understood.
        FUA = 3,
        /// Trim is understood.
        TRIM = 5,
        /// Write zeroes is understood.
        WRITE_ZEROES = 6,
        /// Reads can be answered in one piece.
        DONT_FRAGMENT = 7,
        /// Several connections see one cache.
        MULTI_CONNECTION = 8,
        /// Cache is understood.
        CACHE = 10,
        /// Zeroes can be asked for only if they are fast.
        FAST_ZERO = 11,
    }
}

flags! {
    /// How a request is to be carried out: "Command flags".
    CommandFlags: u16 {
        /// Forced unit access: the reply comes after the data is safe.
        FUA = 0,
        /// Zeroes stay allocated.
        NO_HOLE = 1,
        /// The reply to a read comes in one piece.
        DONT_FRAGMENT = 2,
        /// One extent is enough.
        REQ_ONE = 3,
        /// Zeroes are written only if that is fast.
        FAST_ZERO = 4,
    }
}

flags! {
    /// State of an extent in the context `base:allocation`: "Metadata contexts".
    ExtentFlags: u32 {
        /// Nothing is allocated.
        HOLE = 0,
        /// Reads as zeroes.
        ZERO = 1,
    }
}
