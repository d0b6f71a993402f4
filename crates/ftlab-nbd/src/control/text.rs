//! A reading as a screen of text, for `ftlab ctl status`.

use super::{DieState, DriveReading, HostReading, Quantiles};

/// The width of the names on the left.
const NAME: usize = 10;
/// The width of a number with its unit.
const CELL: usize = 10;
const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;
const PERCENT: f64 = 100.0;
/// Where the next larger unit of time or size begins.
const STEP: f64 = 1000.0;
const SECONDS_PER_MINUTE: u64 = 60;
const MINUTES_PER_HOUR: u64 = 60;
const HOURS_PER_DAY: u64 = 24;
/// Dies in a line.
const DIES: usize = 32;

/// Three significant digits, or all digits before the point, and the largest unit that fits.
fn scaled(value: f64, units: &[&str]) -> String {
    let (mut value, mut at) = (value, 0);
    while value >= STEP && at + 1 < units.len() {
        value /= STEP;
        at += 1;
    }
    let digits = match value {
        _ if at == 0 => 0,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {}", units[at])
}

fn bytes(count: u64) -> String {
    scaled(count as f64, &["B", "kB", "MB", "GB", "TB", "PB"])
}

fn time(ns: u64) -> String {
    scaled(ns as f64, &["ns", "us", "ms", "s"])
}

/// A long time, as `2 d 3 h` or `4 min 5 s`: the two largest parts.
pub(crate) fn long_time(ns: u64) -> String {
    let seconds = ns / NS_PER_S;
    let minutes = seconds / SECONDS_PER_MINUTE;
    let hours = minutes / MINUTES_PER_HOUR;
    let days = hours / HOURS_PER_DAY;
    match (days, hours, minutes) {
        (0, 0, 0) => time(ns),
        (0, 0, _) => format!("{minutes} min {} s", seconds % SECONDS_PER_MINUTE),
        (0, ..) => format!("{hours} h {} min", minutes % MINUTES_PER_HOUR),
        _ => format!("{days} d {} h", hours % HOURS_PER_DAY),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * PERCENT)
}

/// What is known of something, or a dash.
fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

/// A line: its name, and parts apart.
fn line(name: &str, parts: &[String]) -> String {
    format!("{name:NAME$} {}\n", parts.join(", "))
}

/// Writes a summary of a reading.
pub fn text(reading: &DriveReading) -> String {
    let device = &reading.device;
    let mut text = format!("{}: {}\n", device.name, device.title);
    let shape = format!("{} dies on {} channels", device.dies, device.channels);
    text += &line("device", &[bytes(device.capacity_bytes), shape]);
    let clock = format!("{}, simulated {}", device.clock, long_time(device.simulated_now_ns));
    text += &line("clock", &[clock, format!("up {}", long_time(device.uptime_ns))]);
    text += &power(reading);
    text += &host(&reading.host);
    if reading.policy.ignores_flushes {
        text += &line("flushes", &["ignored: this drive lies (host.flush)".to_owned()]);
    }
    text += &latencies(reading);
    text += &flash(reading);
    text += &dies(reading);
    text + &smart(reading)
}

fn power(reading: &DriveReading) -> String {
    let power = &reading.power;
    let mut parts = vec![if power.on { "on" } else { "OFF" }.to_owned()];
    parts.push(format!("{} cuts", power.cuts));
    parts.push(format!("{} pages lost", power.lost_pages));
    parts.extend(power.last_recovery_ns.map(|ns| format!("last recovery {}", time(ns))));
    if let Some(period) = power.cut_every_ms {
        let next = known(power.next_cut_in_ns, time);
        parts.push(format!("cut every {}, next in {next}", long_time(period * NS_PER_MS)));
    }
    line("power", &parts)
}

fn host(host: &HostReading) -> String {
    let reads = format!("{} reads of {}", host.reads, bytes(host.read_bytes));
    let writes = format!("{} writes of {}", host.writes, bytes(host.written_bytes));
    let others = [
        format!("{} flushes", host.flushes),
        format!("{} trims", host.trims),
        format!("{} write-zeroes", host.write_zeroes),
        format!("{} errors", host.errors),
        format!("{} in flight", host.in_flight),
    ];
    let connections = [
        format!("{} open", host.connections_open),
        format!("{} so far", host.connections_total),
        format!("{} refused", host.connections_refused),
    ];
    line("host", &[reads, writes]) + &line("", &others) + &line("clients", &connections)
}

fn latencies(reading: &DriveReading) -> String {
    let titles = ["count", "p50", "p90", "p99", "p99.9", "max", "late p99"];
    let titles: String = titles.iter().map(|title| format!("{title:>CELL$}")).collect();
    let mut text = format!("\n{:NAME$} {titles}\n", "latency");
    for (kind, found) in reading.latencies.kinds() {
        let Quantiles { count, p50_ns, p90_ns, p99_ns, p999_ns, max_ns, .. } = found.simulated;
        if count == 0 {
            continue;
        }
        let times = [p50_ns, p90_ns, p99_ns, p999_ns, max_ns, found.late.p99_ns].map(time);
        let times: String = times.iter().map(|time| format!("{time:>CELL$}")).collect();
        text += &format!("{kind:NAME$} {count:>CELL$}{times}\n");
    }
    text + "\n"
}

fn flash(reading: &DriveReading) -> String {
    let flash = &reading.flash;
    let amplification = format!(
        "write amplification {} since the start",
        known(flash.write_amplification, |a| format!("{a:.2}"))
    );
    let free = format!(
        "free blocks of a plane: {:.1} on average, {} at least",
        flash.free_blocks_mean, flash.free_blocks_min
    );
    let valid = format!("{} valid", known(flash.valid_share, percent));
    let mut origins: Vec<String> = flash
        .programs
        .iter()
        .map(|programs| format!("{} {}", programs.pages, programs.origin))
        .collect();
    origins.push(format!("{} read", flash.reads));
    line("flash", &[amplification, valid])
        + &line("", &[free])
        + &line("pages", &origins)
        + &line("erased", &[format!("{} blocks", flash.erases)])
}

fn letter(state: DieState) -> char {
    match state {
        DieState::Idle => '.',
        DieState::Read => 'R',
        DieState::Program => 'P',
        DieState::Erase => 'E',
        DieState::Suspended => 'S',
        DieState::Dead => 'X',
    }
}

fn dies(reading: &DriveReading) -> String {
    let states: Vec<char> = reading.dies.iter().map(|die| letter(die.state)).collect();
    if states.is_empty() {
        return String::new();
    }
    let rows = states.chunks(DIES).map(|row| row.iter().collect::<String>());
    let mut text: String =
        rows.enumerate().map(|(at, row)| line(if at == 0 { "dies" } else { "" }, &[row])).collect();
    let total: f64 = reading.dies.iter().map(|die| die.utilisation).sum();
    let used: Vec<String> = DieState::ALL
        .iter()
        .map(|state| (state, states.iter().filter(|found| **found == letter(*state)).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| format!("{count} {}", state.name()))
        .collect();
    text += &line("", &used);
    text += &line("", &[format!("busy {}", percent(total / states.len() as f64))]);
    text
}

fn smart(reading: &DriveReading) -> String {
    let smart = &reading.smart;
    let written = [
        format!("{} by the host", bytes(smart.host_bytes_written)),
        format!("{} into flash", bytes(smart.media_bytes_written)),
    ];
    let wear = [
        smart.percentage_used.map(|used| format!("{used:.1} % used")),
        smart.available_spare_percent.map(|left| format!("{left:.1} % spare")),
        smart.grown_bad_blocks.map(|blocks| format!("{blocks} grown bad blocks")),
        Some(format!("{} media errors", smart.media_errors)),
    ];
    let wear: Vec<String> = wear.into_iter().flatten().collect();
    let power = [
        format!("{} with power", long_time(smart.power_on_time_ns)),
        format!("{} power cycles", smart.power_cycles),
        format!("{} unsafe shutdowns", smart.unsafe_shutdowns),
    ];
    let mut text = line("written", &written) + &line("health", &wear) + &line("life", &power);
    if smart.end_of_life {
        text += &line("", &["END OF LIFE: the device accepts no more writes".to_owned()]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::example;
    use super::*;

    #[test]
    fn a_drive_fits_a_screen() {
        let text = text(&example());
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_unknown_is_a_dash() {
        let mut reading = DriveReading::default();
        reading.policy.ignores_flushes = true;
        reading.power.on = false;
        reading.smart.end_of_life = true;
        insta::assert_snapshot!(text(&reading));
    }

    #[test]
    fn units_change_where_digits_do() {
        let times = [0, 999, 1000, 9_994, 12_340, 123_400, 1_234_000, 2_000_000_000].map(time);
        let expected =
            ["0 ns", "999 ns", "1.00 us", "9.99 us", "12.3 us", "123 us", "1.23 ms", "2.00 s"];
        assert_eq!(times, expected);
        assert_eq!([0, 4096, 512_000_000_000].map(bytes), ["0 B", "4.10 kB", "512 GB"]);
        let long = [59, 61, 3_700, 90_061].map(|seconds| long_time(seconds * NS_PER_S));
        assert_eq!(long, ["59.0 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
    }
}
