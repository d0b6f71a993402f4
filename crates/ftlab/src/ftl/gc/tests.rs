//! Compares each policy with a naive search of all candidates.

mod fragments;

use super::*;
use crate::shape::Shape;
use crate::units::Bytes;

const UNITS: u32 = 6;

fn geometry() -> Geometry {
    Geometry::new(Shape {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 16,
        pages_per_block: UNITS,
        page_size: Bytes::from_kib(4),
        mapping_unit: Bytes::from_kib(4),
    })
}

/// A candidate, as the naive search knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    block: BlockId,
    valid: u32,
    closed: u64,
    changed: u64,
    erases: u32,
}

/// The choice of a naive search. `None` instead of a search if the policy draws, and any block
/// worth collecting will do.
type Search = fn(&[Known], u64) -> Option<BlockId>;

/// Drives a policy and a naive search with the same steps, and compares every choice.
fn compare(mut policy: Victim, steps: &[(u32, u32)], search: Option<Search>) -> Result<(), String> {
    let geometry = geometry();
    let mut blocks = Blocks::new(&geometry);
    let mut known: Vec<Known> = Vec::new();
    // Blocks that closed plus pages that were lost.
    let mut clock = 0;
    for &(step, number) in steps {
        let block = BlockId::new(number);
        let plane = geometry.plane_of(block);
        let at = known.iter().position(|known| known.block == block);
        match (step, at) {
            (0, None) => {
                clock += 1;
                (0..UNITS).for_each(|unit| blocks.set_valid(block, unit));
                policy.closed(&VictimView { plane, blocks: &blocks }, block);
                let erases = blocks.erases(block);
                known.push(Known { block, valid: UNITS, closed: clock, changed: clock, erases });
            }
            (1 | 2, Some(at)) if known[at].valid > 0 => {
                clock += 1;
                known[at].valid -= 1;
                known[at].changed = clock;
                blocks.clear_valid(block, known[at].valid);
                policy.lost_page(&VictimView { plane, blocks: &blocks }, block);
            }
            (3, Some(at)) => {
                policy.withdrawn(&VictimView { plane, blocks: &blocks }, block);
                (0..known.remove(at).valid).for_each(|unit| blocks.clear_valid(block, unit));
                blocks.reset(block);
            }
            (4, _) => {
                let here = |known: &&Known| geometry.plane_of(known.block) == plane;
                let there: Vec<Known> = known.iter().filter(here).copied().collect();
                let chosen = policy.choose(&VictimView { plane, blocks: &blocks });
                let worth = |known: &&Known| known.valid < UNITS;
                let fits = match (search, chosen) {
                    (Some(search), _) => chosen == search(&there, clock),
                    (None, None) => !there.iter().any(|known| worth(&known)),
                    (None, Some(block)) => there.iter().filter(worth).any(|k| k.block == block),
                };
                if !fits {
                    return Err(format!("{chosen:?} of {there:?} at {clock}"));
                }
                let Some(at) = known.iter().position(|known| Some(known.block) == chosen) else {
                    continue;
                };
                let Known { block, valid, .. } = known.remove(at);
                (0..valid).for_each(|unit| blocks.clear_valid(block, unit));
                blocks.reset(block);
            }
            _ => {}
        }
    }
    Ok(())
}

fn worth(known: &[Known]) -> impl Iterator<Item = &Known> {
    known.iter().filter(|known| known.valid < UNITS)
}

fn greedy(known: &[Known], _: u64) -> Option<BlockId> {
    worth(known).min_by_key(|known| (known.valid, known.changed)).map(|known| known.block)
}

fn fifo(known: &[Known], _: u64) -> Option<BlockId> {
    worth(known).min_by_key(|known| known.closed).map(|known| known.block)
}

/// The formula itself, in floating point; among equals, emptier blocks first.
fn cost_benefit(known: &[Known], clock: u64) -> Option<BlockId> {
    let score = |known: &Known| {
        let used = f64::from(known.valid) / f64::from(UNITS);
        let value = (clock - known.changed) as f64 * (1.0 - used) / (2.0 * used);
        // Exact enough to tell scores apart, coarse enough to recognise equal ones.
        if known.valid == 0 { u128::MAX } else { (value * 1e6 + 0.5) as u128 }
    };
    let best = worth(known).map(score).max()?;
    let equals = worth(known).filter(|known| score(known) == best);
    equals.min_by_key(|known| (known.valid, known.changed)).map(|known| known.block)
}

/// The formula itself, in floating point; among equals, older blocks first.
fn cost_age_times(known: &[Known], clock: u64) -> Option<BlockId> {
    let score = |known: &Known| {
        let used = f64::from(known.valid) / f64::from(UNITS);
        let age = (clock - known.closed + 1) as f64;
        let value = used / (1.0 - used) * f64::from(known.erases + 1) / age;
        (value * 1e9 + 0.5) as u128
    };
    worth(known).min_by_key(|known| (score(known), known.closed)).map(|known| known.block)
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((0u32..5, 0u32..32), 1..600)
}

