"""The transactions of the SQLite check, known to the writer and to the judge; as a program, the writer.

transactions.py DATABASE SEED FIRST JOURNAL CHECKPOINT: commits transaction FIRST and those after it without end, and
prints the number of each once COMMIT has returned.
"""

import hashlib
import random
import sqlite3
import sys

from writer import write_on

SLOTS = 400

# How durable each journal mode must be asked to be so that COMMIT means durable. With a journal that is deleted, FULL
# leaves the deletion to the file system, and the last transaction may be rolled back; EXTRA syncs the folder too.
SYNCHRONOUS = {"wal": "FULL", "truncate": "FULL", "persist": "FULL", "delete": "EXTRA"}


def slots_of(seed, number):
    """Returns which slots a transaction writes."""
    rng = random.Random(f"{seed}.{number}")
    return rng.sample(range(SLOTS), rng.choice([1, 2, 3, 5, 40]))


def payload(seed, number, slot):
    """Returns what a transaction writes to a slot: up to some pages, so that there are overflow pages too."""
    length = random.Random(f"{seed}.{number}.{slot}").choice([20, 300, 1500, 9000])
    return hashlib.shake_128(f"{seed}.{number}.{slot}".encode()).digest(length)


def create(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript(
        """PRAGMA synchronous = EXTRA;
        CREATE TABLE slot (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, payload BLOB NOT NULL);
        CREATE INDEX by_number ON slot (number, id);
        CREATE TABLE last (number INTEGER NOT NULL);
        INSERT INTO last VALUES (0);"""
    )
    database.close()


def commit(database, seed, number):
    database.execute("BEGIN IMMEDIATE")
    for slot in slots_of(seed, number):
        row = (slot, number, payload(seed, number, slot))
        database.execute("INSERT OR REPLACE INTO slot VALUES (?, ?, ?)", row)
    database.execute("UPDATE last SET number = ?", (number,))
    database.execute("COMMIT")


def opened(path, journal, checkpoint):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(f"PRAGMA journal_mode = {journal}")
    database.execute(f"PRAGMA synchronous = {SYNCHRONOUS[journal]}")
    database.execute(f"PRAGMA wal_autocheckpoint = {checkpoint}")
    return database


if __name__ == "__main__":
    path, seed, first, journal, checkpoint = sys.argv[1:]
    database = opened(path, journal, checkpoint)
    write_on(first, lambda number: commit(database, seed, number), errors=(sqlite3.Error, OSError))
