//! The `columns` that are suggested for tables of one's own: they can be pasted, and read what they should.

use ftlab::host::Op;
use ftlab_workload::trace::Options;

use crate::common::texts::{by, failure, read, record, suggested};

/// The `columns` that an error suggests, as they are written.
fn told(table: &str) -> String {
    let error = failure(table, Options::default());
    let rest = error.remedy.split("`columns` ").nth(1).unwrap_or_else(|| panic!("{error}"));
    rest.split([' ', ';']).next().unwrap_or_default().trim_end_matches(',').to_owned()
}

#[test]
fn suggestions_find_the_operations() {
    let told = |table: &str| failure(table, Options::default()).remedy;
    let table = |name: &str, words: [&str; 3]| {
        let [a, b, c] = words;
        format!(
            "sent,{name},lba,length\n1000.5,{a},16,4096\n2000.5,{b},32,8192\n3000.5,{c},8,512\n"
        )
    };
    let one = told(&table("is_write", ["0", "1", "0"]));
    assert!(one.contains("op=is_write") && one.contains("with `op` 0=read,1=write)"), "{one}");
    let two = told(&table("kind", ["0", "1", "0"]));
    assert!(two.contains("op=kind") && two.contains("or whatever 0, 1 mean"), "{two}");
    let three = told(&table("x", ["R", "W", "T"]));
    assert!(three.contains("op=x") && !three.contains("`op` "), "{three}");
    let none = told("sent,lba,length\n1000.5,16,4096\n2000.5,32,8192\n");
    assert!(none.contains("op=write if all") && none.contains("op=read if all"), "{none}");
}

#[test]
fn suggestions_can_be_pasted_and_know_units_codes_and_clocks() {
    let told = |table: &str| failure(table, Options::default()).remedy;
    let units =
        told("Time (s),Offset (bytes),Length (KiB),Operation\n1,8192,1,Read\n2,16384,2,Write\n");
    assert!(units.contains("`columns` time=1,op=Operation,offset=2,size=3:1024"), "{units}");
    let codes = told("0,2511048,16,0\n1,2511064,16,1\n2,2511072,16,0\n");
    assert!(codes.contains("op=4") && codes.contains("or whatever 0, 1 mean"), "{codes}");
    let clock = told("1714566600000100,R,633569280,8192,x\n1714566600000000,W,633569792,8192,y\n");
    assert!(clock.contains("time=1:us,op=2,offset=3"), "{clock}");
    let short = told("R,4096,512\nW,8192,1024\n");
    assert!(short.contains("op=1,offset=2,size=3"), "{short}");
}

#[test]
fn suggestions_know_pages_powers_and_what_is_no_part_of_a_request() {
    for (table, expected) in [
        (
            "time,op,lpn,pages\n1,R,8,4\n2,W,16,1\n",
            "time=time,op=op,offset=lpn:4096,size=pages:4096",
        ),
        (
            "time,op,page,count\n1,R,8,4\n2,W,16,1\n",
            "time=time,op=op,offset=page:4096,size=count:4096",
        ),
        (
            "time,op,lpa,count\n1,R,8,4\n2,W,16,1\n",
            "time=time,op=op,offset=lpa:4096,size=count:4096",
        ),
        (
            "time,op,offset_mb,size_kb\n1,R,8,4\n2,W,16,1\n",
            "time=time,op=op,offset=offset_mb:1048576,size=size_kb:1024",
        ),
        (
            "time,op,offset,queue_size,io_size\n1,R,8192,4,4096\n2,W,16384,1,512\n",
            "time=time,op=op,offset=offset,size=io_size",
        ),
        (
            "time,op,offset,device_size\n1,R,8192,1000\n2,W,0,1000\n",
            "time=time,op=op,offset=offset,size=4KiB",
        ),
        (
            "response_time,op,offset,size,time\n0.5,R,8192,512,1\n0.1,W,0,512,2\n",
            "time=time,op=op,offset=offset,size=size",
        ),
        (
            "time,disknumber,op,offset,size\n1,0,R,8192,4096\n2,1,W,16384,512\n",
            "time=time,op=op,offset=offset,size=size,stream=disknumber",
        ),
    ] {
        assert_eq!(told(table), expected);
    }
    let error = failure("time,op,offset\n1,R,8192\n2,W,0\n", Options::default());
    assert!(error.remedy.contains("no column tells the sizes, so 4KiB is a guess"), "{error}");
    // Numbers of lines and of devices are no times.
    let lines = |line: &dyn Fn(u64) -> String| (1..10).map(line).collect::<String>();
    let numbered = lines(&|at| format!("{at},R,{},4096\n", at % 4 * 4096));
    assert_eq!(told(&numbered), "op=2,offset=3,size=4");
    let devices =
        lines(&|at| format!("130000000000{},{},R,{},4096\n", at % 2, at * at * 10, at % 4 * 4096));
    assert_eq!(told(&devices), "time=2,op=3,offset=4,size=5");
}

