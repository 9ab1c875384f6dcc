"""Maintenance, DDL, and deliberate accidents."""

import os
import signal
import time

import psycopg2

from .worker import TABLES, Worker


class Maintainer(Worker):
    """Runs maintenance as cron does, and what an administrator does by hand: packing,
    unpacking, compacting, changing from hours to days and back."""

    # errors that mean: not now, or not this day
    NOT_NOW = ("55000", "55006", "42P01", "P0002")

    def prepare(self):
        # no statement_timeout: it fires early when the clock jumps, and on a busy machine
        # no run would end
        self.run("SET client_min_messages = error")

    def step(self):
        self.attempt("maintenance runs", self.run, "CALL zbxhist.run_maintenance()")
        chance = self.random.random()
        if chance < 0.15:
            self.attempt("unpack", self.by_hand, "unpack", "packed", also=self.NOT_NOW)
        elif chance < 0.35:
            self.attempt("pack", self.by_hand, "pack", "heap", also=self.NOT_NOW)
        elif chance < 0.5:
            self.attempt("compact", self.by_hand, "compact", "packed", also=self.NOT_NOW)
        elif chance < 0.7:
            self.attempt("verifications", self.verify)
        elif chance < 0.8:
            self.attempt("other lengths of partitions", self.alter)
        self.pause(5)

    def by_hand(self, call, kind):
        days = self.run(
            "SELECT DISTINCT parent, (from_time AT TIME ZONE 'UTC')::date FROM zbxhist.partitions"
            " WHERE kind = '%s' AND state <> 'future' AND state <> 'current'" % kind
        )
        if days:
            self.run("CALL zbxhist.%s(%%s, %%s)" % call, self.random.choice(days))
            self.tally.add(call + " by hand")

    def alter(self):
        """Changes the length of partitions; mostly hours, as setup makes them, which splits
        days to come."""
        interval = self.random.choice(("1 hour", "1 hour", "15 minutes", "6 hours", "1 day"))
        self.run(
            "SELECT zbxhist.alter_parent(%s, partition_interval => %s)",
            (self.random.choice(TABLES), interval),
        )

    def verify(self):
        problems = self.run("SELECT * FROM zbxhist.verify(%s)", (self.random.choice(TABLES),))
        if problems:
            self.tally.fault("verify: %s" % (problems[:3],))


class Definer(Worker):
    """DDL and utility commands that change no rows."""

    COMMANDS = (
        "ANALYZE {0}",
        "VACUUM {0}",
        "REINDEX TABLE {0}",
        "REINDEX TABLE CONCURRENTLY {0}",
        "CREATE INDEX CONCURRENTLY soak_index ON {0} (value)",
        "DROP INDEX IF EXISTS soak_index",
        "GRANT SELECT ON {0} TO PUBLIC",
        "REVOKE SELECT ON {0} FROM PUBLIC",
        "COMMENT ON TABLE {0} IS 'soak'",
        "ALTER TABLE {0} SET (autovacuum_enabled = on)",
        "ALTER TABLE {0} ALTER value SET STATISTICS 50",
        "CREATE STATISTICS soak_statistics ON itemid, clock FROM {0}",
        "DROP STATISTICS IF EXISTS soak_statistics",
        "CLUSTER {0} USING {0}_pkey",
        "ALTER TABLE {0} ADD COLUMN IF NOT EXISTS soak integer DEFAULT 7",
        "ALTER TABLE {0} DROP COLUMN IF EXISTS soak",
        "VACUUM (FULL) {0}",
        "SELECT * FROM zbxhist.check()",
        "SELECT * FROM zbxhist.status",
        "SELECT * FROM zbxhist.preview()",
    )

    def prepare(self):
        self.run("SET lock_timeout = '1s'")
        self.run("SET statement_timeout = '2min'")
        self.run("SET client_min_messages = error")

    def drop_leftovers(self, table):
        """Drops the invalid indexes that an interrupted REINDEX CONCURRENTLY leaves.  The next
        one would rebuild each of them, too, and leave twice as many if interrupted."""
        leftovers = self.run(
            "SELECT i.indexrelid::regclass::text FROM pg_index i"
            " WHERE i.indrelid = %s::regclass"
            " AND i.indexrelid::regclass::text ~ '_cc(new|old)[0-9]*$'",
            (table,),
        )
        for (index,) in leftovers or ():
            self.run("DROP INDEX " + index)

    def step(self):
        table = self.random.choice(TABLES)
        command = self.random.choice(self.COMMANDS).format(table)
        self.attempt("leftovers dropped", self.drop_leftovers, table, also=("42704", "42P01"))
        # they exist, or an invalid one is left from a cancel
        self.attempt(
            "DDL and utility commands",
            self.run,
            command,
            also=("42P07", "42710", "42704", "42P01"),
        )
        self.pause(self.plan.pause * 20)


