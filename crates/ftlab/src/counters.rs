//! Counters of the device, each declared once, beside what it counts.
//!
//! `counters!` declares a family of counters. It yields the struct of plain numbers, differences and sums of it, the
//! keys under which results hold it, its rows in the reference and, if it asks for them, its words in the table of
//! `ftlab run` and its row in `ftlab compare`.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::units::Nanos;

/// A counter, as declared.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// What it counts.
    pub doc: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its places in the report, as JSON pointers without the first slash; none if the report has only what is derived
    /// from it.
    pub places: &'static [&'static str],
    /// What stands behind the number in the table of a run.
    pub label: Option<&'static str>,
    /// Its row in comparisons.
    pub compared: Option<Compared>,
}

/// The row of a counter in comparisons.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// What the row is called.
    pub name: &'static str,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// Whether there is no row if the counter is 0 everywhere.
    pub if_any: bool,
}

/// A family of counters, as declared.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of its type.
    pub name: &'static str,
    /// What it counts.
    pub doc: &'static str,
    /// Its fields, in order.
    pub counters: &'static [Counter],
}

/// A counter of a result.
#[derive(Clone, Copy, Debug)]
pub struct ReportEntry {
    /// The key in its section.
    pub key: &'static str,
    /// The number.
    pub number: u64,
    /// What it is.
    pub counter: &'static Counter,
}

/// Numbers that are subtracted and added one by one.
pub trait Counters {
    /// Combines two of them, number by number, in the order of declaration.
    #[must_use]
    fn zip(&self, other: &Self, f: &mut dyn FnMut(u64, u64) -> u64) -> Self;

    /// The number, if it is a single one.
    fn number(&self) -> Option<u64> {
        None
    }

    /// Adds the families that it consists of.
    fn families(_: &mut Vec<&'static Family>) {}
}

impl Counters for u64 {
    fn zip(&self, other: &u64, f: &mut dyn FnMut(u64, u64) -> u64) -> u64 {
        f(*self, *other)
    }

    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

impl Counters for u32 {
    fn zip(&self, other: &u32, f: &mut dyn FnMut(u64, u64) -> u64) -> u32 {
        f(u64::from(*self), u64::from(*other)) as u32
    }

    fn number(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
}

impl Counters for Nanos {
    fn zip(&self, other: &Nanos, f: &mut dyn FnMut(u64, u64) -> u64) -> Nanos {
        Nanos(f(self.0, other.0))
    }
}

impl<T: Counters, const N: usize> Counters for [T; N] {
    fn zip(&self, other: &[T; N], f: &mut dyn FnMut(u64, u64) -> u64) -> [T; N] {
        std::array::from_fn(|at| self[at].zip(&other[at], f))
    }

    fn families(list: &mut Vec<&'static Family>) {
        T::families(list);
    }
}

impl<T: Counters> Counters for Vec<T> {
    fn zip(&self, other: &Vec<T>, f: &mut dyn FnMut(u64, u64) -> u64) -> Vec<T> {
        std::iter::zip(self, other).map(|(one, other)| one.zip(other, f)).collect()
    }

    fn families(list: &mut Vec<&'static Family>) {
        T::families(list);
    }
}

/// Splits a place into its section and its key.
#[must_use]
pub fn section_and_key(place: &'static str) -> (&'static str, &'static str) {
    place.rsplit_once('/').unwrap_or(("", place))
}

/// Serialises entries as an object.
pub(crate) fn serialize<S: Serializer>(entries: &[ReportEntry], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(entries.len()))?;
    entries.iter().try_for_each(|entry| map.serialize_entry(entry.key, &entry.number))?;
    map.end()
}

/// Counters for each value of an enum. Results hold them as an object with the names of the values as keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By<K, T>(Vec<(K, T)>);

impl<K, T> By<K, T> {
    /// Counters in the order of `keys`.
    pub(crate) fn new(keys: impl IntoIterator<Item = K>, counters: impl Fn(&K) -> T) -> By<K, T> {
        let with_its = |key| {
            let of = counters(&key);
            (key, of)
        };
        By(keys.into_iter().map(with_its).collect())
    }
}

impl<K: PartialEq, T> std::ops::Index<K> for By<K, T> {
    type Output = T;

