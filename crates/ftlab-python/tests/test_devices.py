"""Devices: names of options, values, copies, pickles, and the cache of aged ones."""

import multiprocessing
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftlab as fl
from ftlab import _options, policies
from ftlab._values import catalog, path_of, seam_name, short_names


def paths() -> list[str]:
    return [option["path"] for option in fl.options()]


def test_every_option_has_a_short_name() -> None:
    assert set(short_names().values()) == set(paths())
    for name, path in short_names().items():
        assert path_of(name) == path


def test_the_generated_types_are_the_catalogs() -> None:
    shortest: dict[str, str] = {}
    seams = {seam_name(seam["option"]): seam["option"] for seam in catalog("policies")}
    for name, path in sorted(short_names().items(), key=lambda item: (len(item[0]), item[0])):
        shortest.setdefault(path, name)
    shortest |= {path: name for name, path in seams.items()}
    generated = set(_options.DeviceOptions.__annotations__)
    assert generated == set(shortest.values())


def test_every_generated_name_sets_its_option() -> None:
    """A wrong value of each option is refused with its path, so the name leads to it."""
    texts = {"name", "description", "source"}
    assert {path_of(name) for name in texts} == {"device.name", "device.description", "device.source"}
    for name in set(_options.DeviceOptions.__annotations__) - texts:
        with pytest.raises(fl.ConfigError) as raised:
            fl.device("tiny", **{name: "no such value"})
        assert path_of(name) in str(raised.value), name
        assert f"{name}=" in str(raised.value), name


def test_every_policy_has_a_class() -> None:
    for seam in catalog("policies"):
        group: Any = getattr(policies, seam_name(seam["option"]))
        classes = [one for one in vars(group).values() if isinstance(one, type) and issubclass(one, fl.Policy)]
        made = {one().name for one in classes if one is not fl.Policy}
        assert made == {policy["name"] for policy in seam["policies"]}, seam["option"]


def test_policies_set_their_options() -> None:
    policy = fl.gc.DChoices(draws=3)
    assert policy == fl.gc.DChoices(draws=3) and policy != fl.gc.DChoices(draws=4)
    assert hash(policy) == hash(fl.gc.DChoices(draws=3))
    assert fl.device("tiny", gc=policy) == fl.device("tiny", gc="d-choices", draws=3)
    assert fl.device("tiny", gc=policy) == fl.device("tiny", set={"ftl.gc.victim": "d-choices", "ftl.gc.draws": 3})
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_values_of_all_kinds() -> None:
    same = [
        fl.device("tiny", **given)
        for given in (
            {"blocks_per_plane": 48},
            {"blocks_per_plane": "48"},
            {"blocks_per_plane": np.int32(48)},
            {"nand_blocks_per_plane": 48},
            {"set": {"nand.blocks_per_plane": 48}},
            {"set": ["nand.blocks_per_plane=48"]},
            {"set": "nand.blocks_per_plane=48"},
        )
    ]
    assert len(set(same)) == 1 and same[0] != fl.device("tiny")
    assert fl.device("tiny", cache_ops_read=True) == fl.device("tiny", cache_ops_read="on")
    assert fl.device("tiny", queues=2, arbitration="weighted-round-robin", weights=[1, 2]) == fl.device(
        "tiny", queues=2, arbitration=fl.arbitration.WeightedRoundRobin(weights=(1, 2))
    )


def test_unknown_names_are_corrected() -> None:
    with pytest.raises(fl.UsageError, match="did you mean over_provisioning"):
        fl.device("tiny", over_provisionning="28%")  # type: ignore[call-arg]
    with pytest.raises(fl.UsageError, match="policy may be any of .*scheduler.policy"):
        fl.device("tiny", policy="fifo")  # type: ignore[call-arg]
    for value in (object(), {}, 1j, lambda: None):
        with pytest.raises(fl.UsageError, match="is no value of an option"):
            fl.device("tiny", blocks_per_plane=value)  # type: ignore[arg-type]


def test_but_changes_a_copy(tiny: fl.Device, aged: fl.Device) -> None:
    before = tiny.config
    other = tiny.but(scheduler="read-first")
    assert tiny.config == before and other != tiny
    assert other.but(scheduler="fifo") == tiny
    assert fl.device(tiny, scheduler="read-first") == other
    changed = aged.but(gc="fifo")
    assert changed.is_aged and changed != aged and changed.but(gc="greedy") == aged
    with pytest.raises(fl.FtlabError):
        aged.but(blocks_per_plane=64)
    with pytest.raises(fl.UsageError, match="no state"):
        _ = tiny.state


