//! What a running drive tells about itself.

use ftlab::config::FlushRule;
use ftlab::ftl::BlockState;
use ftlab::ftl::wear::Life;
use ftlab::host::Host;
use ftlab::nand::Kind;
use ftlab::scheduler::Origin;
use ftlab::shape::Geometry;
use ftlab::stats::DeviceCounters;
use ftlab::units::{BlockId, DieId, PlaneId};

use super::Drive;
use super::meter::Doing;
use crate::control::{
    DeviceReading, DieReading, DieState, DriveReading, FlashReading, PlaneWear, PolicyReading,
    PowerReading, Programs, SmartReading, wear_cells_per_plane,
};

const PERCENT: f64 = 100.0;

impl Drive {
    /// Everything that the device knows. The server adds what it knows: clock, connections and latencies.
    #[must_use]
    pub fn reading(&self) -> DriveReading {
        DriveReading {
            device: self.device_reading(),
            flash: self.flash_reading(),
            dies: self.die_readings(),
            smart: self.smart_reading(),
            power: PowerReading {
                cuts: self.cuts.count,
                last_recovery_ns: self.cuts.last_recovery.map(|time| time.0),
                lost_pages: self.cuts.lost_pages,
                last_lost_pages: self.cuts.last_lost_pages,
                ..PowerReading::default()
            },
            policy: PolicyReading {
                recovery: Some(self.config.options.ftl.recovery.policy.name().to_owned()),
                volatile_cache: Some(self.is_volatile()),
                ignores_flushes: self.config.options.host.flush == FlushRule::Ignored,
                read_only: false,
                data_file: Some(self.file.path.display().to_string()),
            },
            ..DriveReading::default()
        }
    }

    fn flash_geometry(&self) -> Geometry {
        Geometry::new(self.config.shape())
    }

    fn device_reading(&self) -> DeviceReading {
        let shape = self.config.shape();
        let geometry = self.flash_geometry();
        DeviceReading {
            name: self.config.options.device.name.clone(),
            title: ftlab_lab::device::title(&self.config),
            capacity_bytes: self.capacity(),
            page_bytes: shape.page_size.0,
            pages_per_block: shape.pages_per_block.into(),
            blocks_per_plane: shape.blocks_per_plane.into(),
            planes_per_die: shape.planes_per_die,
            dies: geometry.dies(),
            channels: geometry.channels(),
            simulated_now_ns: self.now().0,
            ..DeviceReading::default()
        }
    }

    fn flash_reading(&self) -> FlashReading {
        let device = self.device();
        let counters = DeviceCounters::of(device);
        let units = f64::from(self.geometry.units_per_page());
        let of = |origin: Origin, kind: Kind| counters.commands[origin as usize][kind as usize];
        let all = |kind: Kind| Origin::ALL.iter().map(|&origin| of(origin, kind)).sum::<u64>();
        let programs = Origin::ALL.iter().filter_map(|&origin| {
            let pages = of(origin, Kind::Program) + of(origin, Kind::Copyback);
            (pages > 0).then(|| Programs { origin: origin.name().to_owned(), pages })
        });
        let programs: Vec<Programs> = programs.collect();
        let programmed: u64 = programs.iter().map(|one| one.pages).sum();
        let host_pages = self.counted.host_written_bytes as f64 / self.page_bytes() as f64;
        let ftl = device.ftl();
        let planes = (0..ftl.geometry().planes()).map(PlaneId::new);
        let free: Vec<u64> = planes.map(|plane| u64::from(ftl.free_blocks(plane))).collect();
        let blocks = (0..ftl.geometry().blocks()).map(BlockId::new);
        let (valid, full) = blocks.fold((0u64, 0u64), |(valid, full), block| {
            let (own, all) = (ftl.blocks().valid(block), ftl.blocks().programmed(block));
            (valid + u64::from(own), full + u64::from(all))
        });
        FlashReading {
            programs,
            reads: all(Kind::Read),
            erases: all(Kind::Erase),
            write_amplification: (host_pages > 0.0).then(|| programmed as f64 * units / host_pages),
            free_blocks_min: free.iter().copied().min().unwrap_or(0),
            free_blocks_mean: free.iter().sum::<u64>() as f64 / free.len().max(1) as f64,
            valid_share: (full > 0).then(|| valid as f64 / full as f64),
        }
    }

