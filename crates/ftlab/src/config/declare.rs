//! How options and policies are declared: once, where they belong, by one macro each.
//!
//! `options!` declares a section, or the options of one policy, and yields
//! the typed struct together with its documentation and the code that reads, checks and prints it.
//! `seam!` lists the policies of a seam, a line each, and yields the closed
//! enum of their options. `choices!` declares a list of names. Everything
//! else (`explain`, the reference, the errors) is derived from these declarations.

use super::catalog::Builder;
use super::reader::Reader;
use super::show::Printer;
use super::value::{Choice, Kind};

/// One option, as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The full path, such as `ftl.gc.start`.
    pub path: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// What kind of value it takes.
    pub kind: Kind,
    /// What a count counts; empty where the value carries its unit itself.
    pub unit: &'static str,
    /// The value it has when nothing sets it; `None` if it must be set.
    pub default: Option<&'static str>,
    /// The least and the most, both allowed.
    pub range: Option<(&'static str, &'static str)>,
    /// Where the default and the range come from.
    pub source: &'static str,
    /// The names it takes, if it is a choice.
    pub choices: fn() -> &'static [Choice],
}

/// A policy of a seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// The name, as a config writes it.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The paper it comes from, or "textbook".
    pub source: &'static str,
}

/// A seam: an option whose value names a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeamInfo {
    /// The path of the option that names the policy.
    pub path: &'static str,
    /// What the policies of the seam decide.
    pub doc: &'static str,
    /// The policy in force when nothing is set.
    pub default: &'static str,
    /// All policies, in the order of their registry.
    pub policies: &'static [PolicyInfo],
}