def test_pickles(tiny: fl.Device, aged: fl.Device) -> None:
    load = fl.workload("mixed-70-30-zipf", requests=500)
    for device in (tiny, tiny.but(gc=fl.gc.DChoices(draws=3)), aged, aged.but(gc="fifo")):
        again = pickle.loads(pickle.dumps(device))
        assert again == device and hash(again) == hash(device)
        assert fl.run(again, load).result_json == fl.run(device, load).result_json
        assert again.but(scheduler="read-first") == device.but(scheduler="read-first")


def test_pickles_of_loads(tiny: fl.Device, root: Path) -> None:
    columns = {"op": np.ones(50, np.uint8), "lba": np.arange(50) * 8, "sectors": np.full(50, 8)}
    text = (root / "presets/workloads/randwrite-4k.toml").read_text()
    for load in (
        fl.workload("randwrite-4k", requests=300),
        fl.workload(text, requests=300),
        fl.trace(root / "examples/traces/office-20k.csv.gz", address="fold", requests=300),
        fl.fio(root / "examples/fio/randrw-70-30.fio", requests=300),
        fl.requests(columns, queue_depth=4, name="own"),
        fl.requests(columns | {"at_ns": np.arange(50) * 1000}),
    ):
        again = pickle.loads(pickle.dumps(load))
        assert repr(again) == repr(load)
        assert fl.run(tiny, again).result_json == fl.run(tiny, load).result_json


def test_the_cache_gives_the_same(tiny: fl.Device, aged: fl.Device, cache: Path) -> None:
    load = fl.workload("mixed-70-30-zipf", requests=500)
    made = fl.age(tiny, seed=11, cache=False)
    before = set((cache / "aged").iterdir())
    first = fl.age(tiny, seed=11)
    assert len(set((cache / "aged").iterdir()) - before) == 1
    kept = list((cache / "aged").iterdir())
    second = fl.age(tiny, seed=11)
    assert list((cache / "aged").iterdir()) == kept
    assert made == first == second
    results = {fl.run(device, load).result_json for device in (made, first, second)}
    assert len(results) == 1


def test_the_cache_is_used(tiny: fl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    aged = fl.age(tiny, seed=12)

    def never(*_: object) -> None:
        raise AssertionError("aged once more")

    monkeypatch.setattr(fl._device._ftlab, "prepare", never)
    assert fl.age(tiny, seed=12) == aged
    for other in ({"seed": 13}, {"precondition": "fill"}):
        with pytest.raises(AssertionError, match="once more"):
            fl.age(tiny, **{"seed": 12, **other})  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="once more"):
        fl.age(tiny.but(gc="fifo"), seed=12)


@pytest.mark.parametrize("damage", [b"", b"no image", None])
def test_a_damaged_file_is_made_anew(tiny: fl.Device, cache: Path, damage: bytes | None) -> None:
    before = {file.name for file in (cache / "aged").glob("*")}
    aged = fl.age(tiny, seed=14, precondition="fill")
    (file,) = [file for file in (cache / "aged").iterdir() if file.name not in before]
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert fl.age(tiny, seed=14, precondition="fill") == aged
    assert file.read_bytes() == whole
    file.unlink()


def test_a_folder_that_takes_no_files(tiny: fl.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FTLAB_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="the aged device is not kept"):
        aged = fl.age(tiny, precondition="fill")
    assert aged.is_aged


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tiny: fl.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    monkeypatch.setenv("FTLAB_CACHE", str(tmp_path / "cache"))
    with pytest.warns(UserWarning, match="the aged device is not kept"):
        fl.age(tiny, precondition="fill")


def _age_in_a_process(seed: int) -> bytes:
    aged = fl.age(fl.device("tiny"), seed=seed, precondition="fill")
    return fl.run(aged, fl.workload("randread-4k", requests=100)).result_json


def test_processes_share_the_cache(cache: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        results = pool.map(_age_in_a_process, [21] * 6, chunksize=1)
    assert set(results) == {_age_in_a_process(21)}
    # Nothing half-written stays.
    assert all(file.suffix == ".ftlab" for file in (cache / "aged").iterdir())


def test_cache_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FTLAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fl.cache_folder() == tmp_path / "ftlab"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert fl.cache_folder() == Path.home() / ".cache" / "ftlab"
