//! Tests tables of a document with a small one of each form.

use super::{Document, Given, Table, Tables};
use crate::options::declare::{choices, options};
use crate::units::{Bytes, Ratio};

choices! {
    /// A way to travel.
    pub enum Way {
        /// On foot.
        Walk = "walk",
        /// By train.
        Train = "train",
    }
}

options! {
    /// One leg.
    pub struct Leg in "[[leg]]" by way: Way with { more: Luggage } {
        /// Where to.
        to: String = required;
        /// The share of the time.
        share: Ratio = "50%";
        /// Pairs of shoes.
        shoes: u32 = "1", in "1"..="9", of "walk";
        /// Whether it is fast.
        fast: bool = depends "as one walks", of "walk" or "train", needed by "train";
        /// A keyword.
        r#as: Option<u32> = "none";
    }
}

options! {
    /// What is carried.
    pub struct Luggage in "luggage" {
        /// How much.
        weight: Bytes = depends "nothing";
    }
}

options! {
    /// A journey.
    pub struct Journey in "the top of the file" {
        /// Its legs.
        leg: Tables<Leg> = required;
        /// How long it is.
        miles: f64 = "1.5";
        /// What is carried all the way.
        luggage: Luggage = "{ weight = \"1KiB\" }";
    }
}

fn read(text: &str) -> Result<Journey, Vec<String>> {
    let check = |document: &mut Document, root: &Given| document.refuse_control_characters(root);
    let (document, journey) = Document::read::<Journey>("j.toml", text, 1000, "cut it", check);
    let told = |problem: &crate::options::Problem| {
        let line = problem.place.as_ref().map_or(0, crate::options::SourcePlace::line);
        format!("{line} {}: {}; {}", problem.path, problem.message, problem.remedy)
    };
    document.finish(journey).map_err(|problems| problems.problems.iter().map(told).collect())
}

#[test]
fn what_is_not_given_is_assumed() {
    let text = "[[leg]]\nway = \"walk\"\nto = \"home\"\nweight = \"2KiB\"\n";
    let journey = read(text).unwrap();
    let leg = &journey.leg[0];
    assert_eq!((leg.way, leg.to.as_str()), (Way::Walk, "home"));
    assert_eq!((leg.shoes, leg.fast), (Some(1), None));
    assert_eq!((leg.share, leg.r#as, journey.miles), (Ratio { ppm: 500_000 }, None, 1.5));
    assert_eq!((leg.more.weight, journey.luggage.weight), (Some(Bytes(2048)), Some(Bytes(1024))));
    assert_eq!(
        (leg.table.path.as_str(), &text[leg.table.span.clone()][..7]),
        ("leg[1]", "[[leg]]")
    );
}

#[test]
fn all_that_is_wrong_is_told_at_once_with_its_place() {
    let text = "miles = \"far\"\n[[leg]]\nway = \"walk\"\nshoes = 12\n[[leg]]\nway = \"trian\"\n[[leg]]\n\
                to = \" \"\nway = \"train\"\nshoes = 1\nwieght = \"1B\"\nas = -1\n";
    let told = [
        "1 miles: expected a number, such as 0.99, found \"far\"; change the value of `miles`, or leave the key out: \
         How long it is.",
        "2 leg[1].to: [[leg]] lacks `to`; add `to`: a text, such as \"some text\"",
        "4 leg[1].shoes: 12 is out of range; write 1 to 9",
        "6 leg[2].way: unknown way \"trian\"; did you mean \"train\"? (known: walk, train)",
        "7 leg[3].fast: [[leg]] lacks `fast`; add `fast`: true or false",
        "8 leg[3].to: an empty text; change the value of `to`: Where to.",
        "10 leg[3].shoes: has no meaning for kind \"train\"; it belongs to walk; remove it, or write one that is known: \
         way, to, share, fast, as, weight",
        "11 leg[3].wieght: unknown key of [[leg]]; did you mean weight? (known: way, to, share, fast, as, weight)",
        "12 leg[3].as: \"-1\" is negative; write a whole number, like 8 or 1_000, or \"none\"",
    ];
    assert_eq!(read(text).unwrap_err(), told);
}

#[test]
fn an_entry_that_is_no_table_is_told_once_and_skipped() {
    let remedy = "change the value of `leg`: Its legs.";
    let takes = "expected a table, such as { way = ..., to = ... }, found";
    let text = "leg = [1, { way = \"walk\", to = \"home\", shoes = 12 }, \"x\"]\nluggage = 5\n";
    let told = [
        format!("1 leg[1]: {takes} the number 1; {remedy}"),
        "1 leg[2].shoes: 12 is out of range; write 1 to 9".to_owned(),
        format!("1 leg[3]: {takes} \"x\"; {remedy}"),
        "2 luggage: expected a table, such as { weight = ... }, found the number 5; change the value of `luggage`, or \
         leave the key out: What is carried all the way."
            .to_owned(),
    ];
    assert_eq!(read(text).unwrap_err(), told);
    let (document, journey) = Document::read::<Journey>("j.toml", text, 1000, "", |_, _| {});
    let journey = journey.expect("it is read as far as possible");
    assert_eq!(journey.leg.len(), 1);
    assert!(!journey.table.is_sound && document.has_failed(&journey.table, "leg"));
}

#[test]
fn a_text_that_cannot_be_printed_is_not_looked_at() {
    let errors = read("miles = \"\\u001b\"\nunknown = 1\n").unwrap_err();
    assert_eq!(
        errors,
        ["1 miles: a control character, U+001B; leave it out: texts are printed on terminals"]
    );
}

#[test]
fn a_long_text_is_not_read() {
    let errors = read(&"#".repeat(1001)).unwrap_err();
    assert_eq!(errors, ["1 : the text has 1001 bytes; the limit is 1000; cut it"]);
}

#[test]
fn a_table_knows_its_keys() {
    let names: Vec<&str> = Leg::info().all_keys().iter().map(|key| key.name).collect();
    assert_eq!(names, ["way", "to", "share", "shoes", "fast", "as", "weight"]);
    let takes: Vec<String> = Journey::info().keys.iter().map(|key| key.takes()).collect();
    let table = "a table, such as { weight = ... }";
    assert_eq!(takes, ["one or more [[leg]] tables", "a number, such as 0.99", table]);
}
