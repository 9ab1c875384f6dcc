"""What happens to the managed tables meanwhile; moved rows and altered columns on the plain
side, too."""

from .server import ARCHIVE
from .statement import Statement
from .tables import DAYS, HOUR, date


class Upkeep:
    """Makes steps: (SQL for the managed side, SQL for the plain side or nothing)."""

    def __init__(self, dice, tables, archived):
        self.dice, self.tables, self.archived = dice, tables, archived

    def begin(self):
        """Steps that begin an episode with an archived day."""
        for table in self.tables if self.archived else ():
            yield f"SELECT zbxhist.alter_parent('{table}', archive_server => '{ARCHIVE}')", None
            if self.dice.chance(70):
                yield f"CALL zbxhist.archive('{table}', '{date(self.archived)}')", None

    def make(self, is_idle):
        """A step; while a transaction is open, only one that does not wait for it."""
        dice = self.dice
        table = dice.pick(list(self.tables))
        day = dice.pick(DAYS)
        when = f"'{table}', '{date(day)}'"
        policy = dice.pick(["never_pack => true", "pack_after => '1 hour'"])
        calm = [
            (3, (f"CALL zbxhist.run_maintenance('{table}')", None)),
            (5, (f"CALL zbxhist.repack({when})", None)),
            (5, (f"CALL zbxhist.compact({when})", None)),
            (5, (f"CALL zbxhist.pack({when})", None)),
            (2, (self.move(table, day), None)),
            # it waits for transactions
            (4 if is_idle else 0.1, (f"CALL zbxhist.unpack({when})", None)),
            (3, (f"SELECT zbxhist.create_partition({when})", None)),
            (2, (f"SELECT count(*) FROM zbxhist.verify('{table}')", None)),
            (1, (f"ANALYZE {table}", f"ANALYZE {table}" if is_idle else None)),
            (1, (f"VACUUM {table}", None)),
            (
                1,
                (
                    f"SELECT zbxhist.alter_parent('{table}', {policy})",
                    None,
                ),
            ),
        ]
        if self.archived:
            place = f"'{table}', '{date(self.archived)}'"
            calm += [
                (6, (f"CALL zbxhist.archive({place})", None)),
                (2, (f"CALL zbxhist.unarchive({place})", None)),
            ]
        if is_idle:
            calm.append(
                (
                    2,
                    (
                        f"CALL zbxhist.drop_day({when}, accept_deletion => true)",
                        f"DELETE FROM {table} WHERE clock >= {day} AND clock < {day + 24 * HOUR}",
                    ),
                )
            )
        return dice.weighted(calm)

    def move(self, table, day):
        """Moves some rows from the parent to a partition, or back."""
        source, target = self.dice.pick(
            [(f"'{table}'", "p.partition"), ("p.partition", f"'{table}'")]
        )
        return (
            f"SELECT zbxhist_internal.move_rows({source}, {target}, p.from_clock, p.to_clock, NULL, {self.dice.pick([1, 10, 3000])})"
            f" FROM zbxhist.list_partitions('{table}') p WHERE p.from_clock = {day} AND p.to_clock < 1000000"
        )


class Columns:
    """ALTER TABLE of columns; the generator's tables follow."""

    def __init__(self, dice, tables):
        self.dice, self.tables = dice, tables
        self.number = 0

    def make(self):
        """A statement, and a function that changes the generator's tables."""
        dice = self.dice
        table = dice.pick(list(self.tables.values()))
        own = [c for c in table.columns if c.startswith("x")]
        self.number += 1
        choice = dice.below(3 if own else 1)
        if choice == 0:
            kind, sql = dice.pick(
                [
                    ("i4", "integer"),
                    ("i4", "integer DEFAULT 7"),
                    ("f8", "float8 NOT NULL DEFAULT 0.5"),
                    ("txt", "text DEFAULT 'new'"),
                    ("num", "numeric(20)"),
                ]
            )
            name = f"x{self.number}"

            def follow():
                table.columns[name] = kind

            return (
                Statement(f"ALTER TABLE {table.name} ADD COLUMN {name} {sql}", "alter"),
                table,
                follow,
            )
        name = dice.pick(own)
        if choice == 1:

            def follow():
                table.columns.pop(name)

            return Statement(f"ALTER TABLE {table.name} DROP COLUMN {name}", "alter"), table, follow
        new = f"x{self.number}"

        def follow():
            table.columns = {new if c == name else c: k for c, k in table.columns.items()}

        return (
            Statement(f"ALTER TABLE {table.name} RENAME COLUMN {name} TO {new}", "alter"),
            table,
            follow,
        )
