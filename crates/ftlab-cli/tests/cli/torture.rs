//! `ftlab torture`: what it prints, that threads change nothing, and what it refuses.

use crate::common::Place;

/// Only the line with the number of threads may differ.
#[test]
fn threads_change_nothing_of_what_comes_out() {
    let place = Place::new();
    let [one, two] = ["1", "2"].map(|jobs| {
        place.run(&format!("torture --cuts 200 --design page --seed 40 --json -j {jobs}"))
    });
    assert_eq!((one.code, one.out.as_str()), (0, two.out.as_str()), "{}", one.err);
    let document: serde_json::Value = serde_json::from_str(&one.out).expect("JSON");
    assert_eq!((&document["first_seed"], &document["losses"]), (&40.into(), &0.into()));
    let cuts = document["cuts"].as_u64().expect("a number");
    assert!(
        (200..250).contains(&cuts),
        "{cuts}: no more than the last case is beyond what is asked"
    );
    assert!(document["designs"][0]["recovery_ns"]["median"].as_u64().is_some_and(|time| time > 0));
}

#[test]
fn the_table_names_designs_and_seeds() {
    let done = Place::new().run("torture --cuts 60 --design dftl --design ordered --seed 3");
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    for word in ["seeds 3 to", "nothing lost", "dftl", "ordered", "median"] {
        assert!(done.out.contains(word), "{word}: {}", done.out);
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 79), "{}", done.out);
    let again = Place::new().run("torture --replay dftl:3");
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
}

/// Die failures are counted apart from power cuts.
#[test]
fn deaths_of_dies_are_counted_apart() {
    let place = Place::new();
    let done = place.run("torture --cuts 20 --design parity --design page --seed 6 --json");
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let document: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    let [parity, page] = [0, 1].map(|number| &document["designs"][number]);
    assert_eq!((&parity["cuts"], &page["deaths"]), (&0.into(), &0.into()));
    assert_eq!(&parity["recovery_ns"], &serde_json::Value::Null);
    assert_eq!(&document["cuts"], &page["cuts"]);
    assert_eq!(&document["deaths"], &parity["deaths"]);
    // Whether a case rebuilds pages depends on what is drawn.
    let computes = |seed: u32| {
        let done = place.run(&format!("torture --replay parity:{seed}"));
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        Some(done).filter(|done| done.out.contains("flash pages were rebuilt"))
    };
    let done = (0..40).find_map(computes).expect("some of them compute pages");
    for word in ["deaths", "0 power cuts"] {
        assert!(done.out.contains(word), "{word}: {}", done.out);
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 79), "{}", done.out);
}

#[test]
fn a_line_is_taken_as_it_was_printed() {
    let place = Place::new();
    let [whole, part] = ["ftlab torture --replay page:48", "page:48"].map(|line| {
        let output = place.command(&["torture", "--replay", line, "--json"]).output();
        crate::common::Done::from(output.expect("the program can be started"))
    });
    assert_eq!((whole.code, &whole.out), (0, &part.out), "{}", whole.err);
}

#[test]
fn a_design_that_is_named_twice_is_one() {
    let place = Place::new();
    let [once, twice] = ["", " --design page"]
        .map(|more| place.run(&format!("torture --cuts 20 --design page{more} --json -j 1")));
    assert_eq!((twice.code, &twice.out), (0, &once.out), "{}", twice.err);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    for (line, words) in [
        ("torture --cuts 1 -j 100000000", "1..=1024"),
        ("torture", "--cuts"),
        ("torture --cuts 0", "1.."),
        ("torture --cuts 10 --hours 1", "cannot be used with"),
        ("torture --hours -1", "no time"),
        ("torture --hours soon", "30min"),
        ("torture --cuts 5 --design none", "packed"),
        ("torture --cuts 5 --seed -3", "negative"),
        ("torture --cuts 5 -j 0", "1.."),
        ("torture --cuts 5 --design parity", "--hours"),
        ("torture --replay page", "remedy"),
        ("torture --replay none:4", "packed"),
        ("torture --replay page:4:r=100", "does not have"),
        ("torture --replay page:4:o=nand.channels", "no valid device"),
        ("torture --replay page:4 --seed 3", "cannot be used with"),
    ] {
        let done = place.run(line);
        let told = done.code == 2 && done.err.contains(words);
        assert!(told && done.out.is_empty(), "{line}: {} {}", done.code, done.err);
    }
}
