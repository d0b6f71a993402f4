#!/usr/bin/env python3
"""Runs the examples of README and docs/howto: examples.py PROGRAM [PAGE ...]

A comment before a fenced block says what to do with it:

    <!-- run -->                  run its commands; a `console` block has `$ ` before a command and what it prints below,
                                  with `...` for any lines
    <!-- run: s/a/b/ s/c/d/ -->   replace a by b and c by d first, mostly to make the run smaller
    <!-- prints: TEXT -->         the commands print a line that contains TEXT
    <!-- file: NAME -->           write the block to this file

The blocks of a page run in order, in one scratch folder that has the project's examples/.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"<!-- (run|prints|file)(?:: (.*))? -->")
SUBSTITUTION = re.compile(r"s/((?:[^/\\]|\\.)*)/((?:[^/\\]|\\.)*)/")


def blocks(text):
    """Yields (comments, language, body) of each fenced block that comments stand before."""
    comments, body = [], None
    for line in text.splitlines():
        if body is not None:
            if line == "```":
                yield comments, language, "\n".join(body)
                comments, body = [], None
            else:
                body.append(line)
        elif found := COMMENT.fullmatch(line):
            comments.append(found.groups())
        elif comments and line.startswith("```"):
            language, body = line[3:], []
        elif comments:
            raise ValueError(f"no block follows <!-- {comments[-1][0]} -->")


def missing(promised, printed):
    """Returns the first promised line that is not printed in its place, or None."""
    rest, anywhere = iter(printed), True
    for line in promised:
        if line == "...":
            anywhere = True
        elif anywhere:
            if line not in rest:
                return line
            anywhere = False
        elif next(rest, None) != line:
            return line
    return None


def run(comments, language, body, folder, environment):
    """Runs a block and returns what is wrong with it, or None."""
    body = body.replace("\\\n", " ")
    shrunk = False
    for word, rest in comments:
        for old, new in SUBSTITUTION.findall(rest or "") if word == "run" else []:
            shrunk = True
            if old not in body:
                return f"s/{old}/{new}/ finds nothing"
            body = body.replace(old, new)
    command, promised = body, []
    if language == "console":
        lines = body.splitlines()
        command = "\n".join(line[2:] for line in lines if line.startswith("$ "))
        promised = [line for line in lines if not line.startswith("$ ")]
    done = subprocess.run(
        ["sh", "-euc", command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL, capture_output=True
    )
    if done.returncode:
        return f"exit code {done.returncode}\n{command}\n{done.stdout}{done.stderr}"
    if not shrunk and (line := missing(promised, done.stdout.splitlines())) is not None:
        return f"does not print in its place: {line}\n{command}\n{done.stdout}"
    for word, text in comments:
        if word == "prints" and text not in done.stdout:
            return f"does not print: {text}\n{command}\n{done.stdout}"
    return None


def main(program, *pages):
    pages = [Path(page) for page in pages] or [ROOT / "README.md", *sorted((ROOT / "docs/howto").glob("*.md"))]
    failed = total = 0
    for page in pages:
        began, ran = time.monotonic(), 0
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            (folder / "bin").mkdir()
            (folder / "bin/ftlab").symlink_to(Path(program).resolve())
            (folder / "examples").symlink_to(ROOT / "examples")
            environment = os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
            for comments, language, body in blocks(page.read_text(encoding="utf-8")):
                words = dict(comments)
                if "file" in words:
                    (folder / words["file"]).write_text(body + "\n", encoding="utf-8")
                    continue
                ran += 1
                if problem := run(comments, language, body, folder, environment):
                    failed += 1
                    print(f"{page}: {problem}", file=sys.stderr)
        total += ran
        if ran:
            print(f"{time.monotonic() - began:5.1f} s  {page.resolve().relative_to(ROOT)}: {ran} run")
    if not total:
        failed = 1
        print("no example was found", file=sys.stderr)
    print(f"{total} examples, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
