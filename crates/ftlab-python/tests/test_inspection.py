"""What loads are like: the figures of the program to the last bit, from files and from columns in memory."""

import gzip
import json
import math
import threading
import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Program
from test_running import INTERRUPTED, Child
from test_same_as_program import flags_as_keywords

import ftlab as fl

TRACE = "examples/traces/office-20k.csv.gz"
TABLE = "fuzz/corpus/trace/table.csv"
COLUMNS = {"time": "ts:us", "op": "kind", "offset": "lba:512", "size": "len"}
COLUMNS_FLAG = "time=ts:us,op=kind,offset=lba:512,size=len"
#: What a file says that requests in memory do not.
OF_FILES = {"file", "format", "compression", "units", "assumed", "warnings", "out_of_order"}
#: More than a batch of the reader.
MANY = 40_000


def reached(figures: Any, document: Any) -> int:
    """Checks that each value of the document is an attribute or in a table, and returns how many there are."""
    if is_dataclass(figures):
        names = {field.name for field in fields(figures) if not field.name.startswith("_")} - {"document"}
        assert names - {"accesses"} == set(document) - {"accesses"}
        return sum(reached(getattr(figures, name), value) for name, value in document.items())
    if isinstance(figures, fl.Table):
        assert len(figures) == len(document)
        for row, values in enumerate(document):
            assert list(values) == figures.columns
            for name, value in values.items():
                found = figures[name][row]
                assert math.isnan(found) if value is None else found == value, (name, row)
        return len(document) * len(figures.columns)
    assert figures == document
    assert type(figures) is type(document)
    return 1


def of_program(program: Program, *arguments: object) -> dict[str, Any]:
    """What the program prints, with its flags called as keywords."""
    document: dict[str, Any] = json.loads(program("trace", *arguments, "--json").stdout)
    for name in {"assumed", "warnings"} & set(document):
        document[name] = [flags_as_keywords(text) for text in document[name]]
    return document


@pytest.mark.parametrize(
    ("file", "options", "flags"),
    [
        (TRACE, {}, []),
        (TRACE, {"time_unit": "us", "order_window": 10}, ["--time-unit", "us", "--order-window", 10]),
        (TABLE, {"columns": COLUMNS}, ["--columns", COLUMNS_FLAG]),
        ("fuzz/corpus/trace/small.parquet", {}, []),
        ("fuzz/corpus/trace/alibaba.csv", {"format": "alibaba"}, ["--format", "alibaba"]),
        ("fuzz/corpus/trace/fio-v3.log.zst", {}, []),
        ("fuzz/corpus/trace/small.tar.gz", {}, []),
    ],
)
def test_all_figures_are_those_of_the_program(
    program: Program,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    options: dict[str, Any],
    flags: list[object],
) -> None:
    monkeypatch.chdir(root)
    found = fl.inspect(fl.trace(file, **options), accesses=True)
    expected = of_program(program, "inspect", file, "--accesses", *flags)
    expected["file"] = str(root / expected["file"])
    assert found.document == expected
    assert reached(found, expected) > 100
    assert repr(found) == f"<Inspection of {root / file}: {found.requests:,} requests, {found.format}>"
    # As the program does without --accesses.
    assert fl.inspect(fl.trace(file, **options)).accesses is None


def test_a_comparison_is_that_of_the_program(program: Program, root: Path) -> None:
    first, second = fl.trace(root / TRACE), fl.trace(root / "fuzz/corpus/trace/small.parquet")
    found = fl.compare_loads(first, fl.inspect(second))
    assert found.document == of_program(program, "compare", TRACE, "fuzz/corpus/trace/small.parquet")
    assert reached(found.figures, found.document["figures"]) == 80
    assert reached(found.distances, found.document["distances"]) == 21
    assert found.ratio("requests") == found.second.requests / found.first.requests
    with pytest.raises(KeyError, match="there is no figure request; there are requests, write_ratio"):
        found.ratio("request")
    same = fl.compare_loads(found.first, first)
    assert set(same.distances["total_variation"]) == {0.0} and same.ratio("pages") == 1.0


