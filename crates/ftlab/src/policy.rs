//! Seams and the policies that fill them.
//!
//! A seam is a closed enum over its policies, declared once by `seam!` with a line for each policy. The trait that
//! its policies implement is declared by `contract!`; the enum implements it with a match, which the compiler can
//! inline, unlike a boxed trait object. Everything else about a policy is in its own file, in its implementation of
//! [`Policy`]: its name, its options, and how it is built from them.
//!
//! With the cargo feature `external-policies` each enum has one more variant, `External`: a boxed policy from outside
//! the crate (`OutsidePolicy`). The `external` module states its cost.

mod contract;
#[cfg(feature = "external-policies")]
pub(crate) mod external;

pub(crate) use contract::contract;
#[cfg(feature = "external-policies")]
pub use external::OutsidePolicy;

use crate::image::{self, Damage, ImageWriter};
use crate::options::{Node, PolicyInfo, catalog::Builder, reader::LayerReader, show::Printer};
use crate::shape::{Cell, Geometry, Shares, StripeOrder, ZoneShape};
use crate::units::Nanos;

/// The description of a policy. The option reference and `ftlab list policies` print it.
pub trait Policy: Sized {
    /// Its name in a configuration.
    const NAME: &'static str;
    /// A summary of one line.
    const SUMMARY: &'static str;
    /// Its source: a paper, a data sheet, a textbook.
    const SOURCE: &'static str;
    /// The options that only apply with this policy: a section declared by `options!`, or [`NoOptions`].
    type Options: Node;

    /// Builds the policy for a device.
    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self;

    /// Saves the state that it keeps while the device is at rest, except what it was built from and what the core
    /// tells it again on loading. Destructure `self` without `..`, so that a field that is added later cannot be
    /// forgotten. Most policies have no such state (`keeps_nothing!`).
    fn save(&self, out: &mut ImageWriter);

    /// Loads what [`save`](Self::save) wrote, into a policy that was just built with the same options.
    ///
    /// # Errors
    /// The damage. The data may come from anywhere: nothing may panic, now or later.
    fn load(&mut self, from: &mut image::ImageReader<'_>) -> Result<(), Damage>;
}

/// What a policy may be built from, besides its own options.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The shape of the device.
    pub geometry: &'a Geometry,
    /// The bits of its cells.
    pub cell: Cell,
    /// Time to erase a block.
    pub erase: Nanos,
    /// Blocks of a superblock, of as many planes; 1 without superblocks. Limits that count flash pages of a plane are
    /// multiplied by it.
    pub superblock: u32,
    /// Logical pages (mapping units) that the host sees.
    pub logical_pages: u32,
    /// The shares of a plane's blocks, if the mapping has a log.
    pub shares: Option<Shares>,
    /// The order in which addresses are striped, if placement depends on addresses alone.
    pub stripe: Option<StripeOrder>,
    /// The zones, if the device has any.
    pub zones: Option<ZoneShape>,
    /// Number of submission queues.
    pub queues: u32,
    /// The seed of the run, for policies that draw random numbers.
    pub seed: u64,
}

/// The options of a policy that has none of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoOptions;

impl Node for NoOptions {
    fn describe(_catalog: &mut Builder) {}

    fn read(_reader: &mut LayerReader<'_>) -> NoOptions {
        NoOptions
    }

    fn write(&self, _printer: &mut Printer) {}
}

impl PolicyInfo {
    /// Returns the row of policy `P`.
    #[must_use]
    pub const fn of<P: Policy>() -> PolicyInfo {
        PolicyInfo { name: P::NAME, summary: P::SUMMARY, source: P::SOURCE }
    }
}

