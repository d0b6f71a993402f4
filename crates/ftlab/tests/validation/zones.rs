//! Zones on a device: nothing is copied where zones fill whole blocks, zones on the same dies disturb each other as a closed form
//! says and others not at all, and write pointers survive power cuts and images.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::device::{Device, DeviceSetup, assemble, power_up};
use ftlab::engine::Stream;
use ftlab::host::zones::{ZoneError, ZoneState};
use ftlab::host::{Completion, Host, Op, Outcome, Request};
use ftlab::image::Resume;
use ftlab::units::{BlockId, Lba, Lpn, SimTime};

use crate::common::{PROGRAM, Spec, closed_loop, request};

/// Sectors of a flash page, which is a mapping unit here.
const PAGE: u32 = 8;

/// Two channels of two dies of two planes, with blocks of sixteen pages: zones of two dies have 64 pages.
fn spec() -> Spec {
    Spec::small().with(
        "nand.channels = 2
         nand.chips_per_channel = 2
         nand.planes_per_die = 2
         nand.blocks_per_plane = 50
         nand.pages_per_block = 16
         host.zones.policy = zns
         ftl.over_provisioning = 40%
         ftl.streams.policy = zoned
         ftl.streams.zone_streams = 8
         ftl.placement.policy = zoned
         ftl.placement.zone_dies = 2
         host.zones.max_open = 4
         host.zones.max_active = 6",
    )
}

/// Sectors of a zone, and of its capacity.
fn zone_sectors(device: &Device) -> (u64, u64) {
    let shape = device.zones().expect("it has zones").rules().shape;
    (shape.size_sectors(), shape.capacity_sectors())
}

fn of_zone(op: Op, zone: u64, device: &Device) -> Request {
    let (size, _) = zone_sectors(device);
    request(op, zone * size, size as u32, 0)
}

fn write_pointer(zone: u64, device: &Device) -> u64 {
    device.zones().expect("it has zones").all()[zone as usize].write_pointer
}

fn state(zone: u64, device: &Device) -> ZoneState {
    device.zones().expect("it has zones").all()[zone as usize].state
}

/// The next write of `pages` pages to a zone.
fn next_write(zone: u64, pages: u32, device: &Device) -> Request {
    let (size, _) = zone_sectors(device);
    request(Op::Write, zone * size + write_pointer(zone, device), pages * PAGE, 0)
}

fn carry_out(device: &mut Device, request: Request) -> Completion {
    let done = closed_loop(device, 1, [request]);
    assert_eq!(done.len(), 1);
    done[0]
}

/// A command for a whole zone.
fn manage(device: &mut Device, op: Op, zone: u64) -> Completion {
    let request = of_zone(op, zone, device);
    carry_out(device, request)
}

#[test]
fn nothing_is_copied_where_zones_fill_whole_blocks() {
    for buffer in ["none", "lru"] {
        for gap in ["none", "512KiB"] {
            let spec = spec().set("host.zones.size", gap).buffered(buffer, 24);
            let spec =
                if buffer == "none" { spec.without(|at| at == "cache.capacity") } else { spec };
            let mut device = assemble(spec.setup().checking());
            let zones = u64::from(device.zones().expect("zones").rules().shape.count);
            let (_, capacity) = zone_sectors(&device);
            let mut stream = Stream::new(5, "zones");
            let mut open: Vec<u64> = Vec::new();
            let mut written = 0;
            while written < 20 * zones * capacity {
                if open.len() < 4 {
                    let zone = stream.below(zones);
                    if open.contains(&zone) {
                        continue;
                    }
                    manage(&mut device, Op::ZoneReset, zone);
                    open.push(zone);
                }
                let at = stream.below(open.len() as u64) as usize;
                let left = (capacity - write_pointer(open[at], &device)) as u32 / PAGE;
                let pages = (1 + stream.below(7) as u32).min(left);
                let write = next_write(open[at], pages, &device);
                let done = carry_out(&mut device, write);
                assert_eq!((done.outcome, done.request), (Outcome::Done, write));
                written += u64::from(pages * PAGE);
                if state(open[at], &device) == ZoneState::Full {
                    open.swap_remove(at);
                }
            }
            let counts = device.ftl_counts();
            assert_eq!((counts.gc_pages, counts.padding), (0, 0), "{buffer}, {gap}: {counts:?}");
            assert!(counts.gc_runs > 100, "{counts:?}");
            assert_eq!(device.audit(), Ok(()));
        }
    }
}