#[test]
fn a_suggestion_replaces_no_column_that_has_odd_cells() {
    for (table, columns, cell) in [
        (
            "ts,op,lba,len\n1,R,8,4096B\n2,W,16,512\n3,W,24,512\n",
            "time=ts,op=op,offset=lba:512,size=len",
            "4096B",
        ),
        (
            "ts,op,offset,len\n1,R,8192,4\n2,W,0,0.5\n3,W,512,8\n",
            "time=ts,op=op,offset=offset,size=len:512",
            "0.5",
        ),
        ("1,R,8192,4096B\n2,W,0,4096\n3,W,512,512\n", "time=1,op=2,offset=3,size=4", "4096B"),
    ] {
        let error = failure(table, Options::default());
        assert_eq!(told(table), columns, "{error}");
        let note = format!(
            "the column of size has cells that are no whole numbers, such as {cell}: correct them first"
        );
        assert!(error.remedy.contains(&note), "{error}");
        // Until then it is refused, and not read by something else.
        assert!(failure(table, by(columns)).problem.contains("expected a size"), "{error}");
    }
}

#[test]
fn a_date_beside_its_time_of_day_is_read_once_they_are_joined() {
    for (table, separator, between, columns) in [
        (
            "date,time,op,offset,size\n2024-05-01,10:00:00.5,R,8192,4096\n2024-05-01,10:00:01,W,0,512\n",
            ",",
            "T",
            "time=1:iso,op=op,offset=offset,size=size",
        ),
        (
            "01.05.2024;10:00:00,5;R;8192;4096\n01.05.2024;10:00:01;W;0;512\n",
            ";",
            " ",
            "time=1:iso,op=2,offset=3,size=4",
        ),
    ] {
        let error = failure(table, Options::default());
        assert_eq!(told(table), columns, "{error}");
        let first = table.lines().find(|line| line.contains(":00:00")).expect("a line");
        let date = first.replacen(separator, between, 1);
        let date = date.split(separator).next().expect("a date");
        let note =
            format!("columns, 1 and 2: join them to column 1 first, in all lines, such as {date})");
        assert!(error.remedy.contains(&note), "{error}");
        assert!(!error.remedy.contains("times count seconds"), "{error}");
        let line = |line: &str| line.replacen(separator, between, 1) + "\n";
        let joined: String = table.lines().map(line).collect();
        let expected = [record(0, Op::Read, 16, 8, 0), record(500_000_000, Op::Write, 0, 1, 0)];
        assert_eq!(read(&joined, by(columns)).0, expected, "{joined}");
    }
}

#[test]
fn a_line_may_be_wider_than_the_head() {
    let table: String = (1..10)
        .map(|at| format!("{at},R,{},8{}\n", at * 8, if at == 2 { "," } else { "" }))
        .collect();
    assert_eq!(
        told(&format!("ts,op,lba,len\n{table}")),
        "time=ts,op=op,offset=lba:512,size=len:512"
    );
}

#[test]
fn a_head_that_comes_again_is_no_line_of_a_suggestion() {
    let table = "ts,what,lba,len\n1,t,8,512\n2,f,16,512\n";
    let error = failure(&table.repeat(2), Options::default());
    assert_eq!(told(&table.repeat(2)), "time=ts,op=what,offset=lba:512,size=len", "{error}");
    assert!(error.remedy.contains("or whatever f, t mean"), "{error}");
    // And none of its words is an operation.
    let columns = "time=ts,op=what,offset=lba:512,size=len";
    for text in [table.repeat(2), table.to_owned()] {
        let error = failure(&text, by(columns));
        assert!(error.problem.contains("the operations are truth values (t, f)"), "{error}");
    }
}

#[test]
fn a_clean_column_is_the_size_before_an_odd_one() {
    let bare = "0.001,R,8192,4096,85us\n0.002,W,0,512,90us\n0.003,R,512,512,70us\n";
    assert_eq!(told(bare), "time=1,op=2,offset=3,size=4");
    // But bytes are sizes, and not what stands behind them.
    let bytes = "0.001,R,8192,4096B,85\n0.002,W,0,512B,90\n0.003,R,512,512B,71\n";
    assert_eq!(told(bytes), "time=1,op=2,offset=3,size=4");
}

#[test]
fn a_column_without_a_name_is_called_by_its_number() {
    let table = "ts,op,,len\n1,R,8192,512\n2,W,0,512\n3,R,512,4096\n";
    assert_eq!(told(table), "time=ts,op=op,offset=3,size=len");
}

