"""The program and Python give the same bytes: results, comparisons, images, and the messages of failures."""

import json
import re
from pathlib import Path

import pytest
from conftest import Program

import ftlab as fl

TRACE = "examples/traces/office-20k.csv.gz"


def result_of(program: Program, folder: Path, *arguments: object) -> bytes:
    """result.json of a run of the program."""
    program("run", *arguments, "-o", folder)
    return (folder / "result.json").read_bytes()


@pytest.mark.parametrize(
    ("device", "workload", "options"),
    [
        ("tiny", "randwrite-4k", {}),
        ("tiny", "mixed-70-30-zipf", {"precondition": "fill,age"}),
        ("tiny", "randread-4k", {"precondition": "fill"}),
        ("mqsim", "seqwrite-128k", {}),
        ("tiny", "randread-4k", {"queue_depth": 4}),
        ("slc-16g", "msr-hm_0-like", {"replay": "asap"}),
        ("channel-management", "randwrite-4k", {"accesses": True}),
        ("cosmos-openssd", "financial1-like", {"speed": 2}),
    ],
)
def test_presets(program: Program, tmp_path: Path, device: str, workload: str, options: dict[str, object]) -> None:
    flags: list[object] = []
    for name, value in options.items():
        flags += [f"--{name.replace('_', '-')}"] if value is True else [f"--{name.replace('_', '-')}", value]
    arguments = ["--device", device, "--workload", workload, "--requests", 2000, "--seed", 5, *flags]
    run = fl.run(fl.device(device), fl.workload(workload), seed=5, requests=2000, **options)  # type: ignore[arg-type]
    assert run.result_json == result_of(program, tmp_path / "result", *arguments)
    assert run.document == json.loads(run.result_json)


def test_options(program: Program, tmp_path: Path) -> None:
    sets = ["ftl.gc.victim=d-choices", "ftl.gc.draws=3", "ftl.gc.start=3", "ftl.gc.stop=4", "cache.policy=lru", "cache.capacity=1MiB"]
    arguments = [word for text in sets for word in ("--set", text)]
    expected = result_of(
        program, tmp_path / "result", "--device", "tiny", "--workload", "randwrite-4k", "--requests", 2000, *arguments
    )
    load = fl.workload("randwrite-4k", requests=2000)
    keywords = fl.device("tiny", gc=fl.gc.DChoices(draws=3), gc_start=3, gc_stop=4, cache="lru", cache_capacity="1MiB")
    texts = fl.device("tiny", set=sets)
    mapping = fl.device("tiny", set=dict(text.split("=") for text in sets))
    later = fl.device("tiny").but(gc="d-choices", draws=3).but(gc_start=3, gc_stop=4, cache=fl.cache.Lru(), cache_capacity="1MiB")
    for device in (keywords, texts, mapping, later):
        assert fl.run(device, load).result_json == expected


def test_trace_with_address(program: Program, tmp_path: Path, root: Path) -> None:
    for address in ("fold", "compact", "partition:2"):
        common = ["--device", "slc-16g", "--trace", TRACE, "--requests", 3000]
        expected = result_of(program, tmp_path / address.replace(":", ""), *common, "--address", address)
        run = fl.run(fl.device("slc-16g"), fl.trace(root / TRACE, address=address, requests=3000))
        assert run.result_json == expected, address


def test_trace_with_reading_options(program: Program, tmp_path: Path) -> None:
    times = [100 + at * 10 - at % 3 * 15 for at in range(500)]
    lines = (f"{time} 0 {at % 7 * 8} 8 {at % 2}\n" for at, time in enumerate(times))
    (tmp_path / "own.txt").write_text("".join(lines))
    flags = ["--format", "ssdsim", "--time-unit", "us", "--invert-ops", "--order-window", 4, "--late", "clamp"]
    program("run", "--device", "tiny", "--trace", tmp_path / "own.txt", *flags, "-o", tmp_path / "result")
    load = fl.trace(
        tmp_path / "own.txt",
        format="ssdsim",
        time_unit="us",
        invert_ops=True,
        order_window=4,
        late="clamp",
    )
    assert fl.run(fl.device("tiny"), load).result_json == (tmp_path / "result/result.json").read_bytes()


def test_fio_job(program: Program, tmp_path: Path, root: Path) -> None:
    job = "examples/fio/randrw-70-30.fio"
    folder = tmp_path / "result"
    expected = result_of(program, folder, "--device", "tiny", "--precondition", "fill", "--fio", job)
    run = fl.run(fl.device("tiny"), fl.fio(root / job), precondition="fill")
    assert run.result_json == expected
    assert run.fio == json.loads((folder / "fio.json").read_text())


def test_fio_variables(program: Program, tmp_path: Path) -> None:
    (tmp_path / "own.fio").write_text("[job]\nrw=randwrite\nbs=${BLOCK}\nsize=4m\nioengine=libaio\n")
    common = ["--device", "tiny", "--fio", tmp_path / "own.fio"]
    expected = result_of(program, tmp_path / "result", *common, "--fio-var", "BLOCK=8k")
    load = fl.fio(tmp_path / "own.fio", variables={"BLOCK": "8k"})
    assert fl.run(fl.device("tiny"), load).result_json == expected