/// A part of the config: a section with its options, or a seam with those of its policies.
pub trait Node: Sized {
    /// Adds everything that is declared here to the catalog.
    fn describe(catalog: &mut Builder);
    /// Reads and checks the options. Problems go to the reader; the result then stands in for them.
    fn read(reader: &mut Reader<'_>) -> Self;
    /// Prints the options.
    fn write(&self, printer: &mut Printer<'_>);
}

/// The options of one policy.
pub trait Policy: Node {
    /// Its name, summary and source.
    const POLICY: PolicyInfo;
}

/// Declares a section of the config, or the options of one policy of a seam.
///
/// ```text
/// options! {
///     /// When blocks are collected, and which.
///     pub struct GcOptions at "ftl.gc" with { victim: VictimPolicy } {
///         /// Free blocks of a plane at or below which collection starts.
///         start: u32 = "3", in "2"..="100000", unit "blocks", source "…";
///     }
/// }
/// ```
///
/// `= required` instead of a default makes an option that must be set. `with` embeds other nodes:
/// seams and subsections. For a policy, `policy "name", source "paper"` follows the path; the doc of
/// the struct is then the summary that `list policies` prints.
macro_rules! options {
    (
        $(#[doc = $doc:literal])+
        pub struct $Name:ident at $at:literal $(with { $($node:ident: $Node:ty),* $(,)? })? {
            $($body:tt)*
        }
    ) => {
        $crate::config::declare::options! { @node
            [Some(concat!($($doc),+).trim_ascii())] [$($doc)+] $Name $at
            [$($($node: $Node),*)?] $($body)*
        }
    };
    (
        $(#[doc = $doc:literal])+
        pub struct $Name:ident at $at:literal, policy $policy:literal, source $source:literal
        $(with { $($node:ident: $Node:ty),* $(,)? })? {
            $($body:tt)*
        }
    ) => {
        impl $crate::config::declare::Policy for $Name {
            const POLICY: $crate::config::PolicyInfo = $crate::config::PolicyInfo {
                name: $policy,
                summary: concat!($($doc),+).trim_ascii(),
                source: $source,
            };
        }
        $crate::config::declare::options! { @node
            [None] [$($doc)+] $Name $at [$($($node: $Node),*)?] $($body)*
        }
    };
    (@node
        [$section:expr] [$($doc:literal)+] $Name:ident $at:literal [$($node:ident: $Node:ty),*]
        $(
            $(#[doc = $field_doc:literal])+
            $field:ident: $Type:ty = $default:tt
            $(, in $low:literal ..= $high:literal)?
            $(, unit $unit:literal)?
            , source $field_source:literal;
        )*
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name {
            $(
                #[doc = concat!("What is set under [`", stringify!($node), "`](field@Self::",
                    stringify!($node), ").")]
                pub $node: $Node,
            )*
            $($(#[doc = $field_doc])+ pub $field: $Type,)*
        }

        impl $Name {
            const DECLARED: &[$crate::config::declare::Declaration] = &[
                $($crate::config::declare::Declaration {
                    path: concat!($at, ".", stringify!($field)),
                    doc: concat!($($field_doc),+).trim_ascii(),
                    kind: <$Type as $crate::config::value::Value>::KIND,
                    unit: concat!($($unit)?),
                    default: $crate::config::declare::options!(@default $default),
                    range: $crate::config::declare::options!(@range $($low, $high)?),
                    source: $field_source,
                    choices: <$Type as $crate::config::value::Value>::choices,
                },)*
            ];
        }

        impl $crate::config::declare::Node for $Name {
            fn describe(catalog: &mut $crate::config::catalog::Builder) {
                catalog.options($at, $section, Self::DECLARED);
                $(<$Node as $crate::config::declare::Node>::describe(catalog);)*
            }

            #[allow(unused_variables, unused_mut, unused_assignments, reason = "empty sections")]
            fn read(reader: &mut $crate::config::reader::Reader<'_>) -> Self {
                let mut declared = Self::DECLARED.iter();
                Self {
                    $($field: reader.option::<$Type>(
                        declared.next().expect("one declaration for each field"),
                    ),)*
                    $($node: <$Node as $crate::config::declare::Node>::read(reader),)*
                }
            }

            #[allow(unused_variables, reason = "empty sections")]
            fn write(&self, printer: &mut $crate::config::show::Printer<'_>) {
                $(printer.option(concat!($at, ".", stringify!($field)), &self.$field);)*
                $($crate::config::declare::Node::write(&self.$node, printer);)*
            }
        }
    };
    (@default required) => { None };
    (@default $default:literal) => { Some($default) };
    (@range) => { None };
    (@range $low:literal, $high:literal) => { Some(($low, $high)) };
}
pub(crate) use options;

/// Lists the policies of a seam and yields the closed enum of their options.
///
/// ```text
/// seam! {
///     /// In which order flash commands are served.
///     pub enum SchedulerPolicy at "scheduler.policy" = "fifo", dispatch with_schedulers! {
///         Fifo => fifo,
///         ReadFirst => read_first,
///     }
/// }
/// ```
///
/// A line is a variant and the module of the policy, which must hold a type `Options` that
/// `options!` declared. `dispatch` is optional: the macro named there is
/// called with the same lines, to build whatever else the seam needs from its one list.
macro_rules! seam {
    (
        $(#[doc = $doc:literal])+
        pub enum $Name:ident at $at:literal = $default:literal, dispatch $dispatch:ident ! {
            $($Variant:ident => $($module:ident)::+),+ $(,)?
        }
    ) => {
        $crate::config::declare::seam! {
            $(#[doc = $doc])+
            pub enum $Name at $at = $default { $($Variant => $($module)::+),+ }
        }
        $dispatch! { $($Variant => $($module)::+),+ }
    };
    (
        $(#[doc = $doc:literal])+
        pub enum $Name:ident at $at:literal = $default:literal {
            $($Variant:ident => $($module:ident)::+),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Name {
            $(
                #[doc = concat!("The options of `", stringify!($($module)::+), "`.")]
                $Variant($($module)::+::Options),
            )+
        }

        impl $Name {
            /// The seam, with all its policies.
            pub const SEAM: $crate::config::SeamInfo = $crate::config::SeamInfo {
                path: $at,
                doc: concat!($($doc),+).trim_ascii(),
                default: $default,
                policies: &[
                    $(<$($module)::+::Options as $crate::config::declare::Policy>::POLICY),+
                ],
            };

            /// The policy that is chosen.
            #[must_use]
            pub const fn info(&self) -> $crate::config::PolicyInfo {
                match self {
                    $(Self::$Variant(_) => {
                        <$($module)::+::Options as $crate::config::declare::Policy>::POLICY
                    })+
                }
            }
        }

        impl $crate::config::declare::Node for $Name {
            fn describe(catalog: &mut $crate::config::catalog::Builder) {
                catalog.seam(Self::SEAM);
                $(catalog.policy(
                    Self::SEAM,
                    <$($module)::+::Options as $crate::config::declare::Policy>::POLICY.name,
                    <$($module)::+::Options as $crate::config::declare::Node>::describe,
                );)+
            }

            fn read(reader: &mut $crate::config::reader::Reader<'_>) -> Self {
                let choice = reader.choose(Self::SEAM);
                let mut readers = [
                    $({
                        let read: fn(&mut $crate::config::reader::Reader<'_>) -> Self =
                            |reader| Self::$Variant($crate::config::declare::Node::read(reader));
                        read
                    }),+
                ].into_iter();
                let read = readers.nth(choice.index).expect("the choice is one of the policies");
                reader.of_policy(choice, read)
            }

            fn write(&self, printer: &mut $crate::config::show::Printer<'_>) {
                printer.policy($at, self.info().name);
                match self {
                    $(Self::$Variant(options) => {
                        $crate::config::declare::Node::write(options, printer);
                    })+
                }
            }
        }
    };
}
pub(crate) use seam;

/// Declares a type whose values are names.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident {
            $($(#[doc = $doc:literal])+ $Variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name {
            $($(#[doc = $doc])+ $Variant,)+
        }

        impl $Name {
            const ALL: &[$Name] = &[$($Name::$Variant),+];
        }

        impl $crate::config::value::Value for $Name {
            const KIND: $crate::config::value::Kind = $crate::config::value::Kind::Choice;

            fn parse(text: &str) -> Result<Self, $crate::config::value::ValueError> {
                match Self::ALL.iter().find(|value| value.print() == text) {
                    Some(value) => Ok(*value),
                    None => Err($crate::config::value::unknown_choice(text, Self::choices())),
                }
            }

            fn print(&self) -> String {
                match self { $(Self::$Variant => $text.to_owned(),)+ }
            }

            fn within(&self, _low: &str, _high: &str) -> bool {
                true
            }

            fn placeholder() -> Self {
                Self::ALL[0]
            }

            fn choices() -> &'static [$crate::config::value::Choice] {
                const CHOICES: &[$crate::config::value::Choice] =
                    &[$($crate::config::value::Choice {
                        name: $text,
                        doc: concat!($($doc),+).trim_ascii(),
                    },)+];
                CHOICES
            }
        }
    };
}
pub(crate) use choices;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::value::Value;

    mod slow {
        super::options! {
            /// Slowly.
            pub struct Options at "engine", policy "slow", source "textbook" {
                /// How slowly.
                gear: u32 = "1", in "1"..="6", unit "gears", source "invented";
            }
        }

        pub struct Runtime;
    }

    mod fast {
        super::options! {
            /// Fast.
            pub struct Options at "engine", policy "fast", source "a paper" {}
        }

        pub struct Runtime;
    }

    macro_rules! runtimes {
        ($($Variant:ident => $($module:ident)::+),+) => {
            enum Runtimes { $($Variant($($module)::+::Runtime)),+ }

            impl From<&EnginePolicy> for Runtimes {
                fn from(policy: &EnginePolicy) -> Runtimes {
                    match policy {
                        $(EnginePolicy::$Variant(_) => Runtimes::$Variant($($module)::+::Runtime)),+
                    }
                }
            }
        };
    }

    seam! {
        /// How the engine runs.
        pub enum EnginePolicy at "engine.policy" = "fast", dispatch runtimes! {
            Slow => slow,
            Fast => fast,
        }
    }

    #[test]
    fn one_registry_line_names_a_policy_everywhere() {
        let names: Vec<&str> =
            EnginePolicy::SEAM.policies.iter().map(|policy| policy.name).collect();
        assert_eq!(names, ["slow", "fast"]);
        assert_eq!(fast::Options::POLICY.source, "a paper");
        let slow = EnginePolicy::Slow(slow::Options { gear: 2 });
        assert_eq!(slow.info().summary, "Slowly.");
        assert!(matches!(Runtimes::from(&slow), Runtimes::Slow(_)));
        let fast = EnginePolicy::Fast(fast::Options {});
        assert!(matches!(Runtimes::from(&fast), Runtimes::Fast(_)));
    }

    choices! {
        /// A colour.
        pub enum Colour {
            /// Like blood.
            Red = "red",
            /// Like grass.
            Green = "green",
        }
    }

    #[test]
    fn choices_print_and_parse() {
        for colour in [Colour::Red, Colour::Green] {
            assert_eq!(Colour::parse(&colour.print()), Ok(colour));
        }
        let error = Colour::parse("gren").unwrap_err();
        assert_eq!(error.remedy, "did you mean \"green\"? (known: red, green)");
    }
}
