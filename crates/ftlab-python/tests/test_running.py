"""What happens around a run: Ctrl-C, other threads, progress, messages of failures."""

import copy
import os
import pickle
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ftlab as fl

Child = Callable[[str], Any]

#: A run that takes far longer than any test.
TEXT = """
name = "long"
[[phase]]
name = "writes"
writes = "100%"
size = "4KiB"
address = { kind = "uniform" }
arrivals = { kind = "closed", queue_depth = 32 }
requests = 1_000_000_000
"""
LONG = f"fl.workload({TEXT!r})"

INTERRUPTED = """
import os, signal, threading, time
import ftlab as fl

tiny = fl.device("tiny")
{before}

def interrupt():
    global sent
    time.sleep(1.0)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    {long}
except KeyboardInterrupt:
    took = time.monotonic() - sent
else:
    raise SystemExit("not interrupted")
assert took < 1.0, took
assert fl.run(tiny, fl.workload("randread-4k", requests=100)).complete
{after}
print("usable")
"""

CASES = {
    "run": ("", f"fl.run(tiny, {LONG})", ""),
    "age": (
        'big = fl.device("plain-32g")',
        'fl.age(big, cache=False, precondition="fill:timed,age:timed")',
        "",
    ),
    "compare": ("", f'fl.compare({{"a": tiny, "b": tiny.but(gc="fifo")}}, {LONG}, seeds=4)', ""),
    "search": (
        "",
        f'fl.search(tiny, {LONG}, {{"gc": ["greedy", "fifo"]}}, maximize="iops", on=fl.Local(2))',
        "",
    ),
    "planning": (
        "",
        'fl.sweep(tiny, fl.workload("randread-4k"), {"over_provisioning": fl.span("10%", "50%", 300), "gc_start": range(2, 300)})',
        "",
    ),
    "stepping": (
        "import numpy as np\nsimulator = fl.open(tiny)\nmany = 2_000_000\n"
        'simulator.submit({"op": np.ones(many, np.uint8), "lba": np.arange(many) % 6000 * 8,'
        ' "sectors": np.full(many, 8)})',
        "simulator.advance()",
        "assert 0 < simulator.outstanding < many",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c(child: Child, case: str) -> None:
    before, long, after = CASES[case]
    done = child(INTERRUPTED.format(before=before, long=long, after=after))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "usable\n"


def test_other_threads_run_meanwhile(tiny: fl.Device) -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    # As many runs as a machine of any speed needs until there is something to count.
    while (took := time.monotonic() - began) < 0.3:
        fl.run(tiny, fl.workload("mixed-70-30-zipf", requests=150_000))
    done.set()
    thread.join()
    # A quarter of what an idle interpreter counts, on a machine that does other things too.
    assert counted > took * 250, (counted, took)


def test_a_simulator_serves_one_thread_at_a_time(tiny: fl.Device) -> None:
    simulator = fl.open(tiny)
    many = 100_000
    simulator.submit({"op": np.ones(many, np.uint8), "lba": np.arange(many) % 6000 * 8, "sectors": np.full(many, 8)})
    failures: list[Exception] = []
    thread = threading.Thread(target=simulator.advance)
    thread.start()
    while thread.is_alive():
        try:
            assert simulator.outstanding <= many
        except fl.UsageError as error:
            failures.append(error)
    thread.join()
    assert failures and "another thread uses this simulator" in str(failures[0])
    assert simulator.outstanding == 0


def test_progress_is_shown_and_cleared(tiny: fl.Device, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    load = fl.workload("mixed-70-30-zipf", requests=150_000)
    fl.run(tiny, load)
    assert capsys.readouterr().err == ""
    fl.run(tiny, load, progress=True)
    assert "requests" in capsys.readouterr().err


def test_a_sweep_shows_how_many_runs_there_are(tiny: fl.Device, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    load = fl.workload("mixed-70-30-zipf", requests=50_000)
    fl.sweep(tiny, load, {"gc": ["greedy", "fifo"]}, seeds=2, progress=True)
    assert "runs:   0%|" in capsys.readouterr().err


def test_a_bar_is_for_terminals_and_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = fl._progress._can_be_seen
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    for shell, is_notebook in ((None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=1), True)):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert seen() == is_notebook
    monkeypatch.delitem(sys.modules, "IPython")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert seen()


def test_what_a_listener_raises_ends_the_run(tiny: fl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(fl._progress.Bar, "listener", property(lambda _: broken))
    with pytest.raises(ZeroDivisionError, match="broken"):
        fl.run(tiny, fl.workload(TEXT))
    with pytest.raises(ZeroDivisionError, match="broken"):
        fl.compare({"a": tiny, "b": tiny.but(gc="fifo")}, fl.workload(TEXT), seeds=1)


def test_kinds_of_failures(tiny: fl.Device, tmp_path: Path) -> None:
    for kind, builtin in (
        (fl.UsageError, ValueError),
        (fl.ConfigError, ValueError),
        (fl.FileError, OSError),
        (fl.ExperimentError, RuntimeError),
    ):
        assert issubclass(kind, fl.FtlabError) and issubclass(kind, builtin)
    with pytest.raises(fl.ConfigError, match="over_provisioning=") as raised:
        fl.device("tiny", over_provisioning="much")
    assert "ftl.over_provisioning" in str(raised.value)
    with pytest.raises(fl.FileError) as file:
        fl.load(tmp_path)
    assert str(tmp_path) in str(file.value) and "remedy: " in str(file.value)
    filled = fl.age(tiny, precondition="fill")
    filled.save(tmp_path / "a.ftlab")
    with pytest.raises(fl.UsageError, match="force="):
        filled.save(tmp_path / "a.ftlab")
    filled.save(tmp_path / "a.ftlab", force=True)
    with pytest.raises(fl.UsageError, match="no device"):
        fl.run("tiny", fl.workload("fill"))  # type: ignore[arg-type]
    with pytest.raises(fl.UsageError, match="no load"):
        fl.run(tiny, "fill")  # type: ignore[arg-type]
    with pytest.raises(fl.UsageError, match="a run has no option queue_dept"):
        fl.run(tiny, fl.workload("fill"), queue_dept=4)  # type: ignore[call-arg]
    with pytest.raises(fl.UsageError, match="no fio jobs"):
        _ = fl.run(tiny, fl.workload("randread-4k", requests=10)).fio


TRACES: dict[str, tuple[str, dict[str, Any]]] = {
    "msr": ("128166372003061629,h,0,Read,0,4096,1\n128166372003061629,h,0,Raed,0,4096,1\n", {}),
    "unknown": ("what is\nthis\n", {}),
    "empty": ("", {}),
    "huge": ("1000 0 0 99999999999 1\n", {"format": "ssdsim"}),
    "far": ("1000 0 99999999999999999 8 1\n", {"format": "ssdsim"}),
    "long": ("1000 0 0 8 1\n99999999999999999 0 0 8 1\n", {"format": "ssdsim"}),
    "forced": ("PAR1", {"format": "parquet"}),
    "format": ("1000 0 0 8 1\n", {"format": "nonesuch"}),
    "unit": ("1000 0 0 8 1\n", {"time_unit": "weeks"}),
    "option": ("1000 0 0 8 1\n", {"tine_unit": "ms"}),
    "outside": ("1000 0 99999999999 8 1\n", {"format": "ssdsim"}),
    "archive": ("PK\x03\x04", {}),
}


@pytest.mark.parametrize("case", TRACES)
def test_no_message_names_a_flag(tiny: fl.Device, tmp_path: Path, case: str) -> None:
    text, reading = TRACES[case]
    (tmp_path / "own.txt").write_text(text)
    with pytest.raises(fl.FtlabError) as raised:
        fl.run(tiny, fl.trace(tmp_path / "own.txt", reading=reading))  # type: ignore[arg-type]
    assert not re.search(r"--[a-z]|ftlab [a-z.]", str(raised.value)), raised.value


def test_problems_of_job_files_name_no_flags(tmp_path: Path) -> None:
    (tmp_path / "jobs.fio").write_text("[j]\nsize=1m\ncreate_only=1\nread_iolog=x\nserialize_overlap=1\n")
    with pytest.raises(fl.UsageError, match="precondition= fill") as raised:
        fl.fio(tmp_path / "jobs.fio")
    assert "replay= asap" in str(raised.value) and "(trace=)" in str(raised.value)
    assert not re.search(r"--[a-z]{2}|ftlab [a-z.]", str(raised.value)), raised.value


def test_notes_name_no_flags(tiny: fl.Device) -> None:
    notes = fl.run(tiny, fl.requests({"op": [0] * 10, "lba": [0] * 10, "sectors": [8] * 10}, queue_depth=1)).notes
    assert any("Write the device first (precondition= fill)" in note for note in notes)


@pytest.mark.parametrize("name", ["own.txt", "x--format.csv", "a `file` b.csv"])
def test_messages_name_keywords_and_keep_the_names_of_files(tiny: fl.Device, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(TRACES["unknown"][0])
    with pytest.raises(fl.UsageError, match="force one with format= to see") as raised:
        fl.trace(file)
    assert str(raised.value).startswith(f"{file}, line 1: ")
    # What a file says is no option either.
    file.write_text(TRACES["msr"][0].replace("Raed", "late"))
    with pytest.raises(fl.UsageError, match=r"found `late`(.|\n)* or skip_malformed= skips such lines"):
        fl.run(tiny, fl.trace(file))


def test_metrics(short_run: fl.Run) -> None:
    summary = short_run.summary
    assert set(summary.units) == set(summary.names) == set(summary)
    requests = short_run.requests.to_numpy()
    reads = requests["latency_ns"][(requests["op"] == 0) & (requests["measured"] == 1)]
    assert short_run["read.latency.mean"] == pytest.approx(reads.mean(), rel=1e-6)
    assert short_run["read.latency.max"] == reads.max()
    p99 = short_run["read.latency.p99"]
    # Percentiles come from a histogram with three digits.
    assert np.quantile(reads, 0.985) <= p99 <= np.quantile(reads, 0.995)
    assert short_run["read.latency.p99"] == summary["read.latency.p99"]
    assert short_run["schema_version"] == short_run.document["schema_version"]
    assert short_run["report.notes.0"] == short_run.document["report"]["notes"][0]
    assert summary.units["read.latency.p99"] == "ns"
    for key in ("read.latency.p98", "report.nothing", "report.notes.x", "report.notes.-1"):
        with pytest.raises(KeyError, match="there is no metric"):
            short_run[key]
    assert "read latency" in repr(short_run) and "<table>" in short_run._repr_html_()


def test_requests_of_a_run_without_records(aged: fl.Device, short_run: fl.Run) -> None:
    again = fl.run(aged, fl.workload("mixed-70-30-zipf", requests=3000), seed=7)
    assert again.result_json == short_run.result_json
    for name, values in again.requests.to_numpy().items():
        assert np.array_equal(values, short_run.requests[name]), name


def test_an_interrupted_comparison_goes_on(child: Child, tmp_path: Path) -> None:
    """What had finished is taken over, and the outcome is that of a comparison at one go."""
    compare = (
        'fl.compare({{"a": tiny, "b": tiny.but(gc="fifo")}}, fl.workload("randread-4k", requests={requests}), seeds=40, '
        'threads=1, output="{output}", progress=False)'
    )
    output = tmp_path / "kept"
    script = f"""
import os, signal, threading, time
from pathlib import Path
import ftlab as fl
tiny = fl.device("tiny")
def interrupt():
    while not list(Path({str(tmp_path)!r}).rglob("result.json")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    {compare.format(requests=30_000, output=output)}
except KeyboardInterrupt:
    print("interrupted")
"""
    done = child(script)
    assert done.stdout == "interrupted\n", done.stderr
    partial = tmp_path / "kept.partial"
    assert (partial / "variants.json").is_file() and not output.exists()
    # run.json says when a run was done.
    finished = {file.relative_to(partial): file.read_bytes() for file in partial.rglob("run.json")}
    assert 0 < len(finished) < 80
    tiny = fl.device("tiny")
    devices = {"a": tiny, "b": tiny.but(gc="fifo")}
    load = fl.workload("randread-4k", requests=30_000)
    again = fl.compare(devices, load, seeds=40, output=output)
    assert {file: (output / file).read_bytes() for file in finished} == finished
    assert again.document == fl.compare(devices, load, seeds=40).document


def test_what_can_be_read_only_once_is_no_trace(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in (pipe, "-", "/dev/null"):
        with pytest.raises(fl.UsageError, match="can be read only once\n.*requests"):
            fl.trace(name)


def test_more_requests_than_a_load_has_are_noted(tiny: fl.Device) -> None:
    columns = {"op": ["read"] * 3, "lba": [0, 8, 16], "sectors": [8] * 3}
    run = fl.run(tiny, fl.requests(columns, queue_depth=1), requests=5)
    assert any("fewer than the 5 that were asked for (requests=)" in note for note in run.notes)
    assert len(run.requests) == 3


def test_a_trace_that_changes_is_another_trace(tiny: fl.Device, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    line = "{},t,0,{},{},4096,0\n"
    times = [129_000_000_000_000_000 + at * 10_000 for at in range(50)]

    def write(op: str, many: int) -> None:
        file.write_text("".join(line.format(at, op, 4096 * place) for place, at in enumerate(times[:many])))

    write("Write", 50)
    first = fl.sweep(tiny, fl.trace(file), {"gc_start": [2]})
    write("Read", 40)
    output = tmp_path / "out"
    second = fl.sweep(tiny, fl.trace(file), {"gc_start": [2]}, output=output)
    assert "write.latency.mean" in first.columns and "read.latency.mean" in second.columns
    write("Write", 50)
    with pytest.raises(fl.UsageError, match="already contains a result"):
        fl.sweep(tiny, fl.trace(file), {"gc_start": [2]}, output=output)


def test_files_stay_the_same_in_another_folder(tiny: fl.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("drive.toml").write_text('base = "tiny"\n')
    Path("load.toml").write_text(TEXT.replace("1_000_000_000", "200"))
    drive, load = fl.device("drive.toml"), fl.workload("load.toml")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    expected = fl.run(drive, load).result_json
    assert fl.run(drive.but(gc="greedy"), pickle.loads(pickle.dumps(load)))["iops"] > 0
    (tmp_path / "drive.toml").write_text('base = "tiny"\n[ftl.gc]\nvictim = "fifo"\n')
    (tmp_path / "load.toml").write_text(TEXT.replace("1_000_000_000", "300"))
    assert fl.run(copy.deepcopy(drive), copy.deepcopy(load)).result_json == expected
    with pytest.raises(fl.UsageError, match="drive.toml has changed"):
        drive.but(gc="greedy")


def test_a_run_is_asked_for_its_metrics_as_a_mapping(short_run: fl.Run) -> None:
    assert "iops" in short_run and "nope" not in short_run and 5 not in short_run
    assert short_run.get("nope", 3) == 3 and short_run.get("iops") == short_run["iops"]
    assert list(short_run) == list(short_run.summary)
    for key, told in [("read.latency.p99.99", "last percentile"), ("trim.latency.p50", "no trims"), (5, "no metric")]:
        with pytest.raises(KeyError, match=told):
            short_run[key]  # type: ignore[index]
