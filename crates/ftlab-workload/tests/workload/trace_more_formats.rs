//! Formats of kernels, programs and archives of traces: files written by hand from their descriptions, and what they must read as.

use ftlab::host::Op;
use ftlab::units::SimTime;
use ftlab_workload::trace::{ColumnPlan, ErrorKind, OpWords, Options, Record, SpaceUnit};

use super::common::texts::{Bytes, by, failure_of, read_as, read_bytes, record};

#[test]
fn biosnoop_starts_a_latency_before_its_lines() {
    let lines = "TIME(s)     COMM           PID     DISK      T  SECTOR     BYTES  LAT(ms)\n\
        0.000000    supervise      1950    xvda1     W  13092560   4096      0.74\n\
        0.000178    java thread    1951    xvdb      R  13092432   8192      0.61\n\
        1.000000    jbd2/x         203     xvda1     FF 0          0         0.50\n";
    // The second began 61 us after the first one's end, that is 308 us after its beginning.
    let expected = [
        record(0, Op::Write, 13_092_560, 8, 0),
        record(308_000, Op::Read, 13_092_432, 16, 1),
        Record::flush(SimTime(1_000_240_000), 0),
    ];
    assert_eq!(read_as(lines.as_bytes(), "biosnoop"), expected);
    let queued =
        lines.replace("0.74", "5.00 0.74").replace("0.61", "0.01 0.61").replace(" 0.50", "0 0.50");
    assert_eq!(read_as(queued.as_bytes(), "biosnoop"), expected);
}

#[test]
fn fiu() {
    let lines = "89967195728145 4892 syslogd 904265560 8 W 6 0 531e779bf5af4c5d\n\
                 89967195731145 4892 my prog 904265568 16 R 6 1 531e779bf5af4c5d\n";
    let expected = [
        record(0, Op::Write, 904_265_560, 8, 6 << 20),
        record(3_000, Op::Read, 904_265_568, 16, 6 << 20 | 1),
    ];
    assert_eq!(read_as(lines.as_bytes(), "fiu"), expected);
}

fn vscsi(version: u16, records: &[(u16, u32, u64, u64)]) -> Vec<u8> {
    let mut file = Bytes { is_big: false, all: Vec::new() };
    for (serial, &(command, length, block, time)) in records.iter().enumerate() {
        let (serial, version) = (serial as u32, version << 8 | 1);
        if version >> 8 == 2 {
            file.put(command.to_le_bytes());
            file.put(version.to_le_bytes());
        }
        file.put(serial.to_le_bytes());
        file.put(length.to_le_bytes());
        file.put(1_u32.to_le_bytes());
        if version >> 8 == 1 {
            file.put(command.to_le_bytes());
            file.put(version.to_le_bytes());
        }
        file.put(block.to_le_bytes());
        file.put(time.to_le_bytes());
        if version >> 8 == 2 {
            file.put(77_u64.to_le_bytes());
        }
    }
    file.all
}

#[test]
fn vscsi_of_both_versions() {
    let requests = [
        (0x28, 4096, 16, 1_000_000),
        (0x12, 96, 0, 1_000_001),
        (0x8a, 65_536, 1 << 33, 1_000_002),
        (0x35, 0, 0, 1_000_005),
    ];
    let expected = [
        record(0, Op::Read, 16, 8, 0),
        record(2_000, Op::Write, 1 << 33, 128, 0),
        Record::flush(SimTime(5_000), 0),
    ];
    for version in [1, 2] {
        let file = vscsi(version, &requests);
        assert_eq!(file.len(), 4 * [32, 40][usize::from(version) - 1]);
        assert_eq!(read_as(&file, "vscsi"), expected);
        let (_, facts) = read_bytes(&file, Options::default());
        assert!(
            facts.assumed.contains(&format!("records of version {version}, as the first ones say"))
        );
        assert!(facts.assumed.contains(&"1 other commands are no requests".to_owned()));
    }
    let mut mixed = vscsi(1, &requests);
    mixed[3 * 32 + 15] = 2;
    assert!(failure_of(&mixed, Options::default()).problem.contains("version 1 or 2"));
}