def test_quantiles_and_tables(root: Path) -> None:
    character = fl.inspect(fl.trace(root / TRACE)).character
    sizes = character.write_bytes
    assert sizes.bins["from"].dtype == np.uint64 and sizes.bins["count"].dtype == np.float64
    each = np.repeat(sizes.bins["mean"].round(), sizes.bins["count"].astype(int))
    for q in (0, 0.25, 0.5, 0.99, 1):
        assert sizes.quantile(q) == each[max(math.ceil(q * len(each)) - 1, 0)]
    assert sizes.bins.units == {"from": "bytes", "count": "", "mean": "bytes"}
    assert pytest.importorskip("polars").DataFrame(character.arrivals.idle).columns == ["at_least_ns", "gaps", "time_ratio"]
    for wrong in (-0.1, 1.1, math.nan, True, "median"):
        with pytest.raises(fl.UsageError, match="q is a share from 0 to 1, not"):
            sizes.quantile(wrong)  # type: ignore[arg-type]
    reads = fl.requests({"op": ["read"], "lba": [0], "sectors": [8]})
    assert fl.inspect(reads).character.write_bytes.quantile(0.5) is None


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Requests of all kinds on many pages, which do not begin at time zero."""
    random = np.random.default_rng(8)
    op = random.choice(4, MANY, p=[0.4, 0.5, 0.05, 0.05])
    return {
        "op": op,
        "lba": random.integers(0, 1 << 22, MANY) * (op != 3),
        "sectors": random.integers(1, 64, MANY) * (op != 3),
        "at_ns": 5_000_000_000 + np.sort(random.integers(0, 10**13, MANY)),
        "stream": random.integers(0, 3, MANY),
        "fua": (op == 1) & (random.integers(0, 2, MANY) == 1),
    }


FRAMES: dict[str, Callable[[Any], Any]] = {
    "dict": lambda arrays: arrays,
    "pandas": lambda arrays: pytest.importorskip("pandas").DataFrame(arrays),
    "polars": lambda arrays: pytest.importorskip("polars").DataFrame(arrays),
    "pyarrow": lambda arrays: pytest.importorskip("pyarrow").table(arrays),
}


def as_parquet(arrays: dict[str, Any], file: Path, compression: str) -> Path:
    """The file of a trace with these requests."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {name: arrays[name] for name in ("lba", "sectors", "stream")}
    op = np.where(arrays["fua"], 4, arrays["op"])
    parquet.write_table(pa.table({**columns, "t_ns": arrays["at_ns"], "op": op}), file, compression=compression)
    return file


