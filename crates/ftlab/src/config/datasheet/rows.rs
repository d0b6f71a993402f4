//! The figures of a data sheet beside those of the closed forms.

use super::forms::{Ceiling, DAYS};
use super::{Endurance, Forms, Row, Sheet};
use crate::units::{BytesPerSec, Nanos};

/// How a figure is printed.
#[derive(Clone, Copy)]
enum Unit {
    Rate,
    Iops,
    Time,
}

impl Unit {
    fn print(self, number: f64) -> String {
        match self {
            Unit::Rate => format!("{number:.0} MB/s"),
            Unit::Iops => format!("{number:.0} IOPS"),
            Unit::Time => format!("{number:.1} us"),
        }
    }

    fn row(
        self,
        figure: &'static str,
        option: &'static str,
        wanted: Option<f64>,
        limit: Ceiling,
        form: String,
    ) -> Row {
        let Ceiling { what, most: reached } = limit;
        Row {
            figure,
            asked: wanted.map(|wanted| self.print(wanted)),
            given: self.print(reached),
            form,
            option,
            wanted,
            reached,
            bound: what.to_owned(),
        }
    }
}

impl Forms {
    /// The figures of a data sheet beside those of the device.
    #[must_use]
    pub fn rows(&self, sheet: &Sheet) -> Vec<Row> {
        let mb = |rate: BytesPerSec| rate.0 as f64 / 1e6;
        let us = |time: Nanos| time.0 as f64 / 1e3;
        let flash = self.reading_small();
        let reading_small =
            Ceiling::least([(flash.what, flash.most), ("the time of a command", self.commands())]);
        let amplification = self.amplification();
        let mut writing_small = Unit::Iops.row(
            "random write, 4 KiB, steady",
            "random_write",
            sheet.random_write,
            self.writing_small(amplification),
            format!("at a write amplification of {amplification:.2}"),
        );
        writing_small.bound += &format!(" at a write amplification of {amplification:.2}");
        let mut rows = vec![
            Unit::Rate.row(
                "sequential read",
                "read",
                sheet.read.map(mb),
                self.reading(),
                "least of link, channels x bus, dies x planes x page / (tR + 3 us)".to_owned(),
            ),
            Unit::Rate.row(
                "sequential write",
                "write",
                sheet.write.map(mb),
                self.writing(self.program),
                "least of link, channels x bus, dies x planes x page / (tPROG + 3 us)".to_owned(),
            ),
            Unit::Iops.row(
                "random read, 4 KiB",
                "random_read",
                sheet.random_read,
                reading_small,
                "least of link, buses, dies (and planes) / (tR + 3 us), 1 / time of a command"
                    .to_owned(),
            ),
            writing_small,
            Unit::Time.row(
                "read latency, 4 KiB",
                "read_latency",
                sheet.read_latency.map(us),
                Ceiling { what: "command, tR, bus and link", most: self.read_latency() },
                "command + tR + bus + link".to_owned(),
            ),
            Unit::Time.row(
                "write latency, 4 KiB",
                "write_latency",
                sheet.write_latency.map(us),
                Ceiling { what: "command, link and DRAM", most: self.write_latency() },
                "command + link + DRAM".to_owned(),
            ),
        ];
        if let Some(program) = self.slc_program {
            rows.push(Unit::Rate.row(
                "sequential write, cached",
                "write_cached",
                sheet.write_cached.map(mb),
                self.writing(program),
                "as above, in SLC mode".to_owned(),
            ));
        }
        rows.extend(sheet.endurance.and_then(|endurance| self.endured(endurance)));
        rows
    }

    fn endured(&self, endurance: Endurance) -> Option<Row> {
        let written = self.written(self.worn_by(endurance))?;
        let tb = |bytes: f64| format!("{:.0} TB", bytes / 1e12);
        let (wanted, asked, reached, given) = match endurance {
            Endurance::Written(bytes) => {
                let wanted = bytes.0 as f64;
                (wanted, tb(wanted), written, tb(written))
            }
            Endurance::DriveWrites { a_day, years } => {
                let given = written / self.capacity / (years * DAYS);
                let asked = format!("{a_day} drive writes a day, {years} years");
                (a_day, asked, given, format!("{given:.2} drive writes a day"))
            }
        };
        Some(Row {
            figure: "endurance",
            asked: Some(asked),
            given,
            form: "cycles x flash / write amplification".to_owned(),
            option: "endurance",
            wanted: Some(wanted),
            reached,
            bound: "cycles, of which the simulator counts whole ones".to_owned(),
        })
    }
}