    fn index(&self, key: K) -> &T {
        let found = self.0.iter().find(|(known, _)| *known == key);
        &found.expect("there are counters for each value").1
    }
}

impl<K: Serialize, T: Serialize> Serialize for By<K, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, of)| (key, of)))
    }
}

/// Declares a family of counters.
///
/// ```text
/// counters! {
///     /// What the write buffer did.
///     #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
///     pub struct BufferCounts {
///         /// Written pages that had to wait for room.
///         waited: u64, unit "pages", at "cache/waited_pages", label "waited for room",
///             compared lower if any "buffer, waits";
///     }
/// }
/// ```
///
/// All that follows the type is optional. `at` is a place in the report, or several, joined by `or`: the section of the
/// report that it names embeds the family. The table shows a number with a `label` unless it is 0. `compared` gives it a
/// row in comparisons, for which `lower` or `higher` is better; `if any` leaves the row out where no run counted any.
macro_rules! counters {
    (
        $(#[doc = $doc:literal])+
        #[derive($($Derived:ident),+)]
        pub struct $Name:ident {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident: $Type:ty
                $(, unit $unit:literal)?
                $(, at $($place:literal)or+)?
                $(, label $label:literal)?
                $(, compared $better:ident $(if $any:ident)? $row:literal)?;
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive($($Derived),+)]
        pub struct $Name {
            $($(#[doc = $field_doc])+ pub $field: $Type,)+
        }

        impl $Name {
            const FAMILY: $crate::counters::Family = $crate::counters::Family {
                name: stringify!($Name),
                doc: concat!($($doc),+).trim_ascii(),
                counters: &[$($crate::counters::Counter {
                    doc: concat!($($field_doc),+).trim_ascii(),
                    unit: concat!($($unit)?),
                    places: &[$($($place),+)?],
                    label: $crate::counters::counters!(@label $($label)?),
                    compared: $crate::counters::counters!(@row $($better $row, [$($any)?])?),
                }),+],
            };

            /// What was counted since `earlier`.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                $crate::counters::Counters::zip(self, earlier, &mut |now, then| now - then)
            }

            /// The sum of both.
            #[must_use]
            pub fn plus(&self, other: &Self) -> Self {
                $crate::counters::Counters::zip(self, other, &mut |one, two| one + two)
            }

            /// The counters that the report holds in a section, or in any.
            #[must_use]
            pub fn entries(&self, section: Option<&str>) -> Vec<$crate::counters::ReportEntry> {
                let numbers = [$($crate::counters::Counters::number(&self.$field)),+];
                let mut entries = Vec::new();
                for (counter, number) in std::iter::zip(Self::FAMILY.counters, numbers) {
                    let places = counter.places.iter().copied().map($crate::counters::section_and_key);
                    let keys = places.filter(|(of, _)| section.is_none_or(|section| *of == section));
                    let entry = |(_, key)| Some($crate::counters::ReportEntry { key, number: number?, counter });
                    entries.extend(keys.filter_map(entry));
                }
                entries
            }
        }

        impl $crate::counters::Counters for $Name {
            fn zip(&self, other: &Self, f: &mut dyn FnMut(u64, u64) -> u64) -> Self {
                Self { $($field: $crate::counters::Counters::zip(&self.$field, &other.$field, f),)+ }
            }

            fn families(list: &mut Vec<&'static $crate::counters::Family>) {
                list.push(&Self::FAMILY);
                $(<$Type as $crate::counters::Counters>::families(list);)+
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::counters::serialize(&self.entries(None), to)
            }
        }
    };
    (@label) => { None };
    (@label $label:literal) => { Some($label) };
    (@row) => { None };
    (@row $better:ident $row:literal, [$($any:ident)?]) => {
        Some($crate::counters::Compared {
            name: $row,
            higher_is_better: $crate::counters::counters!(@better $better),
            if_any: $crate::counters::counters!(@any $($any)?),
        })
    };
    (@better higher) => { true };
    (@better lower) => { false };
    (@any) => { false };
    (@any any) => { true };
}
pub(crate) use counters;