#[test]
fn a_table_with_an_index_is_told_by_its_names() {
    let table = ",ts,op,off,len\n0,1,R,8192,512\n1,2,W,0,512\n2,3,R,512,4096\n";
    assert_eq!(told(table), "time=ts,op=op,offset=off,size=len");
}

#[test]
fn a_column_of_truths_that_is_called_by_an_operation_is_that_of_the_operations() {
    let table = "ts,read,off,len\n1,True,8192,512\n2,False,0,512\n3,True,512,4096\n";
    let error = failure(table, Options::default());
    assert!(error.remedy.contains("op=read"), "{error}");
    let (records, _) = read(table, suggested(&error));
    assert_eq!(
        records.iter().map(|record| record.op).collect::<Vec<_>>(),
        [Op::Read, Op::Write, Op::Read]
    );
}

#[test]
fn two_unknown_words_that_begin_as_read_and_write_are_asked_for() {
    let table = "1,wr_blk,8192,512\n2,rd_blk,0,512\n3,rd_blk,512,4096\n";
    let error = failure(table, Options::default());
    assert!(
        error.remedy.contains("op=2") && error.remedy.contains("`op` rd_blk=read,wr_blk=write"),
        "{error}"
    );
    let (records, _) = read(table, suggested(&error));
    assert_eq!(
        records.iter().map(|record| record.op).collect::<Vec<_>>(),
        [Op::Write, Op::Read, Op::Read]
    );
    let names = table.replace("wr_blk", "wal").replace("rd_blk", "rootfs");
    assert!(!failure(&names, Options::default()).remedy.contains("op=2"));
}

#[test]
fn a_column_with_the_size_of_blocks_is_no_size_of_requests() {
    let table = |block: u64| {
        let line = |at: u64| format!("{at},R,{},{block},{}\n", at * 77 % 100, 1 + at % 3);
        (1..20).fold("time,op,block,block_size,count\n".to_owned(), |all, at| all + &line(at))
    };
    for block in [512, 4096] {
        assert_eq!(
            told(&table(block)),
            format!("time=time,op=op,offset=block:{block},size=count:{block}")
        );
    }
    // 8 is no size of blocks in bytes. A name that tells another unit counts more, and so does an address in bytes.
    for (head, block, expected) in [
        ("time,op,block,block_size,count", 8, "offset=block:512,size=count:512"),
        ("time,op,block,block_size,bytes", 4096, "offset=block:4096,size=bytes"),
        ("time,op,sector,block_size,nsectors", 4096, "offset=sector:512,size=nsectors:512"),
        ("time,op,offset_bytes,block_size,bytes", 4096, "offset=offset_bytes,size=bytes"),
        ("time,op,lba,sector_size,len", 4096, "offset=lba:4096,size=len:4096"),
        ("time,op,lbn,blksize,blocks", 4096, "offset=lbn:4096,size=blocks:4096"),
        ("time,op,offset,bs,count", 4096, "offset=offset,size=count:4096"),
        ("time,op,block,bs_kb,count", 4, "offset=block:4096,size=count:4096"),
        ("time,op,lba_4k,block_size,nsectors", 512, "offset=lba_4k:4096,size=nsectors:512"),
        ("time,op,sector,offset_in_file,bytes", 512, "offset=sector:512,size=bytes"),
        ("time,op,pos,prev_sector,bytes", 512, "offset=pos,size=bytes"),
        ("time,op,lpn,other,bytes", 7, "offset=lpn:4096,size=bytes"),
        ("time,op,lpn,other,sectors", 7, "offset=lpn:4096,size=sectors:512"),
        ("time,op,page,other,size_kb", 7, "offset=page:4096,size=size_kb:1024"),
    ] {
        let offset = if head.contains("offset,")
            || head.contains("pos,")
            || head.contains("offset_bytes,")
        {
            512
        } else {
            1
        };
        let line = |at: u64| format!("{at},R,{},{block},{}\n", at * 77 % 100 * offset, 1 + at % 3);
        let table = (1..20).fold(format!("{head}\n"), |all, at| all + &line(at));
        assert_eq!(told(&table), format!("time=time,op=op,{expected}"), "{head}");
    }
}

#[test]
fn a_table_without_a_column_of_times_is_told_so() {
    let remedy = |table: &str| failure(table, Options::default()).remedy;
    let two = remedy("sec,nsec,op,offset,size\n1,100,R,8192,512\n1,200,W,0,512\n2,50,R,512,4096\n");
    assert!(two.contains("stands in two columns, sec and nsec: join them"), "{two}");
    let same = remedy(
        "time_s,latency_us,op,offset,size\n1,100,R,8192,512\n1,200,W,0,512\n2,50,R,512,4096\n",
    );
    assert!(!same.contains("two columns"), "{same}");
    for other in [
        "ts,latency_s,latency_us,op,offset,size\n1,0,100,R,8192,512\n2,0,200,W,0,512\n3,0,50,R,512,4096\n",
        "time_s,time_us,op,offset,size\n0.1,100000,R,8192,512\n0.2,200000,W,0,512\n0.3,300000,R,512,4096\n",
    ] {
        assert!(!remedy(other).contains("two columns"), "{other}");
    }
    let none = remedy("op,offset,size\nR,8192,512\nW,0,512\nR,512,4096\n");
    assert!(none.contains("no column was found for times, so the requests have none"), "{none}");
}