proptest::proptest! {
    #[test]
    fn greedy_is_exact(steps in steps()) {
        let policy = Victim::Greedy(Greedy::new(&geometry()));
        proptest::prop_assert_eq!(compare(policy, &steps, Some(greedy)), Ok(()));
    }

    #[test]
    fn fifo_is_exact(steps in steps()) {
        let policy = Victim::Fifo(Fifo::new(&geometry()));
        proptest::prop_assert_eq!(compare(policy, &steps, Some(fifo)), Ok(()));
    }

    #[test]
    fn cost_benefit_is_exact(steps in steps()) {
        let policy = Victim::CostBenefit(CostBenefit::new(&geometry()));
        proptest::prop_assert_eq!(compare(policy, &steps, Some(cost_benefit)), Ok(()));
    }

    #[test]
    fn cost_age_times_is_exact(steps in steps()) {
        let policy = Victim::CostAgeTimes(CostAgeTimes::new(&geometry()));
        proptest::prop_assert_eq!(compare(policy, &steps, Some(cost_age_times)), Ok(()));
    }

    #[test]
    fn a_window_of_all_blocks_is_greedy(steps in steps()) {
        let wide = Victim::WindowedGreedy(WindowedGreedy::new(&geometry(), 32));
        proptest::prop_assert_eq!(compare(wide, &steps, Some(greedy)), Ok(()));
    }

    /// Drawing all of the blocks without replacement finds the emptiest.
    #[test]
    fn random_greedy_of_all_is_greedy(steps in steps()) {
        let mut all = RandomGreedy::new(&geometry(), 32, 1);
        proptest::prop_assert_eq!(compare(Victim::RandomGreedy(all.clone()), &steps, None), Ok(()));
        let least = |known: &[Known], _| worth(known).map(|known| known.valid).min();
        proptest::prop_assert_eq!(emptiest(&mut all, &steps, least), Ok(()));
    }

    /// Whatever is drawn, a chosen block is a candidate and frees something, and a block is chosen
    /// as long as any candidate frees something.
    #[test]
    fn draws_find_what_is_worth_collecting(steps in steps(), seed in 0u64..1000, draws in 1u32..5) {
        let geometry = geometry();
        for policy in [
            Victim::DChoices(DChoices::new(&geometry, draws, seed)),
            Victim::RandomGreedy(RandomGreedy::new(&geometry, draws, seed)),
            Victim::Random(Random::new(&geometry, seed)),
            Victim::WindowedGreedy(WindowedGreedy::new(&geometry, draws)),
            Victim::TwoRegion(TwoRegion::new(&geometry)),
        ] {
            proptest::prop_assert_eq!(compare(policy, &steps, None), Ok(()));
        }
    }
}

/// Closes and empties blocks as the steps say, then chooses all candidates of plane 0: each time
/// the number of valid pages must be the least.
fn emptiest(
    policy: &mut RandomGreedy,
    steps: &[(u32, u32)],
    least: fn(&[Known], u64) -> Option<u32>,
) -> Result<(), String> {
    let geometry = geometry();
    let mut blocks = Blocks::new(&geometry);
    let plane = PlaneId::new(0);
    let mut known: Vec<Known> = Vec::new();
    for &(lost, number) in steps.iter().filter(|step| step.1 < 16) {
        let block = BlockId::new(number);
        if known.iter().any(|known| known.block == block) {
            continue;
        }
        (0..UNITS).for_each(|unit| blocks.set_valid(block, unit));
        policy.closed(&VictimView { plane, blocks: &blocks }, block);
        for unit in 0..lost {
            blocks.clear_valid(block, unit);
            policy.lost_page(&VictimView { plane, blocks: &blocks }, block);
        }
        known.push(Known { block, valid: UNITS - lost, closed: 0, changed: 0, erases: 0 });
    }
    while let Some(expected) = least(&known, 0) {
        let chosen = policy.choose(&VictimView { plane, blocks: &blocks });
        let valid = chosen.map(|block| blocks.valid(block));
        if valid != Some(expected) {
            return Err(format!("{chosen:?} with {valid:?} valid pages of {known:?}"));
        }
        known.retain(|known| Some(known.block) != chosen);
    }
    Ok(())
}

/// Of blocks with different numbers of valid pages, the k-th emptiest of n is the least of d draws with probability
/// ((n-k+1)/n)^d - ((n-k)/n)^d. Over 40,000 draws, with a tolerance of four standard errors.
#[test]
fn d_choices_draws_with_the_odds_of_the_paper() {
    const DRAWS: u32 = 3;
    const TRIES: u32 = 40_000;
    let geometry = geometry();
    let mut blocks = Blocks::new(&geometry);
    let plane = PlaneId::new(0);
    fn view(plane: PlaneId, blocks: &Blocks) -> VictimView<'_> {
        VictimView { plane, blocks }
    }
    let mut policy = DChoices::new(&geometry, DRAWS, 5);
    for number in 0..UNITS {
        (0..number).for_each(|unit| blocks.set_valid(BlockId::new(number), unit));
        policy.closed(&view(plane, &blocks), BlockId::new(number));
    }
    let mut counts = [0u32; UNITS as usize];
    for _ in 0..TRIES {
        let block = policy.choose(&view(plane, &blocks)).expect("all are worth collecting");
        counts[block.at()] += 1;
        policy.closed(&view(plane, &blocks), block);
    }
    for (k, count) in (0u32..).zip(counts) {
        let above = |k: u32| (f64::from(UNITS - k) / f64::from(UNITS)).powi(DRAWS as i32);
        let odds = above(k) - above(k + 1);
        let error = (odds * (1.0 - odds) / f64::from(TRIES)).sqrt();
        let share = f64::from(count) / f64::from(TRIES);
        assert!((share - odds).abs() < 4.0 * error, "{k}: {share} instead of {odds}");
    }
}