/// A zone that is finished early leaves blocks behind that no other zone fills.
#[test]
fn zones_that_are_finished_early_share_no_blocks() {
    let mut device = assemble(spec().setup().checking());
    let zones = u64::from(device.zones().expect("zones").rules().shape.count);
    let mut stream = Stream::new(6, "zones");
    for _ in 0..40 * zones {
        let zone = stream.below(zones);
        manage(&mut device, Op::ZoneReset, zone);
        let write = next_write(zone, 1 + stream.below(63) as u32, &device);
        assert_eq!(carry_out(&mut device, write).outcome, Outcome::Done);
        let done = manage(&mut device, Op::ZoneFinish, zone);
        assert_eq!(done.outcome, Outcome::Done);
        assert_eq!(state(zone, &device), ZoneState::Full);
    }
    assert_eq!(device.ftl_counts().gc_pages, 0, "{:?}", device.ftl_counts());
    assert!(device.ftl_counts().gc_runs > 100);
}

#[test]
fn appends_tell_their_address_and_errors_are_answered() {
    let mut device = assemble(spec().set("host.zones.size", "512KiB").setup().checking());
    let (size, capacity) = zone_sectors(&device);
    assert_eq!((size, capacity), (1024, 512));
    let append = |zone: u64| request(Op::Append, zone * size, 3 * PAGE, 7);
    for number in 0..3 {
        let done = carry_out(&mut device, append(2));
        assert_eq!(done.outcome, Outcome::Done);
        assert_eq!(done.request.lba, Lba(2 * size + number * 3 * u64::from(PAGE)));
    }
    let wrong = [
        (request(Op::Write, 2 * size, PAGE, 0), ZoneError::InvalidWrite),
        (request(Op::Append, 2 * size + 8, PAGE, 0), ZoneError::InvalidField),
        (request(Op::Read, 2 * size + capacity, PAGE, 0), ZoneError::Boundary),
        (request(Op::Trim, 2 * size, PAGE, 0), ZoneError::InvalidField),
        (of_zone(Op::ZoneOffline, 2, &device), ZoneError::InvalidTransition),
    ];
    for (request, error) in wrong {
        let done = carry_out(&mut device, request);
        assert_eq!((done.outcome, done.request), (Outcome::Zone(error), request));
    }
    let conventional = Spec::small().setup();
    let mut device: Device = assemble(conventional);
    for op in [Op::Append, Op::ZoneReset] {
        let done = carry_out(&mut device, request(op, 0, PAGE, 0));
        assert_eq!(done.outcome, Outcome::Zone(ZoneError::InvalidField));
    }
}

/// Writes to zones without a buffer, each zone with `depth` writes of a page under way: the time that they take.
fn time_of(zones: &[u64], order: &str) -> u64 {
    let spec = spec().set("ftl.placement.zone_order", order).set("ftl.placement.zone_dies", 1);
    let mut device = assemble(spec.set("nand.bus.command", "0ns").setup().checking());
    let (size, capacity) = zone_sectors(&device);
    for sector in (0..capacity).step_by(PAGE as usize) {
        let writes = zones.iter().map(|zone| request(Op::Write, zone * size + sector, PAGE, 0));
        writes.for_each(|write| device.submit(device.now(), write));
    }
    let mut done = Vec::new();
    while device.requests_in_flight() > 0 {
        device.advance_until(SimTime::FOREVER, &mut done);
    }
    assert!(done.iter().all(|done| done.outcome == Outcome::Done));
    device.now().0
}

/// A die programs one page after the other, and the next page crosses the bus only when the one before is programmed.
#[test]
fn zones_share_what_their_dies_share() {
    // A page takes 10 us on the bus.
    let (bus, pages) = (10_000, 32);
    let alone = pages * (bus + PROGRAM.0);
    assert_eq!(time_of(&[0], "plane-channel-chip-die"), alone);
    assert_eq!(time_of(&[0, 4], "plane-channel-chip-die"), 2 * alone, "on one die");
    assert_eq!(time_of(&[0, 1], "plane-channel-chip-die"), alone, "on two channels");
    // On one channel, the first transfer of the second zone waits for that of the first, and all that follow find the bus
    // free.
    assert_eq!(time_of(&[0, 1], "plane-chip-channel-die"), alone + bus, "on one channel");
}

