//! Tests of image files: what is damaged, cut, of another version or contradicts itself is refused.

use ftlab::config::Layer;
use ftlab::device::{DeviceSetup, assemble};
use ftlab::host::Host;
use ftlab::image::{Resume, Snapshot};
use ftlab::saved::file::{FORMAT, MAGIC, PREAMBLE};
use ftlab_workload::replay::finished;

use super::*;
use crate::saved::saved_in_chunks;

fn tiny() -> Config {
    Config::load(&[Layer::preset("tiny")]).unwrap()
}

fn image(config: &Config, snapshot: Snapshot) -> Image {
    Image {
        ftlab_version: "0".to_owned(),
        config: config.canonical(),
        seed: 1,
        story: "[]".to_owned(),
        snapshot,
    }
}

fn small() -> Image {
    image(&tiny(), assemble(DeviceSetup::new(&tiny(), 1)).save())
}

/// A device that was filled, with its tables in chunks.
fn chunked(config: &Config) -> Image {
    let mut device = assemble(DeviceSetup::new(config, 1));
    let sectors = device.capacity_sectors();
    let mut untimed = device.untimed(8).unwrap();
    untimed.fill(0..sectors).unwrap();
    untimed.rest();
    device.rest(&mut Vec::new()).unwrap();
    image(config, saved_in_chunks(&device))
}

/// Loads an image whose chunks are read when they are needed, and needs all of them.
fn used(image: &OpenedImage) -> Result<(), Failure> {
    let work = async {
        let mut device = assemble(DeviceSetup::new(&image.config, 1));
        let loaded = device.load_packed(&image.image.snapshot, Resume::ALL);
        loaded.map_err(|damage| image.refused(&damage))?;
        device.ftl().audit().map_err(Failure::usage)
    };
    finished(chunks::guarded(Some(image), work))
}

fn packed(image: &Image) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack(&mut bytes, image).unwrap();
    bytes
}

/// Returns the message for bytes that are refused.
fn told(bytes: &[u8]) -> String {
    match take_bytes("a.ftlab", bytes) {
        Err(failure) if !failure.text().is_empty() => failure.text().to_owned(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it is taken"),
    }
}

#[test]
fn only_an_image_is_replaced_and_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ftlab");
    write(&path, &small(), false).unwrap();
    let again = write(&path, &small(), false).unwrap_err();
    assert!(again.text().contains("already contains an image"), "{again}");
    write(&path, &small(), true).unwrap();
    std::fs::write(&path, "something else").unwrap();
    let other = write(&path, &small(), true).unwrap_err();
    assert!(other.text().contains("exists and is not an image"), "{other}");
    assert_eq!(std::fs::read(&path).unwrap(), b"something else");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn an_image_that_is_cut_anywhere_is_refused() {
    for image in [small(), chunked(&tiny())] {
        let whole = packed(&image);
        assert!(take_bytes("a.ftlab", &whole).is_ok());
        for end in 0..whole.len() {
            let text = told(&whole[..end]);
            assert!(text.contains("remedy: "), "cut at {end}: {text}");
            assert!(end == 0 || text.contains("damaged"), "cut at {end}: {text}");
        }
    }
}

#[test]
fn an_image_in_which_a_bit_is_turned_is_refused() {
    for image in [small(), chunked(&tiny())] {
        let whole = packed(&image);
        for at in 0..whole.len() {
            let mut turned = whole.clone();
            turned[at] ^= 1 << (at % 8);
            // Some bits of the compression headers have no meaning.
            if let Ok(taken) = take_bytes("a.ftlab", &turned) {
                assert_eq!(taken.image, image, "turned at {at}");
            } else {
                assert!(told(&turned).contains("remedy: "), "turned at {at}");
            }
        }
    }
    let whole = packed(&small());
    // Inside the compressed data, each section has its own checksum.
    let pack = |sections: &[u8]| {
        let packed = zstd::encode_all(sections, packing::OF_SECTIONS).unwrap();
        [&whole[..PREAMBLE], &(packed.len() as u64).to_le_bytes(), &packed].concat()
    };
    let sections = small().encode();
    for at in (0..sections.len()).step_by(7) {
        let mut turned = sections.clone();
        turned[at] ^= 1 << (at % 8);
        assert!(told(&pack(&turned)).contains("damaged"), "turned at {at}");
    }
}

/// The owners of a superblock are one chunk.
#[test]
fn a_superblock_is_a_chunk() {
    let set = Layer::set(1, "ftl.superblock.policy=all");
    let image = chunked(&Config::load(&[Layer::preset("tiny"), set]).unwrap());
    assert_eq!(take_bytes("a.ftlab", &packed(&image)).unwrap().image, image);
}

/// A large image is not checked as a whole when it is read.
#[test]
fn a_damaged_chunk_fails_what_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ftlab");
    let image = chunked(&tiny());
    write(&path, &image, false).unwrap();
    let opened = || {
        let Ok(image) = read(&path) else { panic!("what is read at once is whole") };
        OpenedImage { name: "a.ftlab".to_owned(), image, config: tiny() }
    };
    assert_eq!(used(&opened()), Ok(()));
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 8;
    bytes[last] ^= 0x55;
    std::fs::write(&path, &bytes).unwrap();
    let failure = used(&opened()).unwrap_err();
    assert!(failure.text().contains("a.ftlab: this image is damaged: chunk "), "{failure}");
    assert!(crate::saved::loaded(&opened(), &tiny(), Resume::ALL).is_err(), "all is read at once");
}

