//! What the host's own translation needs of its options.

use ftlab::config::Config;

use crate::errors::{error, with_sets};

#[test]
fn a_store_of_the_host_needs_zones_to_spare() {
    let told = |sets: &[&str]| {
        let all = [&["ftl.over_provisioning=100%", "host.translation.policy=log"], sets].concat();
        let problem = error(&with_sets("tiny", &all)).problems[0].clone();
        (problem.path, problem.message, problem.remedy)
    };
    let (path, message, _) = told(&[]);
    assert_eq!(path, "host.translation.policy");
    assert!(message.contains("needs zones"), "{message}");
    let zones =
        ["host.zones.policy=zns", "ftl.streams.policy=single", "ftl.placement.policy=dynamic"];
    let with = |more: &[&'static str]| told(&[&zones[..], more].concat());
    let (path, ..) = with(&["host.zones.capacity=64KiB", "host.zones.conventional=1"]);
    assert_eq!(path, "host.zones.conventional");
    let (path, ..) = with(&["host.zones.capacity=64KiB", "host.translation.map_block=12KiB"]);
    assert_eq!(path, "host.translation.map_block");
    let (path, _, remedy) =
        with(&["host.zones.capacity=64KiB", "host.translation.clean_below=100000"]);
    assert_eq!(path, "host.translation.spare");
    assert!(remedy.contains("clean_below"), "{remedy}");
    let (path, message, remedy) = with(&["host.zones.capacity=64KiB", "host.zones.max_active=1"]);
    assert_eq!(path, "host.translation.placement", "{message}");
    assert!(remedy.contains("single"), "{remedy}");
    // More than two tebibytes of zones, in blocks of 512 bytes.
    let large = [
        "nand.blocks_per_plane=600000",
        "nand.pages_per_block=256",
        "host.zones.capacity=1GiB",
        "host.translation.map_block=512B",
    ];
    let (path, message, _) = with(&large);
    assert_eq!(path, "host.translation.map_block", "{message}");
    assert!(message.contains("32 bits"), "{message}");
}

/// Zones imply placement and streams of their own, whose options need no policy then; one that was chosen stays.
#[test]
fn zones_imply_where_they_lie() {
    let zones =
        ["host.zones.policy=zns", "host.zones.capacity=64KiB", "ftl.over_provisioning=100%"];
    let with = |more: &[&'static str]| with_sets("tiny", &[&zones[..], more].concat());
    let layers = with(&["ftl.placement.zone_dies=1", "ftl.streams.zone_streams=3"]);
    let config = Config::load(&layers).expect("in order");
    let shown = config.show();
    for line in ["zone_dies = \"1\"", "zone_streams = 3", "zones have blocks of their own"] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let single = ["ftl.streams.policy=single", "ftl.streams.zone_streams=3"];
    let problem = error(&with(&single)).problems[0].clone();
    assert_eq!(problem.path, "ftl.streams.zone_streams");
    assert!(problem.message.contains("is \"single\""), "{}", problem.message);
}