def test_checksums_of_pages_are_looked_at(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    numbers = np.arange(5000, dtype=np.uint64)
    table = pa.table({"t_ns": numbers * 1000, "op": numbers % 2, "lba": numbers * 7 % 999 * 8, "sectors": 8 + numbers % 3 * 8})
    file = tmp_path / "theirs.parquet"
    parquet.write_table(table, file, compression="none", use_dictionary=False, write_page_checksum=True)
    requests = fl.inspect(fl.trace(file)).requests
    assert requests == 5000
    whole = file.read_bytes()
    place = whole.index((3000 * 1000).to_bytes(8, "little"))
    file.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
    with pytest.raises(fl.FtlabError, match="not readable as Parquet.*CRC"):
        fl.inspect(fl.trace(file))


def test_units_that_parquet_says_are_not_passed_over(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    numbers = np.arange(200, dtype=np.int64)
    others = {"op": numbers % 2, "lba": numbers * 7 % 99 * 8, "sectors": 8 + numbers % 3 * 8}

    def inspected(times: object, options: dict[str, Any] | None = None, **more: object) -> fl.Inspection:
        file = tmp_path / "t.parquet"
        parquet.write_table(pa.table({"t_ns": times, **others, **more}), file)
        return fl.inspect(fl.trace(file, **(options or {})))

    plain = inspected(numbers * 1_000_000)
    assert plain.duration_ns == 199_000_000
    for unit, per_second, name in (("us", 1_000, "microseconds"), ("ms", 1, "milliseconds")):
        times = pa.array(numbers * per_second, pa.timestamp(unit))
        with pytest.raises(fl.FtlabError, match=f"t_ns holds times in {name}") as told:
            inspected(times)
        assert f"time_unit= {unit};" in str(told.value)
        assert inspected(times, {"time_unit": unit}).duration_ns == 199_000_000
    assert inspected(pa.array(numbers * 1_000_000, pa.timestamp("ns"))).duration_ns == 199_000_000
    decimals = pa.array(list(range(200)), pa.decimal128(15, 2))
    file = tmp_path / "d.parquet"
    table = pa.table({"t_ns": numbers * 1000, **others, "lba": decimals})
    parquet.write_table(table, file, store_decimal_as_integer=True)
    with pytest.raises(fl.FtlabError, match="column lba holds no plain integers"):
        fl.inspect(fl.trace(file))


def test_a_file_of_ours_that_another_program_has_cut_is_whole(program: Program, root: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    program("trace", "convert", root / TRACE, ours)
    table = parquet.read_table(ours)
    # It keeps the texts of the footer, with sums of rows that are not there.
    parquet.write_table(table.slice(0, 100), theirs)
    assert b"ftlab.sums" in parquet.read_metadata(theirs).metadata
    assert fl.inspect(fl.trace(theirs)).requests == 100


@pytest.mark.parametrize("frame", FRAMES)
def test_requests_in_memory_are_like_a_file_of_them(
    program: Program, tmp_path: Path, arrays: dict[str, Any], frame: str
) -> None:
    file = as_parquet(arrays, tmp_path / "same.parquet", "none")
    expected = of_program(program, "inspect", file, "--accesses")
    found = fl.inspect(fl.requests(FRAMES[frame](arrays), name="mine"), accesses=True)
    assert {name: value for name, value in found.document.items() if name not in OF_FILES} == {
        name: value for name, value in expected.items() if name not in OF_FILES
    }
    assert found.character.followed_ratio < 1 and found.fua_writes > 0
    assert (found.file, found.format, found.compression) == ("mine", "requests", "none")
    assert found.units == {"time": "ns", "address": "sector", "size": "sector"}
    assert (found.assumed, found.warnings, found.out_of_order) == ([], [], 0)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_a_table_of_ones_own_is_like_the_file_of_it(program: Program, root: Path, frame: str) -> None:
    library = pytest.importorskip(frame)
    expected = of_program(program, "inspect", TABLE, "--columns", COLUMNS_FLAG)
    found = fl.inspect(fl.requests(library.read_csv(root / TABLE), columns=COLUMNS))
    for name in set(expected) - OF_FILES:
        assert found.document[name] == expected[name], name


@pytest.mark.parametrize("compression", ["snappy", "gzip", "zstd"])
def test_every_compression_of_parquet_reads_the_same(tmp_path: Path, arrays: dict[str, Any], compression: str) -> None:
    plain = fl.inspect(fl.trace(as_parquet(arrays, tmp_path / "plain.parquet", "none")))
    file = as_parquet(arrays, tmp_path / "packed.parquet", compression)
    assert file.read_bytes() != (tmp_path / "plain.parquet").read_bytes()
    found = fl.inspect(fl.trace(file))
    assert found.requests == MANY and found.digest == plain.digest
    assert {**found.document, "file": ""} == {**plain.document, "file": ""}


def test_requests_without_times() -> None:
    found = fl.inspect(fl.requests({"op": ["write", "flush", "read"], "lba": [8, 77, 16], "sectors": [8, 0, 9]}))
    assert (found.duration_ns, found.mean_requests_per_s, found.flushes) == (0, None, 1)
    assert (found.min_lba, found.max_lba_end, found.span_bytes, found.unaligned_4k) == (8, 25, 17 * 512, 1)
    assert found.character.arrivals.gap_variation is None
    assert np.isnan(found.character.arrivals.idle["time_ratio"]).all()
    # Where they are played changes nothing.
    placed = fl.requests({"op": ["read"], "lba": [1 << 40], "sectors": [8]}, address="fold", queue_depth=1)
    assert fl.inspect(placed).max_lba_end == (1 << 40) + 8


@pytest.mark.parametrize(
    ("lba", "sectors"),
    [((1 << 55) - 8, 9), ((1 << 64) - 1, 8), (0, (1 << 31) + 1)],
)
def test_impossible_requests_are_refused(lba: int, sectors: int) -> None:
    at_most = {"op": ["read", "read"], "lba": [0, (1 << 55) - 8], "sectors": [1 << 31, 7]}
    assert fl.inspect(fl.requests(at_most)).read_bytes == ((1 << 31) + 7) * 512
    load = fl.requests({"op": ["read", "read"], "lba": [0, lba], "sectors": [8, sectors]}, name="mine")
    with pytest.raises(fl.UsageError, match="mine.*the request in row 1 is larger than 1 TiB or ends beyond 16 EiB"):
        fl.inspect(load)


def test_failures(program: Program, tmp_path: Path, root: Path) -> None:
    file = tmp_path / "broken.csv"
    file.write_text((root / "fuzz/corpus/trace/alibaba.csv").read_text() + "1,2,three\n")
    load = fl.trace(file, format="alibaba")
    theirs = flags_as_keywords(program("trace", "inspect", file, "--format", "alibaba", fails=True).stderr)
    with pytest.raises(fl.UsageError) as raised:
        fl.inspect(load)
    assert str(raised.value).strip() == theirs
    with pytest.raises(fl.UsageError):
        fl.compare_loads(fl.inspect(fl.trace(root / TRACE)), load)
    file.unlink()
    with pytest.raises(fl.FileError, match="broken.csv"):
        fl.inspect(load)
    for load, name in ((fl.workload("fill"), "fill"), (fl.fio(root / "examples/fio/steps.fio"), "steps")):
        with pytest.raises(fl.UsageError, match=f"{name}.* has no requests before it is played\n  remedy: give a load"):
            fl.inspect(load)
    for wrong in (str(root / TRACE), None, {"op": ["read"]}):
        with pytest.raises(fl.UsageError, match="is no load"):
            fl.inspect(wrong)  # type: ignore[arg-type]
        with pytest.raises(fl.UsageError, match="is no load"):
            fl.compare_loads(fl.requests({"op": ["read"], "lba": [0], "sectors": [1]}), wrong)  # type: ignore[arg-type]
    with pytest.raises(fl.UsageError, match="accesses is True or False, not 1"):
        fl.inspect(fl.trace(root / TRACE), accesses=1)  # type: ignore[arg-type]


def long_trace(file: Path, parts: int) -> Path:
    """A trace without times that is short when it is packed."""
    lines = "".join(f"{'RW'[at % 3 % 2]},{at * 37 % 1000 * 4096},4096\n" for at in range(200_000))
    file.write_bytes(gzip.compress(lines.encode()) * parts)
    return file


LONG = 'columns={"op": 1, "offset": 2, "size": 3}'


def test_ctrl_c(child: Child, tmp_path: Path) -> None:
    file = long_trace(tmp_path / "long.csv.gz", 500)
    done = child(INTERRUPTED.format(before=f'long = fl.trace("{file}", {LONG})', long="fl.inspect(long)", after=""))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "usable\n"


def test_other_threads_run_meanwhile_and_progress_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    load = fl.trace(long_trace(tmp_path / "long.csv.gz", 5), columns={"op": 1, "offset": 2, "size": 3})
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    while (took := time.monotonic() - began) < 0.3:
        assert fl.inspect(load, progress=True).requests == 1_000_000
    done.set()
    thread.join()
    assert counted > took * 250, (counted, took)
    assert "inspect" in capsys.readouterr().err
