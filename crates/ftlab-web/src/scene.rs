//! What is seen of a run while it goes on: the activity of dies and channels, and the moment at which it waits again.

use std::cell::RefCell;
use std::rc::Rc;

use ftlab::config::Config;
use ftlab::nand::Kind;
use ftlab::scheduler::{Activity, Levels, Note, Origin, Pausable, Probe};
use ftlab::stats::{AgeingOutlook, DeviceCounters};
use ftlab::units::{ChannelId, DieId, Nanos, SimTime};
use ftlab_lab::experiment::{RunView, Watcher};
use ftlab_workload::replay::{Going, Progress};

use crate::ask::StopAt;
use crate::frame::{self, BlockMap, HostSoFar, Series};
use crate::shares::{BusyShares, SharesTold};

/// The most spans between two frames; what is beyond that nobody could see.
const MOST_SPANS: usize = 20_000;

/// When a run waits again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// Not beyond this time.
    pub time: SimTime,
    /// After so many looks.
    pub looks: u32,
    /// When this happens.
    pub stop_at: Option<StopAt>,
    /// Whether to note what dies and channels do.
    pub spans: bool,
    /// Whether to note the run over time, and its blocks.
    pub views: bool,
}

/// A span in which a die or a bus was busy.
#[derive(Clone, Copy, Debug)]
pub struct BusySpan {
    /// Whether it is that of a bus.
    pub of_bus: bool,
    /// The die or channel.
    pub place: u32,
    pub kind: Kind,
    pub origin: Origin,
    pub from: SimTime,
    pub until: SimTime,
}

/// An operation that was suspended.
#[derive(Clone, Copy, Debug)]
pub struct CutSpan {
    /// The die.
    pub die: u32,
    /// When it began, and when it was suspended.
    pub from: SimTime,
    pub until: SimTime,
}

/// What the probe and the watcher of a run note.
#[derive(Default)]
pub struct Scene {
    pub until: Until,
    pub spans: Vec<BusySpan>,
    /// Spans of dies that were told before, and end earlier.
    pub cuts: Vec<CutSpan>,
    /// Spans beyond the most.
    pub left_out: u64,
    /// Collections that began, and deaths of dies that were found.
    pub collections: u64,
    pub deaths: u64,
    /// What is now done, for people.
    pub doing: String,
    /// How much of it is done, if that is not told by the clock: in a preparation without one, or while a copy of the
    /// device plays the load beforehand.
    pub beside_clock: Option<Done>,
    /// Whether a copy of the device plays the load beforehand.
    pub ahead: bool,
    /// Whether the run waits because of [`Until::stop_at`].
    pub stopped: bool,
    pub counters: DeviceCounters,
    pub levels: Option<Levels>,
    pub host: HostSoFar,
    pub series: Option<Series>,
    pub blocks: Option<BlockMap>,
    /// How busy dies and buses were, by purpose.
    pub busy: BusyShares,
    pub shares: Option<SharesTold>,
    /// Bytes of a flash page.
    page_bytes: u64,
}

/// Requests that are done, and all of them if that is known.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    pub requests: u64,
    pub total: Option<u64>,
}

impl Scene {
    /// The scene of a new drive.
    pub fn of(config: &Config) -> Scene {
        let geometry = config.flash();
        let (dies, channels) = (geometry.dies() as usize, geometry.channels() as usize);
        let page_bytes = geometry.shape().page_size.0;
        let suspends = config.options.scheduler.suspend != Pausable::None;
        Scene { busy: BusyShares::new(dies, channels, suspends), page_bytes, ..Scene::default() }
    }

    /// Keeps a span to be drawn.
    #[inline(never)]
    fn keep(&mut self, activity: &Activity, of_bus: bool) {
        if self.spans.len() == MOST_SPANS {
            self.left_out += 1;
            return;
        }
        let &Activity { kind, origin, from, until, die, channel, .. } = activity;
        let place = if of_bus { channel.at() } else { die.at() } as u32;
        self.spans.push(BusySpan { of_bus, place, kind, origin, from, until });
    }

    /// Notes what is seen while the run waits, or at its end.
    pub fn note(&mut self, view: &dyn RunView) {
        self.counters = view.counters();
        self.levels = Some(view.levels());
        self.host = HostSoFar::of(view.recorder(), &self.counters, self.page_bytes);
        if self.until.views {
            self.shares = Some(self.busy.told(SimTime::ZERO + self.counters.span));
            self.series = Some(Series::of(view.recorder()));
            self.blocks = Some(BlockMap::of(&view.blocks()));
        }
    }
}

/// A scene that several parts of a run write to.
pub type SharedScene = Rc<RefCell<Scene>>;

/// Notes what the flash does.
pub struct SceneProbe(pub SharedScene);

/// What a copy of the device does, to lose power or to know the future, is no part of the run: its probe notes it where
/// nobody looks.
impl Clone for SceneProbe {
    fn clone(&self) -> SceneProbe {
        SceneProbe(SharedScene::default())
    }
}

impl SceneProbe {
    /// Returns whether spans are kept. Many places of a device call it: one copy is enough.
    #[inline(never)]
    fn cells(&self, die: DieId, origin: Origin, from: SimTime, until: SimTime) -> bool {
        let scene = &mut *self.0.borrow_mut();
        scene.busy.cells(die, origin, from, until);
        scene.until.spans
    }

    /// Likewise.
    #[inline(never)]
    fn channel(&self, channel: ChannelId, origin: Origin, from: SimTime, until: SimTime) -> bool {
        let scene = &mut *self.0.borrow_mut();
        scene.busy.bus(channel, origin, from, until);
        scene.until.spans
    }
}