#[test]
fn hp_srt() {
    let mut file = Bytes {
        is_big: true,
        all: b"hostname\t= \"cello\";\ntracedate\t= \"Sat Apr 18 00:00:00 1992\";\n".to_vec(),
    };
    file.all.extend(b"anything\x0c");
    let mut io = |id: u32, sec: u32, usec: u32, bytes: u32, sector: u32, flags: u32| {
        let length = 52 + if id >> 16 == 4 { 4 } else { 0 } + if id & 0xffff == 4 { 4 } else { 0 };
        let numbers = [length, id, sec, usec, 5, 900, bytes, sector, 0x300, 1, 7, flags, 0, 2, 3];
        numbers[..length as usize / 4].iter().for_each(|number| file.put(number.to_le_bytes()));
    };
    io(4 << 16 | 1, 10, 500, 8192, 640, 1);
    io(4 << 16 | 4, 10, 600, 8192, 0, 1);
    io(4 << 16 | 1, 11, 0, 1024, 32, 0x100);
    let expected =
        [record(0, Op::Read, 640, 16, 0x300), record(999_500_000, Op::Write, 32, 2, 0x300)];
    assert_eq!(read_as(&file.all, "hp-srt"), expected);
    let (_, facts) = read_bytes(&file.all, Options::default());
    assert!(facts.warnings.iter().any(|text| text.starts_with("1 records")), "{facts:?}");
    let cut = failure_of(&file.all[..file.all.len() - 1], Options::default());
    assert_eq!(cut.kind, ErrorKind::Corrupt);
}

#[test]
fn oracle_general_needs_its_name_and_the_size_of_a_block() {
    let mut file = Bytes { is_big: false, all: Vec::new() };
    for (seconds, object, length) in [(100_u32, 7_u64, 4096_u32), (102, 9, 512)] {
        file.put(seconds.to_le_bytes());
        file.put(object.to_le_bytes());
        file.put(length.to_le_bytes());
        file.put((-1_i64).to_le_bytes());
    }
    let named = || Options::default().with_format("oracle-general").expect("known");
    let error = failure_of(&file.all, named());
    assert!(error.problem.contains("no addresses") && error.remedy.contains("`address_unit` 4k"));
    let options = Options { address_unit: Some(SpaceUnit::Page4k), invert_ops: true, ..named() };
    let expected = [record(0, Op::Write, 56, 8, 0), record(2_000_000_000, Op::Write, 72, 1, 0)];
    assert_eq!(read_bytes(&file.all, options).0, expected);
}

#[test]
fn disksim_that_validates_and_that_disksim_writes() {
    let lines = "R Miss 1000 8 5000.5 1000\nW Hit 2000 16 300 200\nR Miss 3000 8 1 1\n";
    let expected = [
        record(0, Op::Read, 1000, 8, 0),
        record(6_000_500, Op::Write, 2000, 16, 0),
        record(6_500_500, Op::Read, 3000, 8, 0),
    ];
    assert_eq!(read_as(lines.as_bytes(), "disksim-validate"), expected);
    let lines = "0.500000,2,100,8,1,1,-1,0x55d0\n1.000001,2,200,16,1a,2,0,0x55d1\n";
    let expected = [record(0, Op::Read, 100, 8, 2), record(500_001, Op::Write, 200, 16, 2)];
    assert_eq!(read_as(lines.as_bytes(), "disksim-outtrace"), expected);
}

#[test]
fn ssdsim_with_a_number_as_sixth_column_and_erases() {
    let lines = "5 1 40 8 0 0.25\n14 1 48 16 2 1.00\n15 1 48 8 1 0.5\n";
    let expected = [
        record(0, Op::Write, 40, 8, 1),
        record(9, Op::Trim, 48, 16, 1),
        record(10, Op::Read, 48, 8, 1),
    ];
    assert_eq!(read_as(lines.as_bytes(), "ssdsim"), expected);
}

#[test]
fn msr_with_blanks_and_alibaba_in_small_letters() {
    let expected = [record(0, Op::Read, 2, 8, 3), record(1_000, Op::Write, 0, 1, 3)];
    for separator in ["\t", "  "] {
        let lines =
            "128166372003061629,src,3,Read,1024,4096,55\n128166372003061639,src,3,Write,0,512,7\n";
        assert_eq!(read_as(lines.replace(',', separator).as_bytes(), "msr"), expected);
    }
    let lines = "419,w,8192,4096,1577808144360767\n419,r,0,512,1577808144360768\n";
    let expected = [record(0, Op::Write, 16, 8, 419), record(1_000, Op::Read, 0, 1, 419)];
    assert_eq!(read_as(lines.as_bytes(), "alibaba"), expected);
}

