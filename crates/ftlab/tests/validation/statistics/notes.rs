//! The notes of a report, and the health figures: each note with a case that has it, and a similar one
//! that does not.

use super::*;

/// Write amplification that differs from the one at which ageing found the device steady gets a note, either
/// way, if enough was collected to tell.
#[test]
fn amplification_that_departs_from_the_ageing_is_noted() {
    let mut device = device(&[]);
    let (recorder, _) = run(&mut device, 40_000, 0);
    let found = report(&recorder, &device).write_amplification.total_ratio.expect("it was written");
    let noted = |recorder: &Recorder, device: &Device, steady: f64, since: u64| {
        let aged =
            AgedBefore { amplification: steady, tolerance: 0.05, written_since_bytes: since };
        let aged = Circumstances { aged: Some(aged), ..Circumstances::default() };
        let notes = recorder.report(device, &aged).notes;
        let of = notes.into_iter().filter(|note| note.contains("when ageing found the device"));
        of.collect::<Vec<_>>()
    };
    for (steady, change) in [(found / 1.11, "+11 %"), (found / 0.89, "-11 %")] {
        let notes = noted(&recorder, &device, steady, 0);
        assert_eq!(notes.len(), 1, "{steady}");
        let both = [format!("{found:.2} while"), format!("{steady:.2} when"), change.to_owned()];
        both.iter().for_each(|text| assert!(notes[0].contains(text), "{text}: {}", notes[0]));
    }
    for steady in [found, found / 1.09, found / 0.91] {
        assert_eq!(noted(&recorder, &device, steady, 0), Vec::<String>::new(), "{steady}");
    }
    assert!(!report(&recorder, &device).notes.iter().any(|note| note.contains("ageing found")));
    // A rest makes writes cheaper, never dearer, and only for up to a quarter of the capacity.
    let quarter = device.capacity_sectors() * SECTOR_BYTES / 4;
    for (steady, since, rested) in [
        (found / 0.5, 0, true),
        (found / 0.5, quarter - SECTOR_BYTES, true),
        (found / 0.5, quarter + SECTOR_BYTES, false),
        (found / 2.0, 0, false),
    ] {
        let note = &noted(&recorder, &device, steady, since)[0];
        assert_eq!(note.contains("had rested"), rested, "{note}");
        assert_ne!(note.contains("policies differ from those"), rested, "{note}");
    }
    assert_eq!(noted(&recorder, &device, 0.0, 0), Vec::<String>::new());
    // A few collections say nothing: amplification is near one then, whatever it will be.
    let mut fresh = super::device(&[]);
    let (recorder, _) = run(&mut fresh, 7_600, 0);
    let runs = report(&recorder, &fresh).ftl.gc_runs;
    assert!((1..100).contains(&runs), "{runs} collections");
    assert_eq!(noted(&recorder, &fresh, 4.0, 0), Vec::<String>::new());
}

/// A scheduled fault that never came gets a note; one that came gets none.
#[test]
fn faults_that_never_came_are_named() {
    let told = |schedule: &str| {
        let mut device = device(&[&format!("nand.faults.schedule=[{schedule}]")]);
        let (recorder, _) = run(&mut device, 50, 0);
        let mut notes = report(&recorder, &device).notes;
        notes.retain(|note| note.contains("nand.faults.schedule"));
        notes
    };
    let late = told("\"1d: die 0 dies\", \"0s: page 7 is unreadable\"");
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(late[0].contains("\"1d: die 0 dies\" never came, because the run ended before"));
    let unmet = told("\"0s: next erase of block 3 fails\", \"0s: next program of plane 0 fails\"");
    assert_eq!(unmet.len(), 1, "{unmet:?}");
    let words =
        "\"0ns: next erase of block 3 fails\" never came, because there was no such operation";
    assert!(unmet[0].contains(words), "{unmet:?}");
    let many: Vec<String> =
        (1..=5).map(|day| format!("\"{day}d: page {day} is unreadable\"")).collect();
    let many = told(&many.join(", "));
    assert!(many[0].contains("\"3d: page 3 is unreadable\" and 2 more never came"), "{many:?}");
    assert_eq!(told("\"0s: next program of plane 0 fails\""), [""; 0]);
}

/// Blocks that were bad from the factory wear no cycles: the mean is over the others.
#[test]
fn used_endurance_is_a_mean_over_the_good_blocks() {
    let mut device = device(&[
        "nand.faults.factory_bad=5%",
        "ftl.over_provisioning=40%",
        "nand.endurance.policy=fixed",
        "nand.endurance.cycles=100000",
    ]);
    let (recorder, _) = run(&mut device, 40_000, 0);
    let health = report(&recorder, &device).health.expect("blocks can fail");
    let erases: u64 = device.ftl().blocks().all_erases().map(u64::from).sum();
    let good = device.ftl().geometry().blocks() - health.losses.factory_bad;
    assert!(erases > 0 && health.losses.factory_bad > 0, "{erases} {health:?}");
    assert_eq!(health.endurance_used_ratio, Some(erases as f64 / f64::from(good) / 100_000.0));
}

/// A single unmeasured request gets a note, as many do.
#[test]
fn a_single_unmeasured_request_is_noted() {
    let mut device = device(&[]);
    let mut recorder = Recorder::new(&device);
    recorder.phase_started("only", true, &device);
    for page in 0..3 {
        let (op, lba) = (Op::Write, Lba(page * u64::from(PAGE_SECTORS)));
        let request = Request { op, lba, sectors: PAGE_SECTORS, stream: 0, tag: 0, fua: false };
        device.submit(device.now(), request);
        let mut done = Vec::new();
        while device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Completed {}
        match page {
            2 => recorder.record_unmeasured(&done[0]),
            _ => recorder.record(&done[0], done[0].submitted),
        }
    }
    recorder.phase_ended(&device);
    let report = report(&recorder, &device);
    let told = |note: &String| note.contains("(measure_first): 1 more");
    assert!(report.notes.iter().any(told), "{:?}", report.notes);
}

/// The counters of the device have the work of unmeasured requests, so what the host moved has their bytes, too.
#[test]
fn energy_per_byte_counts_unmeasured_reads() {
    let mut device = device(&[]);
    let mut recorder = Recorder::new(&device);
    let page = |op, page: u64| {
        let lba = Lba(page * u64::from(PAGE_SECTORS));
        Request { op, lba, sectors: PAGE_SECTORS, stream: 0, tag: 0, fua: false }
    };
    for op in [Op::Write, Op::Flush] {
        device.submit(device.now(), page(op, 0));
        while device.advance_until(SimTime::FOREVER, &mut Vec::new()) == Advanced::Completed {}
    }
    let mut joules = Vec::new();
    for measured in [4, 1] {
        recorder.phase_started("reads", true, &device);
        for at in 0..4 {
            device.submit(device.now(), page(Op::Read, 0));
            let mut done = Vec::new();
            while device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Completed {}
            match at < measured {
                true => recorder.record(&done[0], done[0].submitted),
                false => recorder.record_unmeasured(&done[0]),
            }
        }
        recorder.phase_ended(&device);
        joules.push(report(&recorder, &device).energy.per_host_gb_j.expect("bytes were read"));
    }
    assert!(joules[0] > 0.0 && (joules[1] / joules[0] - 1.0).abs() < 1e-12, "{joules:?}");
}
