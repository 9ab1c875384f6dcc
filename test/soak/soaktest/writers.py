"""The workers that write.  One transaction makes each change to a managed table and to its
plain twin, so both have the same rows in every snapshot."""

import io

import psycopg2

from .worker import TABLES, Lost, Worker

ITEMS = 400


def value_of(table, chance):
    """A value in Zabbix's output form."""
    if table == "history":
        return chance.choice(
            (
                "%.17G" % (chance.randrange(100000) / 10000),
                "%.17G" % chance.random(),
                str(chance.randrange(100)),
            )
        )
    if table == "history_uint":
        return str(chance.choice((chance.randrange(1000), chance.randrange(2**64))))
    return "'%s'" % chance.choice(
        ("up", "down", "it''s " * chance.randrange(9), "%x" % chance.getrandbits(400))
    )


class Writer(Worker):
    """A history syncer: transactions of multi-row INSERTs, sorted by item."""

    late = False

    def prepare(self):
        self.run("SET statement_timeout = '5min'")
        for (name,) in self.run(
            "SELECT gid FROM pg_prepared_xacts WHERE database = 'soak' AND gid LIKE %s",
            (self.name + ":%",),
        ):
            self.end_prepared(name, self.random.random() < 0.5)
        self.check_acknowledged()

    def end_prepared(self, name, commit):
        self.run("%s PREPARED '%s'" % ("COMMIT" if commit else "ROLLBACK", name))

    def check_acknowledged(self):
        """Values whose commit was acknowledged must be there, whatever has crashed."""
        rows = self.run("SELECT number FROM acknowledged WHERE writer = %s", (self.name,))
        number = rows[0][0] if rows else 0
        if number < getattr(self, "number", 0):
            self.tally.fault("commit %d was acknowledged, %d is there" % (self.number, number))
        self.number = number

    def clock(self):
        if self.late:
            return self.random.randrange(self.horizon() + 7200, self.now())
        return self.now() - self.random.randrange(60)

    def rows(self, table):
        count = self.random.choice((1, 3, 20, 150, 150, 400))
        items = sorted(self.random.sample(range(1, ITEMS + 1), min(count, ITEMS)))
        return [
            (item, self.clock(), self.random.randrange(10**9), value_of(table, self.random))
            for item in items
        ]

    def statement(self, table, rows):
        return "insert into %s (itemid,clock,ns,value) values %s;" % (
            table,
            ",".join("(%d,%d,%d,%s)" % row for row in rows),
        )

    def existing_key(self, table, rows):
        """Sometimes returns a key that exists."""
        if self.random.random() < 0.03:
            found = self.run(
                "SELECT itemid, clock, ns FROM plain_%s WHERE clock >= %d"
                " AND itemid = %d LIMIT 1"
                % (table, self.horizon() + 7200, self.random.randrange(1, ITEMS))
            )
            if found:
                rows.append(found[0] + (value_of(table, self.random),))
        return sorted(rows)

    def transaction(self):
        self.began = self.horizon()
        chosen = [table for table in TABLES if self.random.random() < 0.7] or ["history"]
        stored = 0
        (level,) = self.random.choices(
            ("read committed", "repeatable read", "serializable"), (85, 8, 7)
        )
        self.run("begin isolation level " + level)
        for table in chosen:
            rows = self.existing_key(table, self.rows(table))
            if self.random.random() < 0.05:
                self.run("savepoint undone")
                self.both(table, rows)
                self.run("rollback to undone")
            stored += self.both(table, rows)
        self.run(
            "INSERT INTO acknowledged VALUES (%s, %s) ON CONFLICT (writer)"
            " DO UPDATE SET number = excluded.number",
            (self.name, self.number + 1),
        )
        chance = self.random.random()
        if chance < 0.05:
            raise Lost
        if chance < 0.1:
            self.commit_in_two_phases()
        else:
            self.run("commit")
        self.number += 1
        self.tally.add("values", stored)

    def commit_in_two_phases(self):
        name = "%s:%d" % (self.name, self.random.getrandbits(40))
        self.run("PREPARE TRANSACTION '%s'" % name)
        self.pause(1)
        commit = self.random.random() < 0.8
        try:
            self.end_prepared(name, commit)
        except psycopg2.Error:
            # the next connection ends the prepared transaction
            self.connection.close()
            raise
        self.tally.add("two-phase commits")
        if not commit:
            raise Lost

    def both(self, table, rows):
        """Stores the same rows in both tables; a duplicate in one must be one in the other."""
        self.run("savepoint s")
        for _ in range(5):
            stored = self.stores(self.insert, table, rows)
            if self.stores(self.insert_plain, table, rows) == stored:
                self.tally.add("duplicates", not stored)
                return len(rows) if stored else 0
            self.run("rollback to s")
            if stored:
                break
            # a duplicate that both have deleted meanwhile, or none at all
        self.differ(
            self.began,
            "%s says %s, the plain table the contrary: %s"
            % (table, "new" if stored else "duplicate", self.statement(table, rows)),
        )
        raise Lost

    def stores(self, insert, table, rows):
        """Stores rows; returns false and changes nothing if there is a duplicate."""
        try:
            insert(table, rows)
        except psycopg2.errors.UniqueViolation:
            self.run("rollback to s")
            return False
        return True

    def insert_plain(self, table, rows):
        self.run(self.statement("plain_" + table, rows))

    def insert(self, table, rows):
        chance = self.random.random()
        if 0.1 < chance < 0.15:
            self.copy(table, rows)
        elif 0.15 < chance < 0.2:
            for row in rows[:20]:
                self.run(self.statement(table, [row]))
            if rows[20:]:
                self.run(self.statement(table, rows[20:]))
        elif table == "history" and chance < 0.1:
            self.run(
                "SELECT zbxhist.add(NULL::history, %s, %s, %s, %s::float8[])",
                tuple([row[i] if i < 3 else float(row[i]) for row in rows] for i in range(4)),
            )
        else:
            self.run(self.statement(table, rows))

    def copy(self, table, rows):
        """COPY of rows that the server generates itself."""
        with self.connection.cursor() as cursor:
            cursor.copy_expert(
                "COPY %s (itemid, clock, ns, value) FROM STDIN WITH (FORMAT csv, QUOTE '''')"
                % table,
                io.StringIO("".join("%d,%d,%d,%s\n" % row for row in rows)),
            )

    def step(self):
        self.attempt("late transactions" if self.late else "transactions", self.transaction)
        self.pause(self.plan.pause)


