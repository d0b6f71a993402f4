//! The fuzz target of images: any bytes are either refused or give a working device.

use super::file::{self, Image};
use crate::config::{Config, Layer};
use crate::device::{DeviceSetup, assemble};
use crate::host::{Advanced, Host, Op, Request};
use crate::image::{ImagePart, Resume};
use crate::units::{Lba, SimTime};

/// Maximum capacity of the devices on which images are tried: they are built in no time.
const LARGEST_BYTES: u64 = 64 << 20;
/// Requests that a loaded device must serve.
const REQUESTS: u64 = 64;
/// Sectors of a request.
const PAGE: u64 = 8;

/// Reads `data` as an uncompressed image. As mutations rarely keep the checksums, `data` is also
/// taken as changes to the state of a small device, after the checksums: four bytes for each, with
/// the part, the place and the new byte.
pub fn load_any(data: &[u8]) {
    if file::check_preamble(data).is_ok()
        && let Ok(image) = Image::decode(&data[file::PREAMBLE..])
    {
        try_out(&image);
    }
    let mapping = format!("ftl.mapping.policy={}", MAPPINGS[data.len() % MAPPINGS.len()]);
    let sets = SMALL.into_iter().chain([&*mapping]).zip(1..);
    let sets = sets.map(|(set, number)| Layer::set(number, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    let config = Config::load(&layers).expect("the options are valid");
    let mut image = small(&config);
    let mut encoded = image.encode();
    for change in data.chunks_exact(CHANGE) {
        let &[part, low, high, byte] = change else { continue };
        let place = usize::from(u16::from_le_bytes([low, high]));
        let part = ImagePart::ALL[usize::from(part) % ImagePart::ALL.len()];
        let mut bytes = image.snapshot.part(part).to_vec();
        if !bytes.is_empty() {
            let at = place % bytes.len();
            bytes[at] = byte;
        }
        image.snapshot.put(part, bytes);
        let at = place % encoded.len();
        encoded[at] = byte;
    }
    try_out(&image);
    if let Ok(image) = Image::decode(&encoded) {
        try_out(&image);
    }
    if file::most_bytes(&encoded).is_ok() {
        // The checksums match, so the texts are intact.
        assert!(encoded.starts_with(&[5]), "the first section is called ftlab");
    }
}

/// A device that fills up quickly, with hardly a spare block.
const SMALL: [&str; 7] = [
    "nand.channels=1",
    "nand.chips_per_channel=1",
    "nand.dies_per_chip=1",
    "nand.planes_per_die=2",
    "nand.blocks_per_plane=12",
    "nand.pages_per_block=16",
    "ftl.over_provisioning=80%",
];

/// The mappings that support images. The length of the data selects one.
const MAPPINGS: [&str; 6] = ["page", "log-block", "bast", "fast", "nftl", "reconstruction"];

/// Bytes of a change.
const CHANGE: usize = 4;

/// Returns a tiny device at rest that has been used.
fn small(config: &Config) -> Image {
    let mut device = assemble(DeviceSetup::new(config, 1));
    let requests = device.capacity_sectors() / PAGE * 2;
    serve(&mut device, requests);
    assert!(device.ftl_counts().gc_runs > 0, "the device has collected");
    device.rest(&mut Vec::new()).expect("nothing fails");
    Image {
        ftlab_version: String::new(),
        config: config.canonical(),
        seed: 1,
        story: String::new(),
        snapshot: device.save(),
    }
}

fn try_out(image: &Image) {
    let Ok(config) = image.config("image") else { return };
    if config.shape().pages() * config.shape().page_size.0 > LARGEST_BYTES {
        return;
    }
    for resume in [Resume::ALL, Resume::NONE] {
        let mut device = assemble(DeviceSetup::new(&config, image.seed));
        if device.load(&image.snapshot, resume).is_ok() {
            assert_eq!(device.ftl().audit(), Ok(()));
            serve(&mut device, REQUESTS);
            assert_eq!(device.ftl().audit(), Ok(()));
        }
    }
}

/// Writes all over the device and checks that every request completes.
fn serve(device: &mut crate::device::Device, requests: u64) {
    let capacity = device.capacity_sectors();
    let sectors = capacity.min(PAGE) as u32;
    let mut done = Vec::new();
    for number in 0..requests {
        let lba = Lba(number * 1_000_003 % (capacity - u64::from(sectors) + 1));
        let now = device.now();
        device.submit(now, Request { op: Op::Write, lba, sectors, stream: 0, tag: 0, fua: false });
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
        assert_eq!(done.len() as u64, number + 1, "the device stands still");
    }
}