#[test]
fn windows() {
    let lines = "BeginHeader\n\
        DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags\n\
        EndHeader\n\
        OS Version: 6.0.6001, Trace Size: 32768KB\n\
        CSwitch, 5000, Idle (0), 0\n\
        DiskRead,       8612,        xperf.exe (3984),      11844, 0xffffe288b23f1b20, 0x018f0b8000, 0x00001000,         283,        0, 0x060043\n\
        DiskWrite,      8700,        b.exe ( 4),      11844, 0xffffe288b23f1b20, 0x0000000200, 512,         400,        3, 0x060043\n";
    // They arrived at 8329 and 8300.
    let expected =
        [record(0, Op::Write, 1, 1, 3), record(29_000, Op::Read, 0x0001_8f0b_8000 / 512, 8, 0)];
    assert_eq!(read_as(lines.as_bytes(), "xperf"), expected);
    let with_processor =
        lines.replace("11844, 0xf", "11844, 1, 0xf").replace("IrpPtr", "CPU, IrpPtr");
    assert_eq!(read_as(with_processor.as_bytes(), "xperf"), expected);

    let german = "IO Type;Process Name;Init Time (s);Complete Time (s);Size (B);Min Offset;Disk\n\
                  Write;a.exe;0,000001000;1,5;4.096;0x1000;0\n\
                  Read;b.exe;1.000,000002000;1,5;65.536;0x0;1\n";
    let english = "IO Type,Process Name,Init Time (s),Complete Time (s),Size (B),Min Offset,Disk\n\
                   Write,a.exe,0.000001000,1.5,\"4,096\",0x1000,0\n\
                   Read,b.exe,\"1,000.000002000\",1.5,\"65,536\",0x0,1\n";
    let expected = [record(0, Op::Write, 8, 8, 0), record(1_000_000_001_000, Op::Read, 0, 128, 1)];
    assert_eq!(read_as(german.as_bytes(), "wpa"), expected);
    assert_eq!(read_as(english.as_bytes(), "wpa"), expected);

    let lines = "0\t0,002316\t0,00019\t0\tWrite\t63\t8\n1\t0,102316\t0,00019\t1\tRead\t71\t16\n";
    let expected = [record(0, Op::Write, 63, 8, 0), record(100_000_000, Op::Read, 71, 16, 1)];
    assert_eq!(read_as(lines.as_bytes(), "diskmon"), expected);
    assert_eq!(read_as(lines.replace(',', ".").as_bytes(), "diskmon"), expected);
}

#[test]
fn xperf_processes_may_have_commas_and_flushes_have_no_place() {
    let head = "BeginHeader\n\
        DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags, FileName\n\
        DiskFlush, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ElapsedTime, DiskNum, IrpFlags\n\
        EndHeader\n";
    let lines = "DiskRead, 1000, a.exe (  4), 12, 0xff01, 0x1000, 0x200, 100, 1, 0x43, \"C:\\a, b.txt\"\n\
        DiskWrite, 2000, a, b.exe (  4), 12, 0xff01, 0x2000, 0x400, 100, 1, 0x43, C:\\a, 7, 8.txt\n\
        DiskRead, 3000, a, 5, b (9), c.exe (4), 12, 0xff01, 0x3000, 0x600, 100, 1, 0x43\n\
        DiskRead, 3500, a (1), 5, 6, b.exe (4), 12, 0xff01, 0x3000, 0x600, 100, 1, 0x43\n\
        DiskFlush, 4000, System, the (  4), 12, 0xff01, 900, 2, 0x0\n\
        DiskFlush, 4100, Unknown ( -1), 12, 0xff01, 100, 2, 0x0\n";
    let expected = [
        record(0, Op::Read, 8, 1, 1),
        record(1_000_000, Op::Write, 16, 2, 1),
        record(2_000_000, Op::Read, 24, 3, 1),
        record(2_500_000, Op::Read, 24, 3, 1),
        // In order of arrival, which is an elapsed time before the line.
        Record::flush(SimTime(2_200_000), 2),
        Record::flush(SimTime(3_100_000), 2),
    ];
    let mut expected = expected.to_vec();
    expected.sort_by_key(|record| record.at);
    assert_eq!(read_as(format!("{head}{lines}").as_bytes(), "xperf"), expected);
    let with_processor = format!("{head}{lines}").replace(" 12, 0xf", " 12, 3, 0xf");
    let with_processor = with_processor.replace("IrpPtr", "CPU, IrpPtr");
    assert_eq!(read_as(with_processor.as_bytes(), "xperf"), expected);
    // What can't be decided is refused.
    let odd =
        format!("{head}{lines}DiskRead, 5000, a, b.exe, 12, 0xff01, 0x1000, 0x200, 100, 1, 0x43\n");
    let error = failure_of(odd.as_bytes(), Options::default());
    assert!(error.to_string().contains("name (number)"), "{error}");
}

