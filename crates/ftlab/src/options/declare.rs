//! Declares options, each once and where it belongs.
//!
//! `options!` declares a section of a device, the options of one policy, or a table of a document (a workload or an
//! experiment). It expands to a typed struct with its documentation, and to the code that reads, checks and prints it.
//! `choices!` declares a list of names. [`policy`](crate::policy) declares seams and their policies. Everything else
//! (`explain`, the reference, the schemas, the errors) is derived from these declarations.

use super::catalog::Builder;
use super::reader::LayerReader;
use super::show::Printer;

/// A part of the config: a section with its options, or a seam with those of its policies.
pub trait Node: Sized {
    /// Adds the declarations to the catalog.
    fn describe(catalog: &mut Builder);
    /// Reads and checks the options. Problems are reported to the reader, and placeholders replace wrong values.
    fn read(reader: &mut LayerReader<'_>) -> Self;
    /// Prints the options.
    fn write(&self, printer: &mut Printer);
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
/// An option that does something only if another option has some value says so after its source:
/// `applies_with "scheduler.suspend" not "none"`. Several conditions are joined by `or`. A user who
/// sets the option otherwise is told.
///
/// `= required` instead of a default makes an option that must be set. `with` embeds other nodes:
/// seams and subsections. The options of a policy are declared in the policy's file, at the path of
/// its seam's section; policies that share options share such a struct, or embed it.
///
/// A table of a document uses `in` with its form in a file, and reads a text of its own
/// ([`table`](crate::options::table)):
///
/// ```text
/// options! {
///     /// How popular each address is.
///     pub struct AddressKeys in "phase.address" by kind: AddressKind {
///         /// The exponent.
///         theta: f64 = required, of "zipf";
///         /// The hot share of the region.
///         hot_space: Ratio = "20%", of "hot-cold";
///         /// Whether popular places are spread over the region.
///         scatter: bool = depends "true for zipf", of "zipf" or "hot-cold";
///     }
/// }
/// ```
///
/// A key with `depends` is an `Option`, and so is a key that only some kinds have; `needed by` names kinds for which it
/// must be given. A default is TOML, or a text without quotes. `with` embeds the keys of another table into this one.
/// No key may be called `table`, the field that holds the table's place.
#[macro_export]
macro_rules! options {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $Name:ident in $title:literal $(by $by:ident: $By:ident)?
        $(with { $($node:ident: $Node:ty),* $(,)? })? {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident: $Type:ty = $default:tt $($words:literal)?
                $(, in $low:literal ..= $high:literal)?
                $(, of $($of:literal)or+)?
                $(, needed by $($needed:literal)or+)?;
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        $vis struct $Name {
            /// The place of the table.
            #[allow(dead_code, reason = "not every table is pointed at")]
            pub table: $crate::options::table::At,
            $(
                /// The kind of the table, which decides which keys apply.
                pub $by: $By,
            )?
            $($(
                #[doc = concat!("The keys of `", stringify!($node), "` that stand in this table.")]
                pub $node: $Node,
            )*)?
            $($(#[doc = $field_doc])+
            pub $field: $crate::options!(@held [$default] [$($($of)+)?] $Type),)*
        }

        impl $Name {
            const KEYS: &[$crate::options::table::Key] = &[
                $($crate::options::table::Key {
                    name: $crate::options::table::plain_name(stringify!($field)),
                    doc: concat!($($field_doc),+).trim_ascii(),
                    of: &[$($($of),+)?],
                    needed: &[$($($needed),+)?],
                    range: $crate::options!(@range $($low, $high)?),
                    otherwise: $crate::options!(@otherwise $default $($words)?),
                    form: <$Type as $crate::options::table::Field>::form,
                },)*
            ];
        }

        impl $crate::options::table::Table for $Name {
            fn info() -> $crate::options::table::TableInfo {
                $crate::options::table::TableInfo {
                    title: $title,
                    doc: concat!($($doc),+).trim_ascii(),
                    keys: Self::KEYS,
                    by: $crate::options!(@by $($by: $By)?),
                    embedded: &[$($(<$Node as $crate::options::table::Table>::info),*)?],
                }
            }

            #[allow(unused_variables, unused_mut, unused_assignments, reason = "empty tables")]
            fn read(
                document: &mut $crate::options::table::Document,
                table: &$crate::options::table::Given,
            ) -> Self {
                let mut declared = Self::KEYS.iter();
                let failures = document.failures();
                $(let $field = $crate::options!(
                    @read [$default] [$($($of)+)?] document, table,
                    declared.next().expect("one declaration for each field")
                );)*
                $(let $by: $By = {
                    let by = <Self as $crate::options::table::Table>::info().by;
                    document.required::<Self, _>(table, by.expect("it is declared"))
                };)?
                $($(let $node = <$Node as $crate::options::table::Table>::read(document, table);)*)?
                let is_sound = document.failures() == failures;
                Self {
                    table: $crate::options::table::At { is_sound, ..table.at() },
                    $($by,)?
                    $($($node,)*)?
                    $($field,)*
                }
            }

            fn stand_in() -> Self {
                Self {
                    table: $crate::options::table::At::nowhere(),
                    $($by: <$By as $crate::options::table::Field>::stand_in(stringify!($by)),)?
                    $($($node: <$Node as $crate::options::table::Table>::stand_in(),)*)?
                    $($field: $crate::options!(@stand_in [$default] [$($($of)+)?] $field $Type),)*
                }
            }
        }

        /// Used as a part of another table.
        impl $crate::options::table::Field for $Name {
            fn form() -> $crate::options::table::Form {
                $crate::options::table::Form::Table(<Self as $crate::options::table::Table>::info())
            }

            fn read(
                document: &mut $crate::options::table::Document,
                given: &$crate::options::table::Given,
                key: &$crate::options::table::Key,
            ) -> Option<Self> {
                match &given.raw {
                    $crate::options::value::Raw::Table(_) => document.open(given),
                    _ => document.mismatch(given, key),
                }
            }

            fn stand_in(_: &str) -> Self {
                <Self as $crate::options::table::Table>::stand_in()
            }
        }
    };
    (@held [depends] [$($of:literal)*] $Type:ty) => { Option<$Type> };
    (@held [$default:tt] [] $Type:ty) => { $Type };
    (@held [$default:tt] [$($of:literal)+] $Type:ty) => { Option<$Type> };
    (@stand_in [depends] [] $field:ident $Type:ty) => { None };
    (@stand_in [$default:tt] [] $field:ident $Type:ty) => {
        <$Type as $crate::options::table::Field>::stand_in(stringify!($field))
    };
    (@stand_in [$default:tt] [$($of:literal)+] $field:ident $Type:ty) => { None };
    (@otherwise required) => { $crate::options::table::Otherwise::Required };
    (@otherwise depends $words:literal) => { $crate::options::table::Otherwise::Depends($words) };
    (@otherwise $default:literal) => { $crate::options::table::Otherwise::Value($default) };
    (@by) => { None };
    (@by $by:ident: $By:ident) => {{
        const BY: $crate::options::table::Key = $crate::options::table::Key {
            name: stringify!($by),
            doc: "Which of the other keys apply.",
            of: &[],
            needed: &[],
            range: None,
            otherwise: $crate::options::table::Otherwise::Required,
            form: <$By as $crate::options::table::Field>::form,
        };
        Some(&BY)
    }};
    (@read [depends] [] $document:ident, $table:ident, $key:expr) => {
        $document.optional($table, $key)
    };
    (@read [$default:tt] [] $document:ident, $table:ident, $key:expr) => {
        $document.required::<Self, _>($table, $key)
    };
    (@read [$default:tt] [$($of:literal)+] $document:ident, $table:ident, $key:expr) => {
        $document.of_kind::<Self, _>($table, $key)
    };
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
                    default: $crate::options!(@default $default),
                    range: $crate::options!(@range $($low, $high)?),
                    source: $field_source,
                    applies_with: &[$($($crate::options::declaration::Condition {
                        path: $other,
                        is: $crate::options!(@relation $relation),
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
            fn read(reader: &mut $crate::options::reader::LayerReader<'_>) -> Self {
                let mut declared = Self::DECLARED.iter();
                Self {
                    $($field: reader.option::<$Type>(
                        declared.next().expect("one declaration for each field"),
                    ),)*
                    $($($node: <$Node as $crate::options::declare::Node>::read(reader),)*)?
                }
            }

            #[allow(unused_variables, reason = "empty sections")]
            fn write(&self, printer: &mut $crate::options::show::Printer) {
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
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $($(#[doc = $doc:literal])+ $Variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $Name {
            $($(#[doc = $doc])+ $Variant,)+
        }

        impl $Name {
            const ALL: &[$Name] = &[$($Name::$Variant),+];
        }

        impl $crate::options::value::Value for $Name {
            const KIND: $crate::options::value::ValueKind = $crate::options::value::ValueKind::Choice;

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