impl Probe for SceneProbe {
    fn cell(&mut self, activity: &Activity) {
        let &Activity { origin, die, from, until, .. } = activity;
        if self.cells(die, origin, from, until) {
            self.0.borrow_mut().keep(activity, false);
        }
    }

    fn bus(&mut self, activity: &Activity) {
        let &Activity { origin, channel, from, until, .. } = activity;
        if self.channel(channel, origin, from, until) {
            self.0.borrow_mut().keep(activity, true);
        }
    }

    /// The rest of a suspended operation is reported when it resumes.
    fn pause(&mut self, activity: &Activity, at: SimTime) {
        let scene = &mut *self.0.borrow_mut();
        scene.busy.suspend(activity.die, activity.origin, activity.from, at);
        if !scene.until.spans {
            return;
        }
        let place = activity.die.at() as u32;
        let reported = |span: &&mut BusySpan| {
            !span.of_bus && span.place == place && span.from == activity.from && span.until > at
        };
        match scene.spans.iter_mut().rev().find(reported) {
            Some(span) => span.until = at,
            None => scene.cuts.push(CutSpan { die: place, from: activity.from, until: at }),
        }
    }

    fn note(&mut self, _: SimTime, note: Note) {
        let mut scene = self.0.borrow_mut();
        match note {
            Note::Collects { .. } | Note::Merges { .. } => scene.collections += 1,
            Note::DieDied { .. } => scene.deaths += 1,
            _ => {}
        }
    }
}

/// What something interesting is recognised by.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Marks {
    collections: u64,
    deaths: u64,
    bypassed: u64,
    spans: usize,
    requests: u64,
    slow: u64,
}

/// Decides when the run waits.
pub struct Director {
    pub scene: SharedScene,
    looks: u32,
    /// The marks at the beginning of this stretch.
    began: Option<Marks>,
    /// Whether it waits beside the clock.
    rests: bool,
}

impl Director {
    /// Directs a run.
    pub fn new(scene: SharedScene) -> Director {
        Director { scene, looks: 0, began: None, rests: false }
    }

    /// Waits at each look beside the clock: nothing that a run could stop at is seen there.
    fn beside_clock(&mut self, requests: u64, total: Option<u64>) -> Going {
        let mut scene = self.scene.borrow_mut();
        scene.beside_clock = Some(Done { requests, total });
        scene.stopped = false;
        self.rests = !self.rests || scene.until.looks == 0;
        if self.rests { Going::Pause } else { Going::On }
    }

    fn marks(&self, view: &dyn RunView) -> Marks {
        let limit = match self.scene.borrow().until.stop_at {
            Some(StopAt::Slow(limit)) => Some(Nanos(limit)),
            _ => None,
        };
        let (requests, slow) = frame::passed(view.recorder(), limit);
        let scene = self.scene.borrow();
        Marks {
            collections: scene.collections,
            deaths: scene.deaths,
            bypassed: match scene.until.stop_at {
                Some(StopAt::SlcCacheFull) => view.counters().slc.bypassed,
                _ => 0,
            },
            spans: scene.spans.len(),
            requests,
            slow,
        }
    }

    /// Whether what the stretch waits for has happened.
    fn has_happened(&self, stop_at: StopAt, view: &dyn RunView) -> bool {
        let (now, began) = (self.marks(view), self.began.unwrap_or_default());
        match stop_at {
            StopAt::Collection => now.collections > began.collections,
            // A new phase counts from zero.
            StopAt::Slow(_) => {
                now.slow > began.slow || (now.slow > 0 && now.requests < began.requests)
            }
            StopAt::SlcCacheFull => now.bypassed > began.bypassed,
            StopAt::DieDeath => now.deaths > began.deaths,
            StopAt::Anything => now.spans != began.spans || now.requests != began.requests,
        }
    }
}

impl Watcher for Director {
    fn begins(&mut self, name: &str, _: Option<std::sync::Arc<ftlab_workload::trace::Meter>>) {
        let mut scene = self.scene.borrow_mut();
        if !scene.ahead {
            name.clone_into(&mut scene.doing);
        }
    }

    fn foresees(&mut self, policy: Option<&str>) {
        let mut scene = self.scene.borrow_mut();
        scene.ahead = policy.is_some();
        if let Some(policy) = policy {
            scene.doing = format!("beforehand, for {policy}");
        }
    }

    fn writes_on(&mut self, done: u64, total: Option<u64>) -> Going {
        self.beside_clock(done, total)
    }

    fn ages(&mut self, outlook: &AgeingOutlook) {
        self.scene.borrow_mut().doing = frame::ageing(outlook);
    }

    fn looks(&mut self, progress: &Progress, view: &dyn RunView) -> Going {
        if self.scene.borrow().ahead {
            return self.beside_clock(progress.completed, progress.total);
        }
        self.scene.borrow_mut().beside_clock = None;
        let until = self.scene.borrow().until;
        if self.began.is_none() {
            // The run has just been told to go on.
            self.began = Some(self.marks(view));
            self.looks = 0;
        } else {
            self.looks += 1;
        }
        let happened = until.stop_at.is_some_and(|what| self.has_happened(what, view));
        if happened || progress.now >= until.time || self.looks >= until.looks {
            self.began = None;
            let mut scene = self.scene.borrow_mut();
            scene.stopped = happened;
            scene.note(view);
            return Going::Pause;
        }
        match until.stop_at {
            Some(what) => Going::Until(until.time.min(progress.now + what.grain())),
            None => Going::Until(until.time),
        }
    }
}
