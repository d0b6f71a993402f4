//! Seams and the policies that fill them.
//!
//! A seam is a closed enum over its policies, declared once by [`seam!`]: one line a policy. The enum
//! is dispatched by a match, which the compiler can see through, unlike a boxed trait. A policy
//! says what it is in its own file, by implementing [`Policy`].

/// What a policy says of itself; the option reference and `ftlab list policies` print it.
pub trait Policy {
    /// Its name in a configuration.
    const NAME: &'static str;
    /// One line.
    const SUMMARY: &'static str;
    /// Where it comes from: a paper, a data sheet, a textbook.
    const SOURCE: &'static str;
}

/// A policy as a row of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// The configuration key that selects it.
    pub key: &'static str,
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

impl PolicyInfo {
    /// The row of policy `P` under the configuration key `key`.
    #[must_use]
    pub const fn of<P: Policy>(key: &'static str) -> PolicyInfo {
        PolicyInfo { key, name: P::NAME, summary: P::SUMMARY, source: P::SOURCE }
    }
}

/// Declares a seam: the enum over its policies, the matching list of kinds for configurations, and
/// a macro that dispatches a call to whichever policy is there.
macro_rules! seam {
    (
        $(#[$doc:meta])*
        pub enum $Seam:ident ($key:literal) as $Kind:ident, with $dispatch:ident {
            $($Variant:ident($Type:ty)),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "a variant is its policy, documented in its own file")]
        pub enum $Seam {
            $($Variant($Type)),+
        }

        #[doc = concat!("The policies that `", $key, "` may name.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "a variant is its policy, documented in its own file")]
        pub enum $Kind {
            $($Variant),+
        }

        impl $Kind {
            /// All of them, in the order of the registry.
            pub const ALL: &'static [($Kind, $crate::policy::PolicyInfo)] =
                &[$(($Kind::$Variant, $crate::policy::PolicyInfo::of::<$Type>($key))),+];
        }

        $crate::policy::seam!(@dispatch ($) $Seam $dispatch $($Variant)+);
    };
    (@dispatch ($d:tt) $Seam:ident $dispatch:ident $($Variant:ident)+) => {
        macro_rules! $dispatch {
            ($d on:expr, $d policy:ident => $d call:expr) => {
                match $d on {
                    $($Seam::$Variant($d policy) => $d call),+
                }
            };
        }
        #[allow(unused_imports, reason = "not every seam is dispatched from outside its file")]
        use $dispatch;
    };
}

pub(crate) use seam;