#[test]
fn write_pointers_survive_power_cuts() {
    for (buffer, capacitors) in [("none", "off"), ("lru", "on"), ("lru", "off")] {
        let spec = spec().set("ftl.recovery.policy", "scan").buffered(buffer, 24);
        let spec = if buffer == "none" { spec.without(|at| at == "cache.capacity") } else { spec };
        let spec = spec.set("power.capacitors", capacitors);
        let setup = || -> DeviceSetup { spec.setup().checking() };
        let mut device = assemble(setup());
        let mut stream = Stream::new(9, "zones");
        let is_safe = buffer == "none" || capacitors == "on";
        for round in 0..40 {
            for _ in 0..30 {
                let zone = stream.below(6);
                if stream.below(12) == 0 {
                    manage(&mut device, Op::ZoneReset, zone);
                    continue;
                }
                let left = (zone_sectors(&device).1 - write_pointer(zone, &device)) as u32 / PAGE;
                if state(zone, &device) == ZoneState::Full || left == 0 {
                    continue;
                }
                let write = next_write(zone, (1 + stream.below(5) as u32).min(left), &device);
                assert_eq!(carry_out(&mut device, write).outcome, Outcome::Done);
            }
            let before: Vec<_> = (0..6).map(|zone| write_pointer(zone, &device)).collect();
            // One more write is under way.
            let zone = stream.below(6);
            if state(zone, &device) != ZoneState::Full {
                let write = next_write(zone, 1, &device);
                device.submit(device.now(), write);
                let until = device.now().0 + stream.below(700_000);
                device.advance_until(SimTime(until), &mut Vec::new());
            }
            let (next, _) = power_up(setup(), (), device.cut_power()).expect("its own remains");
            device = next;
            for zone in 0..6 {
                let (now, before) = (write_pointer(zone, &device), before[zone as usize]);
                if is_safe {
                    assert!(now >= before, "round {round}: zone {zone} from {before} to {now}");
                }
                assert!(now <= before + u64::from(PAGE), "round {round}: {before} to {now}");
                assert!(!state(zone, &device).is_open());
                // Nothing is behind the write pointer, and what was safe is there.
                let shape = device.zones().expect("zones").rules().shape;
                let first = shape.first_page(zone as u32).get();
                let written = device.zones().expect("zones").all()[zone as usize].written;
                for page in 0..shape.pages {
                    let is_there = device.ftl().look_up(Lpn::new(first + page)).is_some();
                    let page = u64::from(page * PAGE);
                    assert!(!is_there || page < written, "round {round}, zone {zone}, {page}");
                    let must_be = page < before.min(written) && is_safe;
                    assert!(is_there || !must_be, "round {round}, zone {zone}, {page}");
                }
            }
            assert_eq!(device.audit(), Ok(()));
        }
    }
}

/// A reset is on its way while writes to its zone wait, for room in the buffer or for the version before of their page.
#[test]
fn no_write_comes_in_behind_a_reset() {
    for buffer in ["none", "lru"] {
        let spec = spec().buffered(buffer, 2);
        let spec = if buffer == "none" { spec.without(|at| at == "cache.capacity") } else { spec };
        let mut device = assemble(spec.setup().checking());
        let parts = (0..40).map(|part| request(Op::Write, part * 3, 3, 0));
        let reset = of_zone(Op::ZoneReset, 0, &device);
        let done = closed_loop(&mut device, 64, parts.chain([reset]).collect::<Vec<_>>());
        assert_eq!(done.len(), 41);
        assert!(done.iter().all(|done| done.outcome == Outcome::Done), "{done:?}");
        assert_eq!((state(0, &device), write_pointer(0, &device)), (ZoneState::Empty, 0));
        let there = (0..16).filter(|&page| device.ftl().look_up(Lpn::new(page)).is_some());
        assert_eq!(there.count(), 0, "{buffer}");
        assert_eq!(device.audit(), Ok(()));
    }
}

/// Blocks with data of several zones in the streams of zones. What was open at a cut is emptied into blocks of copies; after the next
/// cut these count as written in the stream of conventional zones, of which there are none.
fn shared_blocks(device: &Device) -> usize {
    let ftl = device.ftl();
    let shape = device.zones().expect("zones").rules().shape;
    let copies = ftl.streams().host_streams();
    let mut zones: BTreeMap<BlockId, BTreeSet<u32>> = BTreeMap::new();
    for page in (0..ftl.logical_pages()).map(Lpn::new) {
        let Some(at) = ftl.look_up(page) else { continue };
        zones.entry(ftl.geometry().block_of(at)).or_default().insert(shape.zone_of(page));
    }
    let of_zones =
        |block: &BlockId| (1..copies).contains(&(ftl.blocks().stream(*block).at() as u8));
    zones.iter().filter(|(block, zones)| of_zones(block) && zones.len() > 1).count()
}