    fn die_readings(&self) -> Vec<DieReading> {
        let geometry = self.flash_geometry();
        let cells = wear_cells_per_plane(geometry.planes() as usize);
        let dies = (0..geometry.dies()).map(DieId::new);
        dies.map(|die| self.die_reading(die, &geometry, cells)).collect()
    }

    /// With superblocks, the wear of one is that of each of its dies.
    fn die_reading(&self, die: DieId, geometry: &Geometry, cells: usize) -> DieReading {
        let device = self.device();
        let ftl = device.ftl();
        let (channel, _) = geometry.channel_of(die);
        let dead = ftl.is_known_dead(die);
        let state = match device.flash().probe().at(die, device.now()) {
            _ if dead => DieState::Dead,
            Doing::Nothing => DieState::Idle,
            Doing::Suspended => DieState::Suspended,
            Doing::Works(Kind::Read) => DieState::Read,
            Doing::Works(Kind::Program | Kind::Copyback) => DieState::Program,
            Doing::Works(Kind::Erase) => DieState::Erase,
        };
        let filled = ftl.geometry();
        let own = ftl.die_filled(die);
        let mut all: Vec<u64> = Vec::new();
        let planes = (0..geometry.planes_per_die()).map(|plane| {
            let plane = filled.plane_in(own, plane % filled.planes_per_die());
            let blocks = (0..filled.shape().blocks_per_plane).map(|index| {
                let block = filled.block_in(plane, index);
                let good = !matches!(ftl.blocks().state(block), BlockState::Bad | BlockState::Dead);
                good.then(|| u64::from(ftl.blocks().erases(block)))
            });
            let blocks: Vec<Option<u64>> = blocks.collect();
            all.extend(blocks.iter().flatten());
            PlaneWear::of(&blocks, cells)
        });
        let planes: Vec<PlaneWear> = planes.collect();
        DieReading {
            channel: channel.get(),
            state,
            utilisation: 0.0,
            queued: device.flash().load().of(die).into(),
            erases_min: all.iter().copied().min().unwrap_or(0),
            erases_mean: all.iter().sum::<u64>() as f64 / all.len().max(1) as f64,
            erases_max: all.iter().copied().max().unwrap_or(0),
            planes,
        }
    }

    /// For how long each die was busy, for its utilisation.
    #[must_use]
    pub fn die_busy_ns(&self) -> Vec<u64> {
        let device = self.device();
        device.flash().die_busy(device.now()).map(|time| time.0).collect()
    }

    fn smart_reading(&self) -> SmartReading {
        let device = self.device();
        let ftl = device.ftl();
        let life = self.life();
        let failures = ftl.life().map(|life| *life.losses());
        let rated = ftl.life().and_then(Life::mean_endurance);
        let erases: f64 = ftl.blocks().all_erases().map(f64::from).sum();
        let mean = erases / f64::from(ftl.geometry().blocks());
        let unreadable = device.flash().hazards().map_or(0, |hazards| hazards.counts().unreadable);
        SmartReading {
            host_bytes_written: life.host_written_bytes,
            media_bytes_written: life.media_written_bytes,
            percentage_used: rated.map(|cycles| mean / f64::from(cycles) * PERCENT),
            available_spare_percent: ftl.life().map(|life| life.available_spare() * PERCENT),
            rated_erases: rated.map(u64::from),
            power_cycles: life.power_cycles,
            unsafe_shutdowns: life.unsafe_shutdowns,
            media_errors: unreadable,
            power_on_time_ns: life.powered_on_ns,
            grown_bad_blocks: failures.map(|failures| failures.grown_bad.into()),
            end_of_life: device.end_of_life().is_some(),
        }
    }
}