/// Chunks with right checksums, which are those of another state.
#[test]
fn chunks_that_contradict_the_rest_are_refused() {
    let mut image = chunked(&tiny());
    let empty = assemble(DeviceSetup::new(&tiny(), 1));
    image.snapshot.chunks = saved_in_chunks(&empty).chunks;
    let opened = take_bytes("a.ftlab", &packed(&image)).unwrap();
    for failure in [
        used(&opened).unwrap_err(),
        crate::saved::loaded(&opened, &tiny(), Resume::ALL).err().unwrap(),
    ] {
        assert!(failure.text().contains("rejects its state"), "{failure}");
    }
    // A panic is a defect, unless the image has one.
    async fn panics() -> Result<(), Failure> {
        panic!("on purpose")
    }
    assert!(finished(chunks::guarded(Some(&opened), panics())).is_err());
    let whole = take_bytes("a.ftlab", &packed(&chunked(&tiny()))).unwrap();
    let guarded = || finished(chunks::guarded(Some(&whole), panics()));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(guarded)).is_err());
}

#[test]
fn images_of_other_versions_are_refused_with_both_versions() {
    let rest = &packed(&small())[PREAMBLE..];
    for format in [0, FORMAT - 1, FORMAT + 1, u32::MAX] {
        let text = told(&[&MAGIC[..], &format.to_le_bytes(), rest].concat());
        let expected = format!("has format {format}, and this version of ftlab");
        assert!(text.contains(&expected) && text.contains("make it again"), "{text}");
    }
    // The same format, but a configuration that only another version knows.
    let config = format!("{}\nfuture.option = 1\n", small().config);
    let newer = Image { config, ftlab_version: "99.1".to_owned(), ..small() };
    let text = told(&packed(&newer));
    assert!(text.contains("future") && text.contains("remedy: "), "{text}");
    let text = told(b"something else altogether");
    assert!(text.contains("not an image of a device"), "{text}");
}

#[test]
fn an_image_that_unpacks_without_end_is_refused() {
    let mut sections = small().encode();
    sections.resize(sections.len() + (256 << 20), 0);
    let packed = zstd::encode_all(&*sections, 1).unwrap();
    let length = (packed.len() as u64).to_le_bytes();
    let bytes = [&file::preamble()[..], &length, &packed].concat();
    assert!(told(&bytes).contains("it holds more than a device of its size can have"));
}