#[test]
fn logs_of_latencies_json_and_lines_of_different_lengths_are_recognised() {
    let log: String = (0..20)
        .map(|at| {
            format!(
                "{}, {}, {}, 4096, {}\n",
                at / 3,
                50_000 + at * 77 % 13,
                at % 2,
                at * 37 % 11 * 4096
            )
        })
        .collect();
    let error = failure(&log, Options::default());
    let (records, _) = read(&log, suggested(&error));
    assert_eq!((records[3].at.0, records[1].op), (1_000_000, Op::Write), "{error}");
    for json in ["{\"time\": 1, \"op\": \"R\"}\n", "[{\"time\": 1}]\n", "[\n  {\n"] {
        let error = failure(json, Options::default());
        assert!(error.problem.contains("this is JSON") && error.remedy.contains("@csv"), "{error}");
    }
    let lines: String = (0..20)
        .map(|at| format!("{at},R,{},4096{}\n", at * 4096, if at % 3 == 0 { ",x" } else { "" }))
        .collect();
    let ragged = failure(&lines, Options::default());
    assert!(
        ragged.problem.contains("split at commas, its first lines have 4 to 5 fields"),
        "{ragged}"
    );
}

#[test]
fn dates_of_a_coarse_clock_are_times() {
    let line = |at: u64| format!("132000000000000000,R,{},4096\n", at * 7 % 64 * 4096);
    let table: String = (0..64).map(line).collect();
    assert_eq!(told(&table), "time=1:filetime,op=2,offset=3,size=4");
}

#[test]
fn a_size_of_blocks_that_differs_by_line_is_told() {
    let line = |at: u64| format!("{at},R,{},{},{}\n", at * 77 % 100, 512 << (at % 2), 1 + at % 3);
    let table =
        (1..20).fold("time,op,block,block_size,count\n".to_owned(), |all, at| all + &line(at));
    let remedy = failure(&table, Options::default()).remedy;
    assert!(remedy.contains("multiply them by it first"), "{remedy}");
}

#[test]
fn what_databases_and_kernels_call_reads_and_writes_is_known() {
    let table =
        "ts,op,off,len\n1,nvme_cmd_read,8192,512\n2,nvme_cmd_write,0,512\n3,REQ_OP_READ,512,4096\n";
    let (records, _) = read(table, suggested(&failure(table, Options::default())));
    assert_eq!(
        records.iter().map(|record| record.op).collect::<Vec<_>>(),
        [Op::Read, Op::Write, Op::Read]
    );
    let table = "ts,isread,off,len\n1,Y,8192,512\n2,N,0,512\n3,Y,512,4096\n";
    let error = failure(table, Options::default());
    assert!(error.remedy.contains("N=write,Y=read"), "{error}");
    let table = "ts,rw,slba,nlb\n1,R,8192,7\n2,W,0,7\n3,R,512,31\n";
    assert!(failure(table, Options::default()).remedy.contains("add one first"));
}

#[test]
fn a_head_that_r_made_and_an_index_between_tabs_are_told() {
    let line = |at: u64| format!("\"{at}\" {at} \"R\" {} 512\n", at * 77 % 100 * 512);
    let table =
        (1..20).fold("\"ts\" \"op\" \"off\" \"len\"\n".to_owned(), |all, at| all + &line(at));
    let error = failure(&table, Options::default());
    assert!(error.problem.contains("row.names = FALSE"), "{error}");
    let table = "\tts\top\toff\tlen\n0\t1\tR\t8192\t512\n1\t2\tW\t0\t512\n2\t3\tR\t512\t4096\n";
    assert_eq!(told(table), "time=ts,op=op,offset=off,size=len");
}

#[test]
fn logs_of_fio_are_no_traces_of_tencent() {
    let bins = ", 0".repeat(40);
    let histogram: String =
        (1..30).map(|at| format!("{}, 0, 4096, {}, 0{bins}\n", at * 1000, at % 2)).collect();
    let error = failure(&histogram, Options::default());
    assert!(error.problem.contains("fit"), "{error}");
    let log: String = (0..20)
        .map(|at| format!("{}, {}, {}, 4096\n", at / 3, 50_000 + at * 77 % 13, at % 2))
        .collect();
    let error = failure(&log, Options::default());
    assert!(error.remedy.contains("log_offset=1"), "{error}");
}
