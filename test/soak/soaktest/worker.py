"""What all workers share: a connection that is reopened, and the list of expected errors."""

import random
import time

import psycopg2

from .tally import Tally

TABLES = ("history", "history_uint", "history_text")
RETENTION_DAYS = 6

# retry, cancelled, terminated, crashed, disk full, lock timeout
EXPECTED = {"40P01", "40001", "57014", "57P01", "57P02", "57P03", "53100", "55P03", "connection"}


class Lost(Exception):
    """The transaction was rolled back; begin again."""


class Worker:
    """A process with a connection of its own."""

    expected = EXPECTED

    def __init__(self, plan, name, server):
        self.plan = plan
        self.name = name
        self.server = server
        self.tally = Tally(plan.place, name)
        self.random = random.Random("%s-%s" % (plan.seed, name))
        self.connection = None

    def connect(self):
        while self.connection is None or self.connection.closed:
            self.connection = self.server.connect(self.name)
            self.tally.add("connections")
            try:
                self.prepare()
            except psycopg2.Error as error:
                if self.code(error) not in self.expected:
                    raise
                self.connection.close()

    def prepare(self):
        """Settings of a new session."""

    def run(self, sql, parameters=None):
        """Runs a statement and returns its rows; raises psycopg2's errors."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else cursor.rowcount

    def forget(self):
        """Ends the transaction, or the connection if that fails."""
        if self.connection is None or self.connection.closed:
            return
        try:
            self.run("ROLLBACK")
        except psycopg2.Error:
            self.connection.close()

    def attempt(self, what, function, *arguments, also=()):
        """Runs a transaction.  Expected errors, and those with the given codes, are counted;
        others are faults."""
        try:
            self.connect()
            result = function(*arguments)
            self.tally.add(what)
            return result
        except psycopg2.Error as error:
            code = self.code(error)
            if code in self.expected or code in also:
                self.tally.add("%s: %s" % (what, code))
            else:
                self.tally.fault(
                    "%s %s: %s %s" % (what, " ".join(map(str, arguments)), code, str(error).strip())
                )
            self.forget()
        except Lost:
            self.tally.add("%s: undone" % what)
            self.forget()
        return None

    def code(self, error):
        """The error's SQLSTATE, or "connection" if the connection was lost."""
        if error.pgcode:
            return error.pgcode
        gone = self.connection is None or self.connection.closed
        gone = gone or any(
            part in str(error) for part in ("server closed", "connection", "SSL", "terminat")
        )
        return "connection" if gone else "client"

    def now(self):
        """The servers' clock."""
        return int(time.time()) + self.plan.clock_ahead()

    def horizon(self):
        """Rows before this clock may have been dropped by retention."""
        return self.now() - (RETENTION_DAYS - 1) * 86400 + 3600

    def differ(self, horizon, text):
        """A fault: rows from that horizon on are not the same in both tables.

        Unless a whole day has gone by in between, as the clock jumps and the
        machine may be busy: then retention may have dropped some of them.
        """
        if self.horizon() - horizon > 86400:
            self.tally.add("comparisons that retention has overtaken")
        else:
            self.tally.fault(text)

    def pause(self, seconds):
        """Sleeps for a part of that time, but not beyond the end."""
        seconds *= self.random.random()
        time.sleep(max(0, min(seconds, self.plan.end - time.monotonic())))

    def loop(self):
        while not self.plan.over():
            self.step()
        self.tally.write()
