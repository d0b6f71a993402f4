//! The requirements of zones.

use super::{Checker, GEOMETRY};
use crate::config::resolve::{ShapeCounts, shape, volume, zone_capacity, zone_width, zones};
use crate::host::zones::ZonePolicy;
use crate::options::value::Value;
use crate::units::{Bytes, SECTOR_BYTES};

const POLICY: &str = "host.zones.policy";
const CAPACITY: &str = "host.zones.capacity";
const SIZE: &str = "host.zones.size";
const DIES: &str = "ftl.placement.zone_dies";

impl Checker<'_, '_> {
    pub(super) fn zones(&mut self) {
        self.dies_of_zones();
        if shape(self.options).mapping_unit.0 == 0
            || ShapeCounts::of(&volume(self.options)).is_none()
        {
            return; // Reported with the pages.
        }
        let streams = self.options.ftl.streams.policy.is_zoned();
        if self.options.host.zones.policy == ZonePolicy::None {
            if streams {
                let message = "separates zones, and the device has none".to_owned();
                let remedy = format!("set {POLICY} to \"zns\", or leave ftl.streams.policy out");
                self.fail(&["ftl.streams.policy", POLICY], message, remedy);
            }
            return;
        }
        if self.is_physical() || self.has_log() {
            let message = "zones need a mapping that puts any page anywhere".to_owned();
            let remedy = "set ftl.mapping.policy to \"page\" or \"dftl\"".to_owned();
            return self.fail(&[POLICY, "ftl.mapping.policy"], message, remedy);
        }
        self.limits_of_zones();
        self.size_of_zones();
    }

    /// Zones lie on whole groups of dies.
    fn dies_of_zones(&mut self) {
        let Some(zoned) = self.options.ftl.placement.policy.zoned() else { return };
        let volume = volume(self.options);
        let dies = volume.channels * volume.chips_per_channel * volume.dies_per_chip;
        if zoned.planes(dies, volume.planes_per_die).is_some() {
            return;
        }
        let wanted = zoned.zone_dies.unwrap_or(dies);
        let fits = (1..=dies).filter(|other| dies.is_multiple_of(*other));
        let other = fits.min_by_key(|other| other.abs_diff(wanted)).unwrap_or(dies);
        let message = format!("{dies} dies do not make whole groups of {wanted}");
        let mut paths = vec![DIES];
        paths.extend(&GEOMETRY[2..5]);
        self.fail(&paths, message, format!("set {DIES} to {other}, which divides the dies"));
    }

    fn limits_of_zones(&mut self) {
        let zones = &self.options.host.zones;
        let (open, active) = (zones.max_open, zones.max_active);
        let more = match (open, active) {
            (Some(open), Some(active)) => open > active,
            (None, Some(_)) => true,
            _ => false,
        };
        if more {
            let message =
                "more zones may be open than active, and an open zone is active".to_owned();
            let remedy = "lower host.zones.max_open, or raise host.zones.max_active".to_owned();
            self.fail(&["host.zones.max_open", "host.zones.max_active"], message, remedy);
        }
        let (window, step) = (zones.window, zones.window_step);
        if window.is_some_and(|window| step.0 == 0 || !window.0.is_multiple_of(step.0)) {
            let message = format!("{} is not a multiple of its step", shown(window));
            let remedy = "set it to a multiple of host.zones.window_step".to_owned();
            self.fail(&["host.zones.window", "host.zones.window_step"], message, remedy);
        }
    }

    fn size_of_zones(&mut self) {
        let page = shape(self.options).page_size;
        let options = &self.options.host.zones;
        let capacity = options.capacity.unwrap_or(Bytes(zone_capacity(self.options)));
        let mut paths = vec![CAPACITY, POLICY];
        paths.extend(GEOMETRY);
        let width = match self.options.ftl.placement.policy.zoned() {
            Some(_) => u64::from(zone_width(self.options)),
            None => 1,
        };
        let round = Bytes(page.0 * width);
        if capacity.0 == 0 || !capacity.0.is_multiple_of(round.0) {
            let message = format!(
                "{} is not a multiple of a flash page on each of the {width} planes of a zone, {}",
                capacity.print(),
                round.print()
            );
            let whole = Bytes(capacity.0.div_ceil(round.0).max(1) * round.0);
            return self.fail(&paths, message, format!("set it to {}", whole.print()));
        }
        if let Some(size) = options.size
            && (size < capacity || !size.0.is_multiple_of(page.0))
        {
            let message = format!(
                "{} is less than the capacity of a zone, {}, or not a multiple of a flash page",
                size.print(),
                capacity.print()
            );
            let remedy =
                format!("set it to {} or more", Bytes(capacity.0.next_power_of_two()).print());
            return self.fail(&[SIZE, CAPACITY], message, remedy);
        }
        let Some(shape) = zones(self.options) else { return };
        if shape.count <= shape.conventional {
            let message = format!(
                "there is room for {} zones of {}, of which {} are conventional",
                shape.count,
                capacity.print(),
                shape.conventional
            );
            let remedy = match shape.count.checked_sub(1) {
                Some(most) => format!("set host.zones.conventional to {most} or less"),
                None => "make zones smaller (fewer ftl.placement.zone_dies), or the device larger"
                    .to_owned(),
            };
            paths.insert(1, "host.zones.conventional");
            return self.fail(&paths, message, remedy);
        }
        if options.window.is_some_and(|window| 2 * window.0 > capacity.0) {
            let message = format!("a zone has {}, less than two such areas", capacity.print());
            let remedy = format!("set it to {} or less", Bytes(capacity.0 / 2).print());
            self.fail(&["host.zones.window", CAPACITY], message, remedy);
        }
        let sectors = u64::from(shape.count) * (shape.size / SECTOR_BYTES);
        if u32::try_from(shape.capacity_sectors()).is_err() || sectors > u64::MAX / 4 {
            let message = "is more than a command can cover, 2 TiB".to_owned();
            self.fail(&paths, message, "make zones smaller".to_owned());
        }
    }
}

fn shown(bytes: Option<Bytes>) -> String {
    bytes.map_or_else(|| "none".to_owned(), |bytes| bytes.print())
}