def test_images_of_either_side(program: Program, tmp_path: Path) -> None:
    made, kept = tmp_path / "made.ftlab", tmp_path / "tiny aged.ftlab"
    program("device", "save", "--device", "tiny", "--precondition", "fill,age", "--seed", 3, "-o", made)
    aged = fl.age(fl.device("tiny"), seed=3, cache=False)
    aged.save(kept)
    assert made.read_bytes() == kept.read_bytes()
    load = fl.workload("mixed-70-30-zipf", requests=2000)
    common = ["--workload", "mixed-70-30-zipf", "--requests", 2000, "--seed", 9]
    expected = result_of(program, tmp_path / "result", "--image", kept, *common)
    assert fl.run(aged, load, seed=9).result_json == expected
    assert fl.run(fl.load(kept), load, seed=9).result_json == expected
    # Results name the image.
    of_made = result_of(program, tmp_path / "of-made", "--image", made, *common)
    assert fl.run(fl.load(made), load, seed=9).result_json == of_made
    changed = result_of(program, tmp_path / "changed", "--image", kept, *common, "--set", "ftl.gc.victim=fifo")
    assert changed != expected
    assert fl.run(aged.but(gc="fifo"), load, seed=9).result_json == changed
    assert fl.run(fl.load(kept, gc="fifo"), load, seed=9).result_json == changed


def test_comparison(program: Program, tmp_path: Path) -> None:
    program(
        *["compare", "tiny", "--workload", "mixed-70-30-zipf", "--requests", 1000, "--seeds", 2],
        *["--variant", "greedy:ftl.gc.victim=greedy", "--variant", "fifo:ftl.gc.victim=fifo"],
        *["--precondition", "fill", "-o", tmp_path / "program"],
    )
    tiny = fl.device("tiny")
    comparison = fl.compare(
        {"greedy": tiny.but(gc="greedy"), "fifo": tiny.but(gc="fifo")},
        fl.workload("mixed-70-30-zipf", requests=1000),
        seeds=2,
        precondition="fill",
        output=tmp_path / "python",
    )
    theirs = json.loads((tmp_path / "program/compare.json").read_text())
    ours = json.loads((tmp_path / "python/compare.json").read_text())
    assert ours == comparison.document
    assert ours == theirs
    results = [f"{name}/seed-{seed}/result.json" for name in ("greedy", "fifo") for seed in (1, 2)]
    found = {file.relative_to(tmp_path / "program") for file in (tmp_path / "program").rglob("result.json")}
    assert len(found) == len(results)
    for file in found:
        assert (tmp_path / "python" / file).read_bytes() == (tmp_path / "program" / file).read_bytes()


def test_saved_results_are_the_programs(program: Program, tmp_path: Path, short_run: fl.Run) -> None:
    run = fl.run(fl.device("tiny"), fl.workload("randwrite-4k", requests=1000))
    run.save(tmp_path / "python")
    program("run", "--device", "tiny", "--workload", "randwrite-4k", "--requests", 1000, "-o", tmp_path / "program")
    names = {file.name for file in (tmp_path / "program").iterdir()}
    assert {file.name for file in (tmp_path / "python").iterdir()} == names
    for name in names - {"run.json"}:
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name
    with pytest.raises(fl.FtlabError, match="force="):
        run.save(tmp_path / "python")
    run.save(tmp_path / "python", force=True)
    program("compare", tmp_path / "python", tmp_path / "program", "-o", tmp_path / "both")


def test_explanations_and_lists(program: Program) -> None:
    for path in ("ftl.gc.victim", "greedy", "nand.timing", "cache.capacity"):
        # The program breaks lines.
        assert fl.explain(path).split() == program("explain", path).stdout.split()
    assert {one["name"] for one in fl.devices()} <= set(program("list", "devices").stdout.split())
    assert "tiny" in {one["name"] for one in fl.devices()}


def flags_as_keywords(text: str) -> str:
    """The options in a message, as Python calls them."""
    text = re.sub(r"^error: ", "", text.strip())
    text = re.sub(r"(?<!\w)-o\b", "output=", text)
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda found: f"{found[1].replace('-', '_')}=", text)


@pytest.mark.parametrize(
    ("arguments", "ask", "kind"),
    [
        (["run", "--device", "tyni", "--workload", "fill"], lambda: fl.device("tyni"), fl.FtlabError),
        (
            ["run", "--device", "tiny", "--workload", "randwrite-4"],
            lambda: fl.workload("randwrite-4"),
            fl.UsageError,
        ),
        (
            ["run", "--device", "tiny", "--workload", "randwrite-4k", "--speed", "2"],
            lambda: fl.run(fl.device("tiny"), fl.workload("randwrite-4k", speed=2)),
            fl.UsageError,
        ),
        (
            ["run", "--device", "tiny", "--workload", "randwrite-4k", "--replay", "closed", "--address", "fold"],
            lambda: fl.run(fl.device("tiny"), fl.workload("randwrite-4k", replay="closed"), address="fold"),
            fl.UsageError,
        ),
        (
            ["run", "--device", "tiny", "--trace", "nowhere.csv"],
            lambda: fl.trace("nowhere.csv"),
            fl.FileError,
        ),
        (
            ["run", "--image", "README.md", "--workload", "fill"],
            lambda: fl.load("README.md"),
            fl.FtlabError,
        ),
        (
            ["run", "--device", "tiny", "--trace", TRACE],
            lambda: fl.run(fl.device("tiny"), fl.trace(TRACE)),
            fl.UsageError,
        ),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, list) else None,
)
def test_messages(
    program: Program,
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
    arguments: list[str],
    ask: "object",
    kind: type[Exception],
) -> None:
    monkeypatch.chdir(root)
    theirs = flags_as_keywords(program(*arguments, fails=True).stderr)
    with pytest.raises(kind) as raised:
        ask()  # type: ignore[operator]
    assert str(raised.value).strip().removeprefix("error: ") == theirs