/// A zone that was written in part before a cut gives its stream back when the rest is written.
#[test]
fn zones_stay_apart_after_a_power_cut() {
    let spec = spec()
        .set("ftl.recovery.policy", "scan")
        .set("ftl.placement.zone_dies", "none")
        .set("ftl.streams.zone_streams", 2)
        .set("host.zones.max_open", 2)
        .set("host.zones.max_active", 2);
    let mut device: Device = assemble(spec.setup().checking());
    let zones = u64::from(device.zones().expect("zones").rules().shape.count);
    let (_, capacity) = zone_sectors(&device);
    let fill = |device: &mut Device, zone: u64| {
        while state(zone, device) != ZoneState::Full {
            let left = (capacity - write_pointer(zone, device)) as u32 / PAGE;
            let write = next_write(zone, left.min(7), device);
            assert_eq!(carry_out(device, write).outcome, Outcome::Done);
        }
    };
    let mut stream = Stream::new(13, "zones");
    let mut next = (0..).map(|number: u64| number % zones);
    for round in 0..60 {
        let pair = [next.next(), next.next()].map(|zone| zone.expect("endless"));
        for zone in pair {
            manage(&mut device, Op::ZoneReset, zone);
            let write = next_write(zone, 1 + stream.below(60) as u32, &device);
            assert_eq!(carry_out(&mut device, write).outcome, Outcome::Done);
        }
        device = power_up(spec.setup().checking(), (), device.cut_power()).expect("its own").0;
        pair.into_iter().for_each(|zone| fill(&mut device, zone));
        // Two others, written by turns.
        let pair = [next.next(), next.next()].map(|zone| zone.expect("endless"));
        pair.into_iter().for_each(|zone| {
            manage(&mut device, Op::ZoneReset, zone);
        });
        for _ in 0..30 {
            for zone in pair {
                let write = next_write(zone, 1, &device);
                assert_eq!(carry_out(&mut device, write).outcome, Outcome::Done);
            }
        }
        pair.into_iter().for_each(|zone| fill(&mut device, zone));
        assert_eq!(shared_blocks(&device), 0, "round {round}");
    }
}

#[test]
fn zones_continue_from_an_image() {
    let spec = spec().set("host.zones.size", "512KiB").buffered("lru", 24);
    let mut device: Device = assemble(spec.setup().checking());
    let mut stream = Stream::new(11, "zones");
    let zones = 12;
    let play = |device: &mut Device, stream: &mut Stream| {
        let mut told = Vec::new();
        for _ in 0..300 {
            let zone = stream.below(zones);
            let next = match state(zone, device) {
                ZoneState::Full => of_zone(Op::ZoneReset, zone, device),
                _ if stream.below(20) == 0 => of_zone(Op::ZoneFinish, zone, device),
                _ => {
                    let left = (512 - write_pointer(zone, device)) as u32 / PAGE;
                    next_write(zone, (1 + stream.below(9) as u32).min(left), device)
                }
            };
            let done = carry_out(device, next);
            told.push((done.outcome, done.request, done.latency()));
        }
        told
    };
    play(&mut device, &mut stream);
    device.rest(&mut Vec::new()).expect("nothing fails");
    let snapshot = device.save();
    let mut loaded: Device = assemble(spec.setup().checking());
    loaded.load(&snapshot, Resume::ALL).expect("its own image");
    assert_eq!(loaded.zones().expect("zones").all(), device.zones().expect("zones").all());
    let again = stream.clone();
    let one = play(&mut device, &mut stream);
    assert_eq!(play(&mut loaded, &mut again.clone()), one);
}

/// The zones that are out of service.
fn offline(device: &Device) -> BTreeSet<u64> {
    let zones = (0..).zip(device.zones().expect("zones").all());
    zones.filter(|(_, zone)| zone.state == ZoneState::Offline).map(|(number, _)| number).collect()
}

/// A device whose blocks fail often.
fn failing() -> Spec {
    spec().with(
        "nand.faults.program_failures = 1000000
         nand.faults.erase_failures = 30000000",
    )
}

/// Writes zones at random and resets those that are full, until so many are out of service. The others stay as they are, and the
/// device lives.
fn wear_out(device: &mut Device, stream: &mut Stream, most: usize) {
    let (zones, (_, capacity)) = (70, zone_sectors(device));
    let mut gone = offline(device);
    while gone.len() < most {
        let zone = stream.below(zones);
        let request = match state(zone, device) {
            ZoneState::Offline => continue,
            ZoneState::Full => of_zone(Op::ZoneReset, zone, device),
            _ => {
                let left = (capacity - write_pointer(zone, device)) as u32 / PAGE;
                next_write(zone, left.min(16), device)
            }
        };
        let before: Vec<_> = device.zones().expect("zones").all().to_vec();
        let outcome = carry_out(device, request).outcome;
        let now = offline(device);
        let fits = match outcome {
            Outcome::Zone(ZoneError::TooManyActive) => true,
            Outcome::Zone(ZoneError::Offline) => now.contains(&zone),
            outcome => outcome == Outcome::Done,
        };
        assert!(fits, "{request:?}: {outcome:?}");
        assert!(gone.is_subset(&now), "zones don't come back");
        let held_nothing = |&new: &u64| {
            before[new as usize].state == ZoneState::Empty
                || request.op == Op::ZoneReset && new == zone
        };
        assert!(now.difference(&gone).all(held_nothing), "{gone:?}, {now:?}");
        gone = now;
        assert!(device.end_of_life().is_none());
    }
    assert_eq!(device.audit(), Ok(()));
}

