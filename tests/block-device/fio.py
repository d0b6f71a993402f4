"""fio as a client: its nbd engine on a drive, and its report."""

import json

from common import Failure, need, run


def report_in(text):
    """Returns fio's report; the nbd engine prints a line of its own ahead of the JSON."""
    start = text.find("{")
    if start < 0:
        raise Failure(f"fio printed no JSON: {text[:300]}")
    return json.JSONDecoder().raw_decode(text[start:])[0]


def fio(drive, given, *options):
    """Runs a job and returns its report; what it writes follows from the seed."""
    need("fio")
    done = run(
        "fio", "--name=drive", "--ioengine=nbd", f"--uri={drive.uri}", "--output-format=json",
        f"--randseed={given.seed}", f"--aux-path={drive.folder}", *options, limit=900, cwd=drive.folder,
    )  # fmt: skip
    job = report_in(done.stdout)["jobs"][0]
    if job["error"]:
        raise Failure(f"fio reports error {job['error']}")
    return job
