//! How options are declared: once, where they belong.
//!
//! `options!` declares a section, or the options of one policy, and yields the typed struct together
//! with its documentation and the code that reads, checks and prints it. `choices!` declares a list
//! of names. (Seams and their policies are declared in [`policy`](crate::policy).) Everything else
//! (`explain`, the reference, the errors) is derived from these declarations.

use super::catalog::Builder;
use super::reader::Reader;
use super::show::Printer;

/// A part of the config: a section with its options, or a seam with those of its policies.
pub trait Node: Sized {
    /// Adds everything that is declared here to the catalog.
    fn describe(catalog: &mut Builder);
    /// Reads and checks the options. Problems go to the reader; the result then stands in for them.
    fn read(reader: &mut Reader<'_>) -> Self;
    /// Prints the options.
    fn write(&self, printer: &mut Printer<'_>);
}

/// Declares a section of the config, or the options of one policy of a seam.
///
/// ```text
/// options! {
///     /// When blocks are collected, and which.
///     pub struct GcOptions at "ftl.gc" with { victim: VictimChoice } {
///         /// Free blocks of a plane at or below which collection starts.
///         start: u32 = "3", in "2"..="100000", unit "blocks", source "…";
///     }
/// }
/// ```
///
/// An option that does something only while another has some value says so after its source:
/// `applies_with "scheduler.suspend" not "none"`, several joined by `or`. Who sets it otherwise is told.
///
/// `= required` instead of a default makes an option that must be set. `with` embeds other nodes:
/// seams and subsections. The options of a policy are declared in the policy's file, at the path of
/// its seam's section; policies that share options share such a struct, or embed it.
macro_rules! options {
    (
        $(#[doc = $doc:literal])+
        pub struct $Name:ident at $at:literal $(with { $($node:ident: $Node:ty),* $(,)? })? {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident: $Type:ty = $default:tt
                $(, in $low:literal ..= $high:literal)?
                $(, unit $unit:literal)?
                , source $field_source:literal
                $(, applies_with $($other:literal $relation:ident $value:literal)or+)?;
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name {
            $($(
                #[doc = concat!("The seam or section `", stringify!($node), "`.")]
                pub $node: $Node,
            )*)?
            $($(#[doc = $field_doc])+ pub $field: $Type,)*
        }

        impl $Name {
            const DECLARED: &[$crate::options::declaration::Declaration] = &[
                $($crate::options::declaration::Declaration {
                    path: concat!($at, ".", stringify!($field)),
                    doc: concat!($($field_doc),+).trim_ascii(),
                    kind: <$Type as $crate::options::value::Value>::KIND,
                    unit: concat!($($unit)?),
                    default: $crate::options::declare::options!(@default $default),
                    range: $crate::options::declare::options!(@range $($low, $high)?),
                    source: $field_source,
                    applies_with: &[$($($crate::options::declaration::Condition {
                        path: $other,
                        is: $crate::options::declare::options!(@relation $relation),
                        value: $value,
                    },)+)?],
                    choices: <$Type as $crate::options::value::Value>::choices,
                },)*
            ];
        }

        impl $crate::options::declare::Node for $Name {
            fn describe(catalog: &mut $crate::options::catalog::Builder) {
                catalog.options($at, concat!($($doc),+).trim_ascii(), Self::DECLARED);
                $($(<$Node as $crate::options::declare::Node>::describe(catalog);)*)?
            }

            #[allow(unused_variables, unused_mut, unused_assignments, reason = "empty sections")]
            fn read(reader: &mut $crate::options::reader::Reader<'_>) -> Self {
                let mut declared = Self::DECLARED.iter();
                Self {
                    $($field: reader.option::<$Type>(
                        declared.next().expect("one declaration for each field"),
                    ),)*
                    $($($node: <$Node as $crate::options::declare::Node>::read(reader),)*)?
                }
            }

            #[allow(unused_variables, reason = "empty sections")]
            fn write(&self, printer: &mut $crate::options::show::Printer<'_>) {
                $(printer.option(concat!($at, ".", stringify!($field)), &self.$field);)*
                $($($crate::options::declare::Node::write(&self.$node, printer);)*)?
            }
        }
    };
    (@relation is) => { true };
    (@relation not) => { false };
    (@default required) => { None };
    (@default $default:literal) => { Some($default) };
    (@range) => { None };
    (@range $low:literal, $high:literal) => { Some(($low, $high)) };
}
pub(crate) use options;

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

        impl $crate::options::value::Value for $Name {
            const KIND: $crate::options::value::Kind = $crate::options::value::Kind::Choice;

            fn parse(text: &str) -> Result<Self, $crate::options::value::ValueError> {
                match Self::ALL.iter().find(|value| value.print() == text) {
                    Some(value) => Ok(*value),
                    None => Err($crate::options::value::unknown_choice(text, Self::choices())),
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

            fn choices() -> &'static [$crate::options::value::Choice] {
                const CHOICES: &[$crate::options::value::Choice] =
                    &[$($crate::options::value::Choice {
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
    use crate::options::value::Value;

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
