"""Databases that are libraries: each in a process of its own, whose CPU is the database's.

The process is started for a data set, takes SQL one text after another, and
tells how long each took; what it answers is turned into rows afterwards.
"""

import importlib
import multiprocessing
import os
import time


class Chdb:
    """ClickHouse, as chDB has it."""

    MODULE = "chdb"

    def __init__(self, directory):
        session = importlib.import_module("chdb.session")
        self.session = session.Session(directory)

    def run(self, sql):
        """One statement; its answer as text, as its server would send it."""
        return self.session.query(sql, "TabSeparated")

    @staticmethod
    def rows(answer):
        """Rows of text."""
        return [line.split("\t") for line in answer.bytes().decode().splitlines()]


class Duckdb:
    """DuckDB."""

    MODULE = "duckdb"

    def __init__(self, directory):
        del directory  # its files are attached
        self.connection = importlib.import_module("duckdb").connect()

    def run(self, sql):
        """One statement; its answer as arrays."""
        cursor = self.connection.execute(sql)
        return cursor.fetchnumpy() if cursor.description else {}

    @staticmethod
    def rows(answer):
        """Rows of numbers."""
        return [list(row) for row in zip(*(column.tolist() for column in answer.values()))]


def serve(library, directory, pipe):
    """What the process does: (SQL) comes, (seconds, seconds of CPU, rows, error) goes."""
    # what they leave on standard output belongs to nobody
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    database = library(directory)
    pipe.send(None)
    while True:
        try:
            sql = pipe.recv()
        except EOFError:
            return
        started, cpu = time.perf_counter(), time.process_time()
        try:
            answer = database.run(sql)
            seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
            pipe.send((seconds, cpu, database.rows(answer), None))
        except Exception as error:  # pylint: disable=broad-except
            pipe.send((0, 0, None, "%s: %s" % (sql[:100], error)))


class Worker:
    """The process of one library."""

    def __init__(self, library, directory):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(library, str(directory), theirs), daemon=True
        )
        self.process.start()
        theirs.close()
        self.receive()

    def receive(self):
        """What the process sends."""
        try:
            return self.pipe.recv()
        except EOFError:
            raise RuntimeError("%s has ended" % self.process.name) from None

    def ask(self, sql):
        """One statement: seconds, seconds of CPU, rows."""
        self.pipe.send(sql)
        seconds, cpu, rows, error = self.receive()
        if error:
            raise RuntimeError(error)
        return seconds, cpu, rows

    def stop(self):
        """Ends the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
