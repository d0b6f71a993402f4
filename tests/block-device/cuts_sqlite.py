"""Power cuts under SQLite: after each, every acknowledged transaction must be there, whole, in a sound database."""

import sqlite3

import cuts
from common import Loss, say, verdict
from drive import MAKE
from transactions import SYNCHRONOUS, create, payload, slots_of
from writer import last_durable


class Transactions(cuts.Job):
    """One database that lives through all cuts; the model knows which transaction wrote each slot last."""

    def __init__(self, given):
        self.seed, self.journals = given.seed, given.journal or list(SYNCHRONOUS)
        self.number, self.model, self.journal = 0, {}, ""

    def begin(self, path):
        create(path / "database")

    def writers(self, path, rng):
        self.journal = rng.choice(self.journals)
        checkpoint = rng.choice([10, 100, 1000])
        return [("transactions.py", path / "database", self.seed, self.number + 1, self.journal, checkpoint)]

    def check(self, path, printed):
        acknowledged = last_durable(printed[0], self.number)
        database = sqlite3.connect(path / "database", isolation_level=None)
        try:
            self.compare(database, acknowledged)
        except sqlite3.Error as error:
            raise Loss(f"SQLite ({self.journal}): {error}") from None
        finally:
            database.close()

    def compare(self, database, acknowledged):
        said = [row[0] for row in database.execute("PRAGMA integrity_check")]
        if said != ["ok"]:
            raise Loss(f"integrity_check ({self.journal}): {said[:5]}")
        (last,) = database.execute("SELECT number FROM last").fetchone()
        if not acknowledged <= last <= acknowledged + 1:
            raise Loss(f"transaction {acknowledged} was acknowledged ({self.journal}), the database ends with {last}")
        for number in range(self.number + 1, last + 1):
            self.model.update((slot, number) for slot in slots_of(self.seed, number))
        self.number = last
        rows = {slot: (number, data) for slot, number, data in database.execute("SELECT * FROM slot")}
        expected = {slot: (number, payload(self.seed, number, slot)) for slot, number in self.model.items()}
        if rows != expected:
            wrong = [slot for slot in rows.keys() | expected.keys() if rows.get(slot) != expected.get(slot)]
            raise Loss(f"{len(wrong)} slots differ from what transactions up to {last} wrote ({self.journal})")

    def told(self):
        return f"{self.number} transactions, all there"


def arguments(parser):
    cuts.arguments(parser)
    parser.add_argument("--filesystem", choices=MAKE, default="ext4")
    parser.add_argument(
        "--journal", action="append", choices=SYNCHRONOUS, help="journal mode (may be repeated; default: each round draws)"
    )


def main(given):
    job = Transactions(given)
    name = f"SQLite on {given.filesystem}"
    verdict(given, name, lambda: cuts.rounds(given, given.filesystem, job, name))
    say(job.told())
