//! The bytes of images, and the errors for those that are refused.

use ftlab::config::{Config, Layer};
use ftlab::image::Snapshot;
use ftlab::saved::file::{FORMAT, MAGIC, check_preamble, preamble};
use ftlab::saved::{Image, Refusal, differences};

fn image() -> Image {
    Image {
        ftlab_version: "0".to_owned(),
        config: "base = \"tiny\"\n".to_owned(),
        seed: 7,
        story: "[]".to_owned(),
        snapshot: Snapshot::default(),
    }
}

#[test]
fn an_image_comes_back_as_it_was() {
    assert_eq!(Image::decode(&image().encode()), Ok(image()));
}

#[test]
fn every_damage_is_told() {
    let told = |bytes: &[u8]| check_preamble(bytes).unwrap_err().to_string();
    assert_eq!(check_preamble(&preamble()), Ok(()));
    assert!(told(b"").contains("not an image"));
    assert!(told(b"PAR1PAR1PAR1").contains("not an image"));
    assert!(told(b"FTLAB").contains("ends within the preamble"));
    let turned = [&MAGIC[..], &FORMAT.to_be_bytes()].concat();
    assert_eq!(check_preamble(&turned), Err(Refusal::OtherByteOrder));
    assert!(told(&turned).contains("byte order"));
    // The first format, and future ones.
    for other in (1..FORMAT).chain([FORMAT + 1]) {
        let bytes = [&MAGIC[..], &other.to_le_bytes()].concat();
        assert_eq!(check_preamble(&bytes), Err(Refusal::OtherFormat(other)));
        let said = told(&bytes);
        assert!(said.contains(&format!("has format {other}")), "{said}");
        assert!(said.contains(&format!("reads format {FORMAT}")), "{said}");
        assert!(said.contains("make it again with ftlab device save"), "{said}");
    }

    let bytes = image().encode();
    let told = |bytes: &[u8]| Image::decode(bytes).unwrap_err().to_string();
    for end in 0..bytes.len() {
        assert!(told(&bytes[..end]).contains("it ends before or within"), "cut at {end}");
    }
    assert!(told(&[&bytes[..], b"x"].concat()).contains("1 bytes follow"));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(told(&damaged).contains("this image is damaged"), "changed at {at}");
    }
    // A huge length allocates nothing.
    let mut long = bytes;
    long[6..14].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(told(&long).contains("it ends before or within section ftlab"));
}

/// A block in one-bit mode holds its pages divided by the bits of a cell. So behind an SLC cache, and
/// only there, the image and the device must have the same bits per cell.
#[test]
fn bits_per_cell_matter_only_behind_an_slc_cache() {
    let cells_differ = |sets: &[&str]| {
        let [image, device] = ["nand.cell=mlc", "nand.cell=tlc"].map(|cell| {
            let sets = sets.iter().chain([&cell]).enumerate();
            let sets = sets.map(|(at, set)| Layer::set(at + 1, set));
            let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
            Config::load(&layers).unwrap_or_else(|error| panic!("{error}"))
        });
        differences(&image, &device).iter().any(|difference| difference.path == "nand.cell")
    };
    assert!(!cells_differ(&["ftl.over_provisioning=200%"]));
    assert!(cells_differ(&[
        "ftl.over_provisioning=200%",
        "ftl.slc_cache.policy=hybrid",
        "ftl.slc_cache.blocks=2",
    ]));
}

/// The config in an image says how zones lie; nothing is set to what is usual when it is read.
#[test]
fn zones_come_back_as_they_lay() {
    let sets = [
        "host.zones.policy=zns",
        "ftl.over_provisioning=200%",
        "ftl.streams.zone_streams=2",
        "ftl.placement.policy=zoned",
        "ftl.placement.zone_dies=1",
        "ftl.placement.zone_blocks=2",
    ];
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let mut layers = vec![Layer::preset("tiny")];
    layers.push(Layer::set(0, "ftl.streams.policy=zoned"));
    layers.extend(sets);
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    let again = Config::load(&[Layer::saved("image", &config.canonical())])
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.canonical(), config.canonical());
    assert_eq!(again.zones(), config.zones());
}