class LateWriter(Writer):
    """Proxies that were offline: late values."""

    late = True

    def rows(self, table):
        return super().rows(table)[: self.random.choice((1, 5, 60))]


class Changer(Worker):
    """DELETE and UPDATE in both tables: clear history, the housekeeper, corrections."""

    def prepare(self):
        self.run("SET statement_timeout = '5min'")

    def step(self):
        if self.random.random() < 0.1:
            self.attempt("deleted items", self.delete_item)
        else:
            self.attempt("changes", self.transaction)
        self.pause(self.plan.pause * 4)

    def delete_item(self):
        item = self.random.randrange(1, ITEMS)
        self.run("BEGIN")
        for table in TABLES:
            self.run("LOCK TABLE plain_%s IN SHARE ROW EXCLUSIVE MODE" % table)
            self.run("DELETE FROM plain_%s WHERE itemid = %d" % (table, item))
        self.run("SELECT zbxhist.delete_item(%d)" % item)
        self.run("COMMIT")

    def where(self):
        item = self.random.randrange(1, ITEMS)
        begin = self.random.randrange(self.horizon() + 7200, self.now())
        # half of them in the hours that are being written
        if self.random.random() < 0.5:
            begin = self.now() - self.random.randrange(7200)
        return self.random.choice(
            (
                "itemid = %d AND clock BETWEEN %d AND %d"
                % (item, begin, begin + self.random.randrange(20000)),
                "itemid IN (%d, %d) AND clock >= %d AND clock < %d"
                % (item, item + 1, begin, begin + 600),
                "clock >= %d AND clock < %d AND itemid %% 50 = %d"
                % (begin, begin + 900, item % 50),
            )
        )

    def transaction(self):
        table, horizon = self.random.choice(TABLES), self.horizon()
        where = self.where()
        change = "DELETE FROM {0} WHERE {1}"
        if self.random.random() < 0.5:
            change = "UPDATE {0} SET value = %s WHERE {1}" % value_of(table, self.random)
        level = self.random.choice(("READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"))
        self.run("BEGIN ISOLATION LEVEL " + level)
        # otherwise one of the two statements could see rows that were written between them
        self.run("LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE" % ("plain_" + table))
        first = self.run(change.format("plain_" + table, where))
        second = self.run(change.format(table, where))
        if level != "READ COMMITTED" and first != second:
            self.differ(
                horizon,
                "%s: %s rows of the plain table, %s of the managed one"
                % (change.format(table, where), first, second),
            )
        if self.random.random() < 0.1:
            raise Lost
        self.run("COMMIT")
        self.tally.add("changed rows", second)


class Janitor(Worker):
    """Deletes from the plain tables what retention has dropped from the managed ones."""

    def step(self):
        for table in TABLES:
            self.attempt(
                "old rows deleted",
                self.run,
                "DELETE FROM plain_%s WHERE clock < %d" % (table, self.horizon() - 2 * 86400),
            )
        self.pause(20)
