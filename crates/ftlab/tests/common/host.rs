//! The host's side of a device, described for tests.

use super::*;

/// The host's side, described. With nothing changed there is no front end.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    pub queues: u32,
    pub arbitration: ArbitrationKind,
    /// By queue, going round: its weight and its class.
    pub weights: [u32; 4],
    pub classes: [PriorityClass; 4],
    pub burst: u32,
    pub depth: u32,
    pub outstanding: u32,
    pub command_time: Nanos,
    pub link: Option<BytesPerSec>,
    /// What else the processor spends its time on; sizes are those of the device.
    pub processor: ProcessorSetup,
}

impl Default for HostSpec {
    fn default() -> HostSpec {
        use PriorityClass::{High, Low, Medium, Urgent};
        HostSpec {
            queues: 1,
            arbitration: ArbitrationKind::RoundRobin,
            weights: [1, 2, 3, 4],
            classes: [Low, Medium, High, Urgent],
            burst: 1,
            depth: 65_536,
            outstanding: 65_536,
            command_time: Nanos::ZERO,
            link: None,
            processor: ProcessorSetup::default(),
        }
    }
}

impl HostSpec {
    pub fn weights(&self) -> Vec<u32> {
        self.weights.iter().copied().cycle().take(self.queues as usize).collect()
    }

    fn arbitration(&self) -> Arbitration {
        let classes = self.classes.iter().copied().cycle().take(self.queues as usize);
        match self.arbitration {
            ArbitrationKind::RoundRobin => {
                Arbitration::RoundRobin(RoundRobin::new(self.queues, self.burst))
            }
            ArbitrationKind::Weighted => {
                Arbitration::Weighted(WeightedRoundRobin::new(&self.weights(), self.burst))
            }
            ArbitrationKind::Classes => {
                let classes: Vec<_> = classes.collect();
                Arbitration::Classes(PriorityClasses::new(&classes, [8, 4, 1], self.burst))
            }
            ArbitrationKind::Fair => {
                Arbitration::Fair(StartTimeFair::new(self.weights(), Cost::Bytes))
            }
        }
    }

    pub(super) fn setup(&self, geometry: &Geometry) -> HostSetup {
        if *self == HostSpec::default() {
            return HostSetup::one_queue(self.depth);
        }
        let depths = vec![self.depth; self.queues as usize];
        HostSetup {
            queues: Queues { depths, weights: self.weights(), map: StreamMap::Modulo },
            front_end: Some(FrontEndSetup {
                queues: self.queues,
                arbitration: self.arbitration(),
                outstanding: self.outstanding,
                processor: ProcessorSetup {
                    command: self.command_time,
                    flash_page: geometry.shape().page_size,
                    sectors_per_unit: geometry.sectors_per_unit(),
                    ..self.processor
                },
                link: self.link.map(|rate| LinkSetup { rate: Some(rate), setup: Nanos::ZERO }),
            }),
        }
    }
}
