//! A reading in Prometheus' text format, version 0.0.4.
//!
//! Names and units follow Prometheus' customs: seconds and bytes, shares from 0 to 1, counters end with `_total`. What
//! the device lacks is left out.

use std::fmt::{Display, Write};

use super::{Clock, DieReading, DieState, DriveReading, KindLatencies, Latencies, Quantiles};

const NS_PER_S: f64 = 1e9;
const PERCENT: f64 = 100.0;

/// The types that are used.
#[derive(Clone, Copy)]
enum Type {
    Counter,
    Gauge,
    Summary,
}

/// The text so far.
struct Exposition {
    text: String,
}

type Labels<'a> = &'a [(&'a str, &'a str)];

impl Exposition {
    /// Begins a metric, whose samples follow.
    fn begin(&mut self, name: &str, kind: Type, help: &str) {
        let kind = match kind {
            Type::Counter => "counter",
            Type::Gauge => "gauge",
            Type::Summary => "summary",
        };
        self.text += &format!("# HELP ftlab_{name} {help}\n# TYPE ftlab_{name} {kind}\n");
    }

    /// Adds a sample.
    fn sample(&mut self, name: &str, labels: Labels<'_>, value: impl Display) {
        self.text += "ftlab_";
        self.text += name;
        for (at, (label, text)) in labels.iter().enumerate() {
            self.text.push(if at == 0 { '{' } else { ',' });
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            self.text += &format!("{label}=\"{text}\"");
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        writeln!(self.text, " {value}").expect("texts take everything");
    }

    /// A metric of one sample.
    fn one(&mut self, name: &str, kind: Type, help: &str, value: impl Display) {
        self.begin(name, kind, help);
        self.sample(name, &[], value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.one(name, Type::Counter, help, value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.one(name, Type::Gauge, help, value);
    }

    /// A gauge that a device may lack.
    fn known(&mut self, name: &str, help: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.gauge(name, help, value);
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S
}

/// Writes a reading for Prometheus.
pub fn metrics(reading: &DriveReading) -> String {
    let mut to = Exposition { text: String::new() };
    device(&mut to, reading);
    host(&mut to, reading);
    latencies(&mut to, &reading.latencies);
    flash(&mut to, reading);
    dies(&mut to, &reading.dies);
    smart(&mut to, reading);
    power(&mut to, reading);
    to.text
}

fn device(to: &mut Exposition, reading: &DriveReading) {
    let device = &reading.device;
    to.begin("device_info", Type::Gauge, "The simulated device; always 1.");
    let labels = [("name", device.name.as_str()), ("title", device.title.as_str())];
    to.sample("device_info", &labels, 1);
    to.gauge("capacity_bytes", "What the host sees.", device.capacity_bytes);
    to.gauge("dies_built", "Dies of the device.", device.dies);
    to.gauge("channels", "Channels of the device.", device.channels);
    let now = seconds(device.simulated_now_ns);
    to.one("simulated_seconds_total", Type::Counter, "Simulated time.", now);
    let help = "Time on the wall since the server started.";
    to.gauge("uptime_seconds", help, seconds(device.uptime_ns));
    let scale = match device.clock {
        Clock::Wall => Some(1.0),
        Clock::Scaled(factor) => Some(factor),
        Clock::Simulated => None,
    };
    let help = "How fast simulated time passes; absent if it is not bound to the wall's.";
    to.known("clock_scale", help, scale);
}

fn host(to: &mut Exposition, reading: &DriveReading) {
    let host = &reading.host;
    let counts = [
        ("read", host.reads),
        ("write", host.writes),
        ("flush", host.flushes),
        ("trim", host.trims),
        ("write_zeroes", host.write_zeroes),
    ];
    to.begin("host_requests_total", Type::Counter, "Requests that were answered.");
    for (kind, count) in counts {
        to.sample("host_requests_total", &[("kind", kind)], count);
    }
    to.counter("host_read_bytes_total", "Bytes that the host read.", host.read_bytes);
    to.counter("host_written_bytes_total", "Bytes that the host wrote.", host.written_bytes);
    to.counter("host_errors_total", "Requests answered with an error.", host.errors);
    to.gauge("host_requests_in_flight", "Requests that wait for an answer.", host.in_flight);
    to.gauge("connections_open", "Open NBD connections.", host.connections_open);
    to.counter("connections_total", "NBD connections accepted.", host.connections_total);
    let help = "NBD connections turned away.";
    to.counter("connections_refused_total", help, host.connections_refused);
}

fn latencies(to: &mut Exposition, latencies: &Latencies) {
    type Of = fn(&KindLatencies) -> &Quantiles;
    let simulated: Of = |kind| &kind.simulated;
    let late: Of = |kind| &kind.late;
    let help = "Latency on the simulated device.";
    summary(to, "latency", help, latencies, simulated);
    let help = "How much later than the simulated device replies left, on the wall.";
    summary(to, "reply_lateness", help, latencies, late);
}

fn summary(
    to: &mut Exposition,
    name: &str,
    help: &str,
    latencies: &Latencies,
    of: fn(&KindLatencies) -> &Quantiles,
) {
    let whole = format!("{name}_seconds");
    to.begin(&whole, Type::Summary, help);
    for (kind, found) in latencies.kinds().map(|(kind, found)| (kind, of(found))) {
        let quantiles = [
            ("0.5", found.p50_ns),
            ("0.9", found.p90_ns),
            ("0.99", found.p99_ns),
            ("0.999", found.p999_ns),
        ];
        for (quantile, ns) in quantiles {
            // Prometheus' word for the quantiles of nothing.
            let value = if found.count > 0 { seconds(ns) } else { f64::NAN };
            to.sample(&whole, &[("kind", kind), ("quantile", quantile)], value);
        }
        to.sample(&format!("{whole}_sum"), &[("kind", kind)], seconds(found.sum_ns));
        to.sample(&format!("{whole}_count"), &[("kind", kind)], found.count);
    }
    let longest = format!("{name}_max_seconds");
    to.begin(&longest, Type::Gauge, "The longest of these times since the start.");
    for (kind, found) in latencies.kinds().map(|(kind, found)| (kind, of(found))) {
        to.sample(&longest, &[("kind", kind)], seconds(found.max_ns));
    }
}

fn flash(to: &mut Exposition, reading: &DriveReading) {
    let flash = &reading.flash;
    if !flash.programs.is_empty() {
        let help = "Flash pages programmed, by what for.";
        to.begin("flash_pages_programmed_total", Type::Counter, help);
        for programs in &flash.programs {
            let labels = [("origin", programs.origin.as_str())];
            to.sample("flash_pages_programmed_total", &labels, programs.pages);
        }
    }
    to.counter("flash_pages_read_total", "Flash pages read.", flash.reads);
    to.counter("flash_blocks_erased_total", "Blocks erased.", flash.erases);
    let help = "Flash pages programmed per page that the host wrote.";
    to.known("write_amplification", help, flash.write_amplification);
    let help = "Free blocks of the plane that has the fewest.";
    to.gauge("free_blocks_min", help, flash.free_blocks_min);
    let help = "Free blocks of a plane, on average.";
    to.gauge("free_blocks_mean", help, flash.free_blocks_mean);
    let help = "Share of programmed pages whose data is current.";
    to.known("valid_share", help, flash.valid_share);
}

fn dies(to: &mut Exposition, dies: &[DieReading]) {
    to.begin("dies", Type::Gauge, "Dies, by what they do now.");
    for state in DieState::ALL {
        let count = dies.iter().filter(|die| die.state == state).count();
        to.sample("dies", &[("state", state.name())], count);
    }
    type Value = fn(&DieReading) -> f64;
    let each: [(&str, &str, Value); 4] = [
        ("die_utilisation", "Share of the last window in which a die was busy.", |die| {
            die.utilisation
        }),
        ("die_queue_length", "Commands that wait for a die.", |die| die.queued as f64),
        ("die_erases_mean", "Erases of a block of a die, on average.", |die| die.erases_mean),
        ("die_erases_max", "Erases of a die's most worn block.", |die| die.erases_max as f64),
    ];
    if dies.is_empty() {
        return;
    }
    for (name, help, value) in each {
        to.begin(name, Type::Gauge, help);
        for (at, die) in dies.iter().enumerate() {
            let (at, channel) = (at.to_string(), die.channel.to_string());
            to.sample(name, &[("die", &at), ("channel", &channel)], value(die));
        }
    }
}

fn smart(to: &mut Exposition, reading: &DriveReading) {
    let smart = &reading.smart;
    let help = "Bytes that the host wrote in the device's life.";
    to.counter("smart_host_written_bytes_total", help, smart.host_bytes_written);
    let help = "Bytes programmed in the device's life.";
    to.counter("smart_media_written_bytes_total", help, smart.media_bytes_written);
    let share = |percent: Option<f64>| percent.map(|percent| percent / PERCENT);
    let help = "Used share of the rated life; may exceed 1.";
    to.known("smart_used_ratio", help, share(smart.percentage_used));
    let help = "Share of spare blocks that is left.";
    to.known("smart_available_spare_ratio", help, share(smart.available_spare_percent));
    to.counter("smart_power_cycles_total", "How often power came.", smart.power_cycles);
    let help = "How often power went without notice.";
    to.counter("smart_unsafe_shutdowns_total", help, smart.unsafe_shutdowns);
    to.counter("smart_media_errors_total", "Data that could not be read.", smart.media_errors);
    let powered = seconds(smart.power_on_time_ns);
    to.one("smart_power_on_seconds_total", Type::Counter, "Simulated time with power.", powered);
    if let Some(blocks) = smart.grown_bad_blocks {
        to.gauge("smart_grown_bad_blocks", "Blocks that became bad in use.", blocks);
    }
    let help = "Whether the device accepts no more writes.";
    to.gauge("smart_end_of_life", help, u8::from(smart.end_of_life));
}

fn power(to: &mut Exposition, reading: &DriveReading) {
    let power = &reading.power;
    to.gauge("power_on", "Whether the device has power.", u8::from(power.on));
    to.counter("power_cuts_total", "Power cuts.", power.cuts);
    let help = "Acknowledged pages lost in power cuts.";
    to.counter("power_lost_pages_total", help, power.lost_pages);
    let help = "Simulated time that the last recovery took.";
    to.known("power_last_recovery_seconds", help, power.last_recovery_ns.map(seconds));
    let help = "Time on the wall until the next power cut.";
    to.known("power_next_cut_seconds", help, power.next_cut_in_ns.map(seconds));
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::reading::tests::example;
    use super::*;

    /// Reads the text strictly, and returns the values of all samples by name and labels.
    fn parse(text: &str) -> BTreeMap<String, f64> {
        let (mut samples, mut done) = (BTreeMap::new(), BTreeSet::new());
        let (mut helped, mut current, mut kind) = (String::new(), String::new(), String::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("help has words");
                assert!(help.ends_with('.'), "{line}");
                assert!(done.insert(name.to_owned()), "{name} comes again");
                helped = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, of) = rest.split_once(' ').unwrap();
                assert_eq!(name, helped);
                assert!(["counter", "gauge", "summary"].contains(&of), "{line}");
                (current, kind) = (name.to_owned(), of.to_owned());
            } else {
                let (key, value) = line.rsplit_once(' ').unwrap();
                let name = key.split('{').next().unwrap();
                let of = match kind.as_str() {
                    "summary" => name.trim_end_matches("_sum").trim_end_matches("_count"),
                    _ => name,
                };
                assert_eq!(of, current, "a sample stands below its type");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
                assert!(name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'), "{name}");
                let value = value.parse().expect("values are numbers");
                assert_eq!(samples.insert(key.to_owned(), value), None, "{key} comes again");
            }
        }
        samples
    }

    #[test]
    fn the_text_is_valid() {
        assert!(parse(&metrics(&DriveReading::default())).len() > 30);
        assert!(metrics(&DriveReading::default()).ends_with('\n'));
        let samples = parse(&metrics(&example()));
        assert_eq!(samples["ftlab_host_requests_total{kind=\"read\"}"], 1001.0);
        assert_eq!(samples["ftlab_flash_pages_programmed_total{origin=\"gc\"}"], 4002.0);
        let p99 = samples["ftlab_latency_seconds{kind=\"read\",quantile=\"0.99\"}"];
        assert_eq!(p99, 0.000_180);
        assert_eq!(samples["ftlab_latency_seconds_count{kind=\"read\"}"], 1001.0);
        assert_eq!(samples["ftlab_die_utilisation{die=\"1\",channel=\"1\"}"], 0.5);
        assert_eq!(samples["ftlab_dies{state=\"program\"}"], 1.0);
        assert_eq!(samples["ftlab_smart_used_ratio"], 0.125);
        assert_eq!(samples["ftlab_clock_scale"], 2.0);
    }

    #[test]
    fn what_a_device_lacks_is_left_out() {
        let mut reading = DriveReading::default();
        reading.device.clock = Clock::Simulated;
        let text = metrics(&reading);
        for name in ["write_amplification", "grown_bad", "die_queue", "clock_scale", "next_cut"] {
            assert!(!text.contains(name), "{name}");
        }
        let nothing = "ftlab_latency_seconds{kind=\"trim\",quantile=\"0.5\"} NaN\n";
        assert!(text.contains(nothing));
    }

    #[test]
    fn labels_are_escaped() {
        let mut reading = DriveReading::default();
        reading.device.title = "a \"b\"\\\nc".to_owned();
        assert!(metrics(&reading).contains("title=\"a \\\"b\\\"\\\\\\nc\"} 1\n"));
    }
}