/// Declares a seam: the enum over its policies, a matching enum over their options for configurations, and a macro
/// that dispatches a call to the current policy. If the name of the second enum is followed by `of Trait`, its
/// `options` method returns the current options as that trait. The last name is that of the trait of policies from
/// outside the crate, which `contract!` declares.
///
/// ```text
/// seam! {
///     /// Decides in which order the commands of a die are served.
///     pub enum Scheduler ("scheduler.policy" = "fifo") as SchedulerChoice, with scheduler_policy, or ExternalScheduler {
///         Fifo(Fifo),
///         ReadFirst(ReadFirst),
///     }
/// }
/// ```
macro_rules! seam {
    (
        $(#[doc = $doc:literal])+
        pub enum $Seam:ident ($key:literal = $default:literal) as $Choice:ident of $Said:ident,
            with $dispatch:ident, or $External:ident
        {
            $($Variant:ident($Type:ty)),+ $(,)?
        }
    ) => {
        $crate::policy::seam! {
            $(#[doc = $doc])+
            pub enum $Seam ($key = $default) as $Choice, with $dispatch, or $External {
                $($Variant($Type)),+
            }
        }

        impl $Choice {
            /// The options of the chosen policy.
            fn options(&self) -> &dyn $Said {
                match self {
                    $(Self::$Variant(options) => options),+
                }
            }

            /// The options of the chosen policy, to be changed.
            fn options_mut(&mut self) -> &mut dyn $Said {
                match self {
                    $(Self::$Variant(options) => options),+
                }
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        pub enum $Seam:ident ($key:literal = $default:literal) as $Choice:ident,
            with $dispatch:ident, or $External:ident
        {
            $($Variant:ident($Type:ty)),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "a variant is its policy, documented in its own file")]
        pub enum $Seam {
            $($Variant($Type),)+
            #[cfg(feature = "external-policies")]
            External(Box<dyn $External>),
        }

        #[doc = concat!("The policy that `", $key, "` names, with its options.")]
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "a variant is its policy, documented in its own file")]
        pub enum $Choice {
            $($Variant(<$Type as $crate::policy::Policy>::Options)),+
        }

        impl $Choice {
            /// The seam, with all its policies.
            pub const SEAM: $crate::options::SeamInfo = $crate::options::SeamInfo {
                path: $key,
                doc: concat!($($doc),+).trim_ascii(),
                default: $default,
                policies: &[$($crate::options::PolicyInfo::of::<$Type>()),+],
            };

            /// The name of the chosen policy.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant(_) => <$Type as $crate::policy::Policy>::NAME),+
                }
            }

            /// Builds the chosen policy.
            #[must_use]
            pub fn build(&self, parts: &$crate::policy::Parts<'_>) -> $Seam {
                match self {
                    $(Self::$Variant(options) => {
                        $Seam::$Variant(<$Type as $crate::policy::Policy>::build(options, parts))
                    })+
                }
            }
        }

        #[allow(dead_code, reason = "some seams are asked while the device is built, and gone then")]
        impl $Seam {
            /// The name of the policy.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant(_) => <$Type as $crate::policy::Policy>::NAME,)+
                    #[cfg(feature = "external-policies")]
                    Self::External(policy) => policy.name(),
                }
            }

            /// Saves the state of the policy.
            pub(crate) fn save(&self, out: &mut $crate::image::ImageWriter) {
                match self {
                    $(Self::$Variant(policy) => $crate::policy::Policy::save(policy, out),)+
                    #[cfg(feature = "external-policies")]
                    Self::External(policy) => $crate::policy::external::save(&**policy, out),
                }
            }

            /// Loads the state that the same policy saved.
            pub(crate) fn load(
                &mut self,
                from: &mut $crate::image::ImageReader<'_>,
            ) -> Result<(), $crate::image::Damage> {
                match self {
                    $(Self::$Variant(policy) => $crate::policy::Policy::load(policy, from),)+
                    #[cfg(feature = "external-policies")]
                    Self::External(policy) => $crate::policy::external::load(&mut **policy, from),
                }
            }
        }

        impl $crate::options::declare::Node for $Choice {
            fn describe(catalog: &mut $crate::options::catalog::Builder) {
                catalog.seam(Self::SEAM);
                $(catalog.policy(
                    Self::SEAM,
                    <$Type as $crate::policy::Policy>::NAME,
                    <$Type as $crate::policy::Policy>::Options::describe,
                );)+
            }

            fn read(reader: &mut $crate::options::reader::LayerReader<'_>) -> Self {
                type Read<'a> = fn(&mut $crate::options::reader::LayerReader<'a>) -> $Choice;
                let chosen = reader.choose(Self::SEAM);
                let readers: &[Read<'_>] =
                    &[$(|reader| $Choice::$Variant($crate::options::declare::Node::read(reader))),+];
                reader.of_policy(chosen, readers[chosen.index])
            }

            fn write(&self, printer: &mut $crate::options::show::Printer) {
                printer.policy($key, self.name());
                match self {
                    $(Self::$Variant(options) => {
                        $crate::options::declare::Node::write(options, printer);
                    })+
                }
            }
        }

        $crate::policy::seam!(@dispatch ($) $Seam $Choice $dispatch $($Variant($Type))+);
    };
    (@dispatch ($d:tt) $Seam:ident $Choice:ident $dispatch:ident $($Variant:ident($Type:ty))+) => {
        #[allow(unused_macro_rules, reason = "not every seam has facts")]
        macro_rules! $dispatch {
            (of $d on:expr, $d Chosen:ident($d options:ident) => $d call:expr) => {
                match $d on {
                    $($Choice::$Variant($d options) => {
                        type $d Chosen = $Type;
                        $d call
                    }),+
                }
            };
            ($d on:expr, $d policy:ident => $d call:expr) => {
                match $d on {
                    $($Seam::$Variant($d policy) => $d call,)+
                    #[cfg(feature = "external-policies")]
                    $Seam::External($d policy) => $d call,
                }
            };
        }
        #[allow(unused_imports, reason = "not every seam is dispatched from outside its file")]
        use $dispatch;
    };
}

pub(crate) use seam;
