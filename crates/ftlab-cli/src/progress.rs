//! The bar on a terminal; nothing elsewhere.

use std::time::{Duration, Instant};

use ftlab_workload::replay::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// How often the bar is brought up to date: asking the clock more often would cost more.
const EVERY: Duration = Duration::from_millis(100);

/// A progress bar on standard error.
pub struct Bar {
    bar: ProgressBar,
    drawn: Instant,
    sized: bool,
}

impl Bar {
    /// A bar for what is called `name`, unless it is not `wanted` or nobody watches.
    pub fn new(name: &str, wanted: bool) -> Bar {
        let bar = if wanted { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{prefix} {spinner} {human_pos} requests, {msg}");
        bar.set_style(style.expect("the template is a constant"));
        bar.set_prefix(name.to_owned());
        Bar { bar, drawn: Instant::now(), sized: false }
    }

    /// Shows how far it is.
    pub fn show(&mut self, progress: &Progress) {
        if self.bar.is_hidden() || self.drawn.elapsed() < EVERY {
            return;
        }
        self.drawn = Instant::now();
        if let Some(total) = progress.total.filter(|_| !self.sized) {
            self.sized = true;
            self.bar.set_length(total);
            let style = ProgressStyle::with_template(
                "{prefix} [{bar:24}] {percent} % {human_pos} requests, {msg}, {eta} left",
            );
            self.bar.set_style(style.expect("the template is a constant").progress_chars("=> "));
        }
        self.bar.set_position(progress.completed);
        let seconds = self.bar.elapsed().as_secs_f64();
        let rate = crate::human::rate(progress.completed as f64 / seconds.max(1e-9));
        self.bar.set_message(format!("{rate}/s, {} simulated", crate::human::span(progress.now.0)));
    }

    /// Takes it off the screen.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}
