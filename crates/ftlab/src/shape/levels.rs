//! The levels of parallelism, and the order in which consecutive pages are striped over them.

use super::Geometry;
use crate::options::text::shown;
use crate::options::value::{Value, ValueError, ValueKind};

/// A level of parallelism over which addresses are striped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Channels.
    Channel,
    /// Chips on a channel.
    Chip,
    /// Dies in a chip.
    Die,
    /// Planes in a die.
    Plane,
}

impl Level {
    /// All levels, outermost first.
    pub const ALL: [Level; 4] = [Level::Channel, Level::Chip, Level::Die, Level::Plane];

    pub(crate) fn count(self, geometry: &Geometry) -> u32 {
        let shape = geometry.shape();
        match self {
            Level::Channel => shape.channels,
            Level::Chip => shape.chips_per_channel,
            Level::Die => shape.dies_per_chip,
            Level::Plane => shape.planes_per_die,
        }
    }
}

/// An order of the levels for consecutive pages: the first changes fastest. Each occurs once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeOrder([Level; 4]);

impl StripeOrder {
    /// Channels change fastest.
    pub const CHANNELS_FIRST: StripeOrder =
        StripeOrder([Level::Channel, Level::Chip, Level::Die, Level::Plane]);

    /// Planes change fastest, channels next.
    pub const PLANES_FIRST: StripeOrder =
        StripeOrder([Level::Plane, Level::Channel, Level::Chip, Level::Die]);

    /// The levels, the one that changes fastest first.
    #[must_use]
    pub const fn levels(self) -> [Level; 4] {
        self.0
    }
}

const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Channel => "channel",
        Level::Chip => "chip",
        Level::Die => "die",
        Level::Plane => "plane",
    }
}

impl Value for StripeOrder {
    const KIND: ValueKind = ValueKind::Order;

    fn parse(text: &str) -> Result<StripeOrder, ValueError> {
        let level = |name: &str| Level::ALL.into_iter().find(|level| level_name(*level) == name);
        let levels: Option<Vec<Level>> = text.split('-').map(level).collect();
        let order = levels.and_then(|levels| <[Level; 4]>::try_from(levels).ok());
        let once = |order: &[Level; 4]| Level::ALL.iter().all(|level| order.contains(level));
        order.filter(once).map(StripeOrder).ok_or_else(|| {
            ValueError::new(
                format!("{} is not an order of the four levels", shown(text)),
                "write channel, chip, die and plane once each, fastest first, joined by hyphens: \
                 \"channel-chip-die-plane\"",
            )
        })
    }

    fn print(&self) -> String {
        self.0.map(level_name).join("-")
    }

    fn within(&self, _low: &str, _high: &str) -> bool {
        true
    }

    fn placeholder() -> StripeOrder {
        StripeOrder(Level::ALL)
    }
}
