//! Progress bars on a terminal; they are hidden elsewhere.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ftlab::stats::AgeingOutlook;
use ftlab_workload::replay::Progress;
use ftlab_workload::trace::Meter;
use indicatif::{ProgressBar, ProgressStyle};

use ftlab_lab::experiment::Watcher;
use ftlab_lab::pool::RunsWatcher;

/// How often the bar is updated; more often would cost too much time.
const EVERY: Duration = Duration::from_millis(100);
/// The number of steps of a bar.
const STEPS: f64 = 10_000.0;

/// A progress bar on standard error.
pub struct Bar {
    bar: ProgressBar,
    drawn: Instant,
    sized: bool,
    /// How much of the trace has been read, for traces whose number of requests is unknown.
    meter: Option<Arc<Meter>>,
    /// The state of an ageing, as text.
    ageing: String,
}

impl Bar {
    /// Creates a bar named `name`. It is hidden unless `wanted`, and if standard error is not a
    /// terminal.
    pub fn new(name: &str, wanted: bool) -> Bar {
        let bar = if wanted { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{prefix} {spinner} {msg}");
        bar.set_style(style.expect("the template is a constant"));
        bar.set_prefix(name.to_owned());
        Bar { bar, drawn: Instant::now(), sized: false, meter: None, ageing: String::new() }
    }

    /// Adds the state of an ageing to the message.
    pub fn ages(&mut self, outlook: &AgeingOutlook) {
        self.ageing = format!(", {}", ageing_told(outlook));
    }

    /// Adds the meter of a trace that is being read.
    pub fn metered(self, meter: Arc<Meter>) -> Bar {
        Bar { meter: Some(meter), ..self }
    }

    /// Shows the progress of a replay.
    pub fn show(&mut self, progress: &Progress) {
        let simulated = format!(", {} simulated", crate::human::span(progress.now.0));
        self.draw(progress.completed, progress.total, &simulated);
    }

    /// Shows the progress of writes that have no simulated time.
    pub fn show_writes(&mut self, done: u64, total: Option<u64>) {
        self.draw(done, total, "");
    }

    fn draw(&mut self, done: u64, total: Option<u64>, simulated: &str) {
        if self.bar.is_hidden() || self.drawn.elapsed() < EVERY {
            return;
        }
        self.drawn = Instant::now();
        let by_count = total.map(|total| done as f64 / total.max(1) as f64);
        let share = by_count.or_else(|| self.meter.as_ref()?.share());
        if let Some(share) = share {
            self.size();
            self.bar.set_position((share * STEPS) as u64);
        }
        let seconds = self.bar.elapsed().as_secs_f64();
        let rate = crate::human::rate(done as f64 / seconds.max(1e-9));
        let done = crate::human::count(done);
        let ageing = &self.ageing;
        self.bar.set_message(format!("{done} requests, {rate}/s{simulated}{ageing}"));
    }

    /// Turns the spinner into a bar with a length.
    fn size(&mut self) {
        if std::mem::replace(&mut self.sized, true) {
            return;
        }
        self.bar.set_length(STEPS as u64);
        let style =
            ProgressStyle::with_template("{prefix} [{bar:16}] {percent} % {msg}, {eta} left");
        self.bar.set_style(style.expect("the template is a constant").progress_chars("=> "));
    }

    /// Removes the bar from the screen.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Describes the last round's write amplification and how far the ageing is from a steady state.
fn ageing_told(outlook: &AgeingOutlook) -> String {
    let AgeingOutlook { rounds, window, most_rounds, tolerance_ratio, .. } = *outlook;
    let wa = outlook.write_amplification.map_or(String::new(), |wa| format!("WA {wa:.2}, "));
    let judged = match outlook.range_ratio {
        None => format!("judged after {window}"),
        Some(range) => format!(
            "varied by {} (steady: {})",
            crate::human::percent(range),
            crate::human::percent(tolerance_ratio)
        ),
    };
    format!("{wa}round {rounds} of at most {most_rounds}, {judged}")
}

/// The bars of one run, one after another: one for each load that is played.
pub struct Bars {
    wanted: bool,
    bar: Option<Bar>,
}

impl Bars {
    /// Creates no bar yet.
    pub fn new(wanted: bool) -> Bars {
        Bars { wanted, bar: None }
    }
}

impl Watcher for Bars {
    fn begins(&mut self, name: &str, meter: Option<Arc<Meter>>) {
        let bar = Bar::new(name, self.wanted);
        self.bar = Some(match meter {
            Some(meter) => bar.metered(meter),
            None => bar,
        });
    }

    fn ages(&mut self, outlook: &AgeingOutlook) {
        if let Some(bar) = &mut self.bar {
            bar.ages(outlook);
        }
    }

    fn writes(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        if let Some(bar) = &mut self.bar {
            bar.show_writes(done, total);
        }
        ControlFlow::Continue(())
    }

    fn goes_on(&mut self, progress: &Progress) -> ControlFlow<()> {
        if let Some(bar) = &mut self.bar {
            bar.show(progress);
        }
        ControlFlow::Continue(())
    }

    fn ended(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
    }
}

/// A single bar for several runs, which may be concurrent. It is created when they begin.
pub struct Runs {
    wanted: bool,
    bar: OnceLock<ProgressBar>,
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Runs {
    /// Creates no bar yet.
    pub fn new(wanted: bool) -> Runs {
        let count = AtomicUsize::default;
        Runs { wanted, bar: OnceLock::new(), done: count(), all: count() }
    }
}

impl RunsWatcher for Runs {
    fn begin(&self, runs: usize) {
        self.all.store(runs, Ordering::Relaxed);
        let length = runs as u64 * STEPS as u64;
        let bar = if self.wanted { ProgressBar::new(length) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("[{bar:24}] {percent} % {msg}, {eta} left");
        bar.set_style(style.expect("the template is a constant").progress_chars("=> "));
        bar.set_message(format!("0 of {runs} runs"));
        drop(self.bar.set(bar));
    }

    fn advance(&self, share: f64) {
        if let Some(bar) = self.bar.get() {
            bar.inc((share.max(0.0) * STEPS) as u64);
        }
    }

    fn one_more(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = self.bar.get() {
            bar.set_message(format!("{done} of {} runs", self.all.load(Ordering::Relaxed)));
        }
    }

    fn end(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// The bar of crash tests. It measures cuts or time.
pub struct Cuts {
    bar: ProgressBar,
    by_time: bool,
}

impl Cuts {
    /// Creates a bar for this many cuts, or for this much time.
    pub fn new(cuts: Option<u64>, time: Option<Duration>, wanted: bool) -> Cuts {
        let length = cuts.or(time.map(|time| time.as_secs())).unwrap_or(1);
        let bar = if wanted { ProgressBar::new(length) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("[{bar:24}] {percent} % {msg}, {eta} left");
        bar.set_style(style.expect("the template is a constant").progress_chars("=> "));
        Cuts { bar, by_time: time.is_some() }
    }

    /// Shows how many cuts were judged and how many cases failed.
    pub fn show(&self, cuts: u64, losses: u64) {
        let elapsed = self.bar.elapsed();
        self.bar.set_position(if self.by_time { elapsed.as_secs() } else { cuts });
        let rate = crate::human::rate(cuts as f64 / elapsed.as_secs_f64().max(1e-9));
        let cuts = crate::human::count(cuts);
        self.bar.set_message(format!("{cuts} cuts, {rate}/s, {losses} lost"));
    }

    /// Removes the bar from the screen.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ageing_says_how_far_it_is() {
        let mut outlook = AgeingOutlook {
            rounds: 0,
            window: 5,
            most_rounds: 100,
            write_amplification: None,
            range_ratio: None,
            tolerance_ratio: 0.05,
        };
        assert_eq!(ageing_told(&outlook), "round 0 of at most 100, judged after 5");
        outlook.rounds = 7;
        outlook.write_amplification = Some(3.424);
        outlook.range_ratio = Some(0.121);
        let told = "WA 3.42, round 7 of at most 100, varied by 12.1 % (steady: 5.0 %)";
        assert_eq!(ageing_told(&outlook), told);
    }
}