#[test]
fn tables_of_wpa_that_lack_a_column_are_refused_with_what_they_have() {
    let table = |head: &str| {
        format!("{head}\nRead,a.exe,1.000001,4.096,4096,0\nWrite,b.exe,1.000101,8.192,0x0,0\n")
    };
    let head = "IO Type,Process Name,Init Time (s),Size (KB),Min Offset,Disk";
    insta::assert_snapshot!(failure_of(table(head).as_bytes(), Options::default()), @r"
    test: it has no request, read as wpa: the table of WPA lacks the column Size in a unit that is exact, and not Size (KB); it has IO Type, Process Name, Init Time (s), Size (KB), Min Offset, Disk
    remedy: let WPA show it (View Editor: IO Type, Init Time (s), Min Offset, Size (B), Disk) and export again
    ");
    let late = "IO Type,Process Name,Complete Time (s),Size (B),Min Offset,Disk";
    let error = failure_of(table(late).replace("4.096", "4096").as_bytes(), Options::default());
    assert!(
        error.problem.contains("lacks the column Init Time; it has IO Type, Process"),
        "{error}"
    );
    // What the remedy says reads it.
    let columns = error.remedy.split('"').nth(1).expect("columns");
    let text = table(late).replace("4.096", "4096").replace("8.192", "8192");
    let (records, _) = read_bytes(text.as_bytes(), by(columns));
    assert_eq!(records, [record(0, Op::Read, 8, 8, 0), record(100_000, Op::Write, 0, 16, 0)]);
    let without = failure_of(
        table("IO Type,Process Name,Init Time (s),Size (B),Path,Disk").as_bytes(),
        Options::default(),
    );
    assert!(without.problem.contains("lacks the column Min Offset"), "{without}");
    assert!(without.remedy.contains("View Editor") && !without.remedy.contains("`columns`"));
    // A size and a disk are not WPA's alone.
    let own = failure_of(
        b"t;Size (KiB);Disk;offset;op\n1;4;0;4096;R\n2;8;0;8192;W\n",
        Options::default(),
    );
    assert!(own.problem.contains("no known trace format"), "{own}");
    // Times in other units are read.
    let text = table("IO Type,Process Name,Init Time (ms),Size (B),Min Offset,Disk")
        .replace("4.096", "4096")
        .replace("8.192", "8192");
    assert_eq!(
        read_as(text.as_bytes(), "wpa"),
        [record(0, Op::Read, 8, 8, 0), record(100, Op::Write, 0, 16, 0)]
    );
}

#[test]
fn a_table_of_ones_own_by_name_and_by_number() {
    let table = "ts;kind;lba;len;vol\n1000,5;R;16;4096;a\n1001;write;24;8192;b\n1002;R;0;512;a\n";
    let expected = [
        record(0, Op::Read, 16, 8, 0),
        record(500, Op::Write, 24, 16, 1),
        record(1_500, Op::Read, 0, 1, 0),
    ];
    for columns in [
        "time=ts:us,op=kind,offset=lba:512,size=len,stream=vol",
        "time=1:us,op=2,offset=3:sector,size=4:byte,stream=5",
    ] {
        let (records, facts) = read_bytes(table.as_bytes(), by(columns));
        assert_eq!(records, expected, "{columns}");
        assert_eq!(facts.format, "csv");
        assert!(
            facts.assumed.contains(&"columns are separated by semicolons".to_owned()),
            "{facts:?}"
        );
    }
    // Without a head, with codes, and with what the table lacks.
    let mut options = by("time=1:s,op=2,offset=3,size=4KiB");
    options.op_words.add("0=read,1=write").expect("words");
    let (records, _) = read_bytes(b"1.5,0,8192\n2.5,1,0\n", options);
    let expected = [record(0, Op::Read, 16, 8, 0), record(1_000_000_000, Op::Write, 0, 8, 0)];
    assert_eq!(records, expected);
    let (records, facts) = read_bytes(b"a b\n8 1\n16 2\n", by("op=write,offset=a:4k,size=b:512"));
    assert_eq!(records, [record(0, Op::Write, 64, 1, 0), record(0, Op::Write, 128, 2, 0)]);
    assert!(facts.assumed.contains(&"requests have no times".to_owned()));
}

#[test]
fn what_is_wrong_with_a_table_is_said() {
    let table = b"ts,kind,lba,len\n1,R,16,4096\n2,W,24,x\n";
    insta::assert_snapshot!(failure_of(table, by("time=ts,op=kind,offset=lba:512,size=len")), @r"
    test, line 3: expected a size: a whole number, found `x`
      3 | 2,W,24,x
        |        ^
    remedy: fix the line; or `skip_malformed` skips such lines and counts them; or, if it has another format, name it with `format`
    ");
    insta::assert_snapshot!(failure_of(table, by("time=ts,op=kind,offset=where:512,size=len")), @r"
    test, line 1: offset=where is no column; the first line has 1 ts, 2 kind, 3 lba, 4 len
      1 | ts,kind,lba,len
        | ^^^^^^^^^^^^^^^
    remedy: name a column of the table in `columns`, or number it from 1
    ");
    insta::assert_snapshot!(failure_of(b"1,7,16,4096\n", by("op=2,offset=3,size=4")), @r"
    test, line 1: expected an operation: a word such as R, write, trim or flush, found `7`
      1 | 1,7,16,4096
        |   ^
    remedy: say what the words mean, as in `op` 0=read,1=write; operations are read, write, trim and flush
    ");
    let wrong = [
        "tim=1",
        "time",
        "time=a:parsec,op=2,offset=3,size=4",
        "op=1,offset=2",
        "op=1,op=2",
        "op=1:us,offset=2,size=3",
        "offset=",
    ];
    let said: Vec<_> = wrong.iter().map(|text| ColumnPlan::parse(text).expect_err(text)).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    a request has no `tim`; did you mean time? its parts are time, op, offset, size, stream
    `time` is not part=column; parts are time, op, offset, size, stream, as in time=ts:us,op=3,offset=lba:512,size=4KiB
    times have no unit `parsec`; known are ns, filetime, us, ms, s, iso
    a request needs size; name its column, or say how large all of them are: size=4KiB
    op is given twice; give it once
    op has no unit; leave out `:us`
    offset= needs the name or the number of a column
    ");
    let mut words = OpWords::default();
    let wrong = ["R", "R=reads", "R=read,R=write"];
    let said: Vec<_> = wrong.iter().map(|text| words.add(text).expect_err(text)).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    `R` is not word=operation, as in R=read; operations are read, write, trim, flush, append, zone-open, zone-close, zone-finish, zone-reset, zone-offline, zone-commit
    there is no operation `reads`; known are read, write, trim, flush, append, zone-open, zone-close, zone-finish, zone-reset, zone-offline, zone-commit
    `R` has a meaning already; give it once
    ");
}

#[test]
fn half_a_trace_is_refused_with_what_it_lacks() {
    let bpftrace = "Attached 4 probes\nTIME(ms)     DISK    COMM             PID    LAT(ms)\n\
                    611          nvme0n1 bash             4179           10\n";
    let error = failure_of(bpftrace.as_bytes(), Options::default());
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(
        error.problem.contains("neither addresses nor sizes") && error.remedy.contains("bcc"),
        "{error}"
    );
    let iostat = "Device            r/s     rkB/s   w/s\nsda   1.0  2.0  3.0\n";
    assert!(failure_of(iostat.as_bytes(), Options::default()).problem.contains("averages"));
}

#[test]
fn a_file_that_fits_nothing_is_shown_with_the_columns_that_may_read_it() {
    let table = "when_us,what,sector,bytes\n1000,R,16,4096\n2000,W,32,8192\n3000,R,8,512\n";
    let error = failure_of(table.as_bytes(), Options::default());
    insta::assert_snapshot!(error, @r"
    test, line 2: its first lines fit no known trace format; split at commas, it begins when_us | what | sector | bytes // 1000 | R | 16 | 4096 // 2000 | W | 32 | 8192
      2 | 1000,R,16,4096
        | ^^^^^^^^^^^^^^
    remedy: these may be its columns: `columns` time=when_us:us,op=what,offset=sector:512,size=bytes (offset counts units of 512 bytes if the guess is right); or force one with `format` to see what is wrong; known formats: msr, spc, ssdsim, mqsim, disksim, blkparse, fio-v2, fio-v3, alibaba, tencent, systor, fiu, disksim-validate, disksim-outtrace, wpa, xperf, diskmon, biosnoop, ftrace, blktrace, vscsi, hp-srt, oracle-general, csv, parquet
    ");
    let columns = error.remedy.split("`columns` ").nth(1).and_then(|rest| rest.split(' ').next());
    let (records, _) = read_bytes(table.as_bytes(), by(columns.expect("a suggestion")));
    assert_eq!(records[1], record(1_000_000, Op::Write, 32, 16, 0));
    // Nothing but numbers: by what they hold.
    let bare = "0.001;77;8192;4096\n0.002;77;1048576;8192\n0.004;77;512;4096\n";
    let error = failure_of(bare.as_bytes(), Options::default());
    assert!(error.remedy.contains("`columns` time=1,offset=3,size=4,op=write if all"), "{error}");
}