#[test]
fn zones_go_out_of_service_one_by_one() {
    let mut device: Device = assemble(failing().setup().checking());
    let mut stream = Stream::new(3, "wear");
    wear_out(&mut device, &mut stream, 1);
    let gone = *offline(&device).first().expect("a zone");
    assert_eq!(offline(&device).len(), 1, "one at a time");
    let sectors = zone_sectors(&device).0;
    let of_gone = |op, sectors| request(op, gone * zone_sectors(&device).0, sectors, 0);
    let offline_now = [Op::Read, Op::Write, Op::Append].map(|op| of_gone(op, PAGE));
    let invalid = [Op::ZoneReset, Op::ZoneOpen, Op::ZoneClose, Op::ZoneFinish];
    let invalid = invalid.map(|op| of_gone(op, sectors as u32));
    let again = of_gone(Op::ZoneOffline, sectors as u32);
    for request in offline_now {
        let outcome = carry_out(&mut device, request).outcome;
        assert_eq!(outcome, Outcome::Zone(ZoneError::Offline), "{request:?}");
    }
    for request in invalid {
        let outcome = carry_out(&mut device, request).outcome;
        assert_eq!(outcome, Outcome::Zone(ZoneError::InvalidTransition), "{request:?}");
    }
    assert_eq!(carry_out(&mut device, again).outcome, Outcome::Done, "it is offline already");
    // To the last one, with no place for open or active zones taken by those that are gone.
    wear_out(&mut device, &mut stream, 70);
    let zones = device.zones().expect("zones");
    assert_eq!((zones.counts().retired, zones.in_use()), (70, (0, 0)));
}

#[test]
fn zones_stay_out_of_service_after_power_cuts_and_in_images() {
    let spec = failing().set("ftl.recovery.policy", "scan");
    let setup = || -> DeviceSetup { spec.setup().checking() };
    let spare = |device: &Device| device.ftl().life().map(|life| life.available_spare());
    let mut device = assemble(setup());
    let mut stream = Stream::new(4, "wear");
    for most in (1..40).step_by(3) {
        // Power is cut as soon as a zone is gone.
        wear_out(&mut device, &mut stream, most);
        let (gone, left) = (offline(&device), spare(&device));
        let (next, _) = power_up(setup(), (), device.cut_power()).expect("its own remains");
        device = next;
        assert_eq!((offline(&device), spare(&device)), (gone, left), "after a power cut");
        assert!(device.end_of_life().is_none());

        wear_out(&mut device, &mut stream, most + 1);
        device.rest(&mut Vec::new()).expect("the device takes writes");
        let mut loaded: Device = assemble(setup());
        loaded.load(&device.save(), Resume::ALL).expect("its own image");
        assert_eq!(loaded.zones().expect("zones").all(), device.zones().expect("zones").all());
        assert_eq!(spare(&loaded), spare(&device));
        let again = stream.clone();
        wear_out(&mut device, &mut stream, most + 2);
        wear_out(&mut loaded, &mut again.clone(), most + 2);
        assert_eq!(offline(&loaded), offline(&device));
    }
}

/// Blocks that are bad from the factory take zones out of service before the first request.
#[test]
fn a_new_device_lacks_zones_for_which_it_has_no_blocks() {
    let spec = spec().set("nand.faults.factory_bad", "10%").set("ftl.over_provisioning", "66%");
    let mut device: Device = assemble(spec.setup().checking());
    let gone = offline(&device);
    let zones = device.zones().expect("zones").all().len() as u64;
    assert!((1..20).contains(&gone.len()), "{gone:?}");
    for zone in (0..zones).filter(|zone| !gone.contains(zone)) {
        let write = next_write(zone, 64, &device);
        assert_eq!(carry_out(&mut device, write).outcome, Outcome::Done, "{zone}");
    }
    assert_eq!(offline(&device), gone);
    assert!(device.end_of_life().is_none());
}