class Saboteur(Worker):
    """Cancels, kills, crashes, fills the disk, moves the clock."""

    def __init__(self, plan, name, server, standby, clock):
        super().__init__(plan, name, server)
        self.standby = standby
        self.clock = clock
        self.turn = 0

    def loop(self):
        while not self.plan.over(margin=30):
            self.step()
        self.clear_disk()
        self.tally.write()

    def step(self):
        self.turn += 1
        self.attempt("cancels", self.cancel)
        if self.turn % 5 == 0:
            self.step_clock()
        every = self.plan.calm
        if self.turn % every == every // 4:
            self.fill_disk()
        if self.turn % every == every // 2:
            self.kill_backend()
        if self.turn % (2 * every) == every:
            self.crash(self.server)
        if self.turn % (4 * every) == 2 * every + every // 4:
            self.crash(self.standby)
        time.sleep(2 + self.random.random() * 2)

    def victims(self, spared=""):
        return [
            row[0]
            for row in self.run(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
                " AND pid <> pg_backend_pid() AND datname = 'soak'"
                " AND application_name NOT IN ('saboteur', %s)",
                (spared,),
            )
        ]

    def cancel(self):
        """Cancels two statements; maintenance only seldom, or on a busy machine it would never
        end."""
        pids = self.victims("" if self.random.random() < 0.15 else "maintainer")
        # after a crash not all of them are back at once
        for pid in self.random.sample(pids, min(2, len(pids))):
            self.run(
                "SELECT %s(%d)"
                % (
                    self.random.choice(
                        ("pg_cancel_backend", "pg_cancel_backend", "pg_terminate_backend")
                    ),
                    pid,
                )
            )

    def step_clock(self):
        """Moves the clock some hours forward, and sometimes back by what ntpd might."""
        back = self.random.random() < 0.2
        self.clock.step(
            -self.random.randrange(90) if back else self.random.randrange(3600, 7 * 3600)
        )
        self.tally.add("clock steps back" if back else "clock steps")

    def kill_backend(self):
        """Kills a backend by SIGKILL: the server restarts all of them."""
        try:
            self.connect()
            pids = self.victims()
            if pids:
                os.kill(self.random.choice(pids), signal.SIGKILL)
                self.tally.add("backends killed")
        except (psycopg2.Error, ProcessLookupError):
            pass
        time.sleep(2)

    def crash(self, server):
        try:
            server.crash()
            self.tally.add("crashes of the " + server.name)
        except (OSError, ValueError) as error:
            self.tally.add("crashes that failed: %s" % type(error).__name__)

    def filler(self):
        return os.path.join(self.plan.place, "small", "filler")

    def fill_disk(self):
        """Fills the file system of one table for a while."""
        if not os.path.isdir(os.path.dirname(self.filler())):
            return
        try:
            with open(self.filler(), "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
        except OSError:
            pass
        self.tally.add("full disks")
        time.sleep(6)
        self.clear_disk()

    def clear_disk(self):
        if os.path.exists(self.filler()):
            os.remove(self.filler())
        self.start_servers()

    def start_servers(self):
        """A server that cannot write during recovery stops; starts it when there is room."""
        for server in (self.server, self.standby):
            if not server.is_running():
                server.start_again()
                self.tally.add("servers that stopped: " + server.name)
