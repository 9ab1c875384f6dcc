"""Sets up the servers, runs the workers, and compares the tables at the end."""

import argparse
import collections
import json
import multiprocessing
import os
import platform
import random
import shutil
import struct
import subprocess
import sys
import time
import traceback

import psycopg2

from . import readers, tally, upkeep, writers
from .servers import PORT, Clock, Server
from .worker import RETENTION_DAYS, TABLES

SCHEMA = """
CREATE EXTENSION zbxhist;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL,
    value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL,
    value numeric(20) DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_text (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL,
    value text DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns)) {space};
CREATE TABLE plain_history (LIKE history INCLUDING ALL);
CREATE TABLE plain_history_uint (LIKE history_uint INCLUDING ALL);
CREATE TABLE plain_history_text (LIKE history_text INCLUDING ALL);
CREATE TABLE acknowledged (writer text PRIMARY KEY, number bigint);
SELECT zbxhist.create_parent(t::regclass, '1 hour', retention => interval '{days} days', pack_after => interval '1 hour')
  FROM unnest(ARRAY['history', 'history_uint', 'history_text']) t;
"""


class Plan:
    """What every worker knows."""

    def __init__(self, place, hours, seed):
        self.place = place
        self.seed = seed
        self.seconds = hours * 3600
        self.end = time.monotonic() + self.seconds
        self.pause = 0.6
        # steps, of about three seconds each, between two accidents of a kind
        self.calm = 16 if hours < 0.5 else 40

    def over(self, margin=0):
        return time.monotonic() > self.end - margin

    def clock_ahead(self):
        with open(os.path.join(self.place, "clock"), "rb") as file:
            return struct.unpack("=q", file.read())[0]


def workers(plan, primary, standby, clock):
    made = [writers.Writer(plan, "writer %d" % n, primary) for n in range(1, 4)]
    made += [
        writers.LateWriter(plan, "late writer", primary),
        writers.Changer(plan, "changer", primary),
        writers.Janitor(plan, "janitor", primary),
        readers.Comparer(plan, "comparer", primary),
        readers.CommittedComparer(plan, "committed comparer", primary),
        readers.SerializableComparer(plan, "serializable comparer", primary),
        readers.RandomReader(plan, "reader 1", primary),
        readers.RandomReader(plan, "reader 2", primary),
        readers.StandbyComparer(plan, "standby comparer", standby),
        readers.StandbyReader(plan, "standby reader", standby),
        upkeep.Maintainer(plan, "maintainer", primary),
        upkeep.Definer(plan, "definer", primary),
        upkeep.Saboteur(plan, "saboteur", primary, standby, clock),
    ]
    return made


def run_worker(worker):
    try:
        worker.loop()
    except Exception:
        worker.tally.fault(traceback.format_exc())


def set_up(place, clock):
    primary = Server(place, "primary", clock)
    primary.create()
    primary.start()
    with primary.connect("set-up", "postgres").cursor() as cursor:
        cursor.execute("CREATE DATABASE soak")
        small = os.path.join(place, "small", "space")
        if os.path.isdir(small):
            cursor.execute("CREATE TABLESPACE small LOCATION '%s'" % small)
    with primary.connect("set-up").cursor() as cursor:
        cursor.execute(
            SCHEMA.format(
                days=RETENTION_DAYS,
                space="TABLESPACE small" if os.path.isdir(small) else "",
            )
        )
    standby = Server(place, "standby", clock, PORT + 1)
    standby.copy_of(
        primary, (small, os.path.join(place, "small", "standby")) if os.path.isdir(small) else None
    )
    standby.start()
    return primary, standby


def sum_up(counts):
    """The sums of all workers' counts."""
    total = collections.Counter()
    for each in counts.values():
        total.update(each)
    return total


def progress(plan):
    """Prints a line every minute."""
    counts, faults = tally.read_all(plan.place)
    total = sum_up(counts)
    print(
        "   %4d s  %d values, %d comparisons, %d SELECTs, %d maintenance runs, %d crashes, %d faults"
        % (
            plan.seconds - (plan.end - time.monotonic()),
            total["values"],
            total["comparisons"],
            total["random SELECTs"],
            total["maintenance runs"],
            total["crashes of the primary"] + total["backends killed"],
            len(faults),
        ),
        flush=True,
    )


def start_zabbix(plan, clock):
    """Starts the real Zabbix; returns when it accepts values."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "zabbix")
    environment = dict(
        os.environ, **clock.environment(), BIN=os.path.dirname(shutil.which("postgres"))
    )
    with open(os.path.join(plan.place, "zabbix.log"), "wb") as log:
        process = subprocess.Popen(
            [program, plan.place, str(plan.seconds)], env=environment, stdout=log, stderr=log
        )
    while not os.path.exists(os.path.join(plan.place, "zabbix", "ready")):
        if process.poll() is not None:
            raise RuntimeError("Zabbix did not start, see zabbix.log")
        time.sleep(1)
    plan.end = time.monotonic() + plan.seconds
    return process


def end_of_zabbix(process):
    """Reports a worker that ended by itself."""
    if process is not None and process.wait(1200) != 0:
        return ["Zabbix' program ended with exit code %d" % process.returncode]
    return []


def run_workers(plan, made, servers):
    """Ends the workers; returns those that failed."""
    processes = [
        multiprocessing.Process(target=run_worker, args=(worker,), name=worker.name)
        for worker in made
    ]
    for process in processes:
        process.start()
    said = cancelled = time.monotonic()
    while any(process.is_alive() for process in processes):
        time.sleep(1)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            progress(plan)
        # nobody waits for a worker that has only just begun
        if plan.over(margin=-15) and time.monotonic() - cancelled > 5:
            cancelled = time.monotonic()
            for server in servers:
                server.cancel_all("end")
        if plan.over(margin=-600):
            return [stop_worker(process) for process in processes if process.is_alive()]
    return [
        "%s ended with exit code %d" % (process.name, process.exitcode)
        for process in processes
        if process.exitcode
    ]


def stop_worker(process):
    process.terminate()
    return "%s did not come to its end" % process.name


def nothing_done(plan, total):
    """Reports what has not succeeded once, because faults in it would not have been seen."""
    kinds = (
        "transactions",
        "late transactions",
        "changes",
        "comparisons",
        "random SELECTs",
        "maintenance runs",
        "DDL and utility commands",
    )
    return ["not one of the %s succeeded" % kind for kind in kinds if not total[kind]]


def settle(ask):
    """Runs maintenance until nothing is left that had to wait for older transactions."""
    for _ in range(20):
        ask("CALL zbxhist.run_maintenance()")
        if not ask("SELECT FROM zbxhist.check() WHERE severity = 'error'"):
            return
        time.sleep(3)


def final_checks(plan, primary, standby):
    """Compares row by row, when all is quiet; also on the standby, and after undo."""
    faults, rows = [], {}
    connection = primary.connect("final")

    def say(what):
        print("   %4d s  %s" % (plan.seconds - (plan.end - time.monotonic()), what), flush=True)

    def ask(sql, where=connection):
        with where.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    ask("SET client_min_messages = error")
    ask("DROP INDEX IF EXISTS soak_index")
    for (name,) in ask("SELECT gid FROM pg_prepared_xacts WHERE database = 'soak'"):
        ask("ROLLBACK PREPARED '%s'" % name)
    say("settling")
    settle(ask)
    say("verifying")
    horizon = int(time.time()) + plan.clock_ahead() - (RETENTION_DAYS - 1) * 86400 + 3600
    for table in TABLES:
        ask("ALTER TABLE %s DROP COLUMN IF EXISTS soak" % table)
        problems = ask("SELECT * FROM zbxhist.verify('%s')" % table)
        if problems:
            faults.append("verify %s: %s" % (table, problems[:3]))
    for line in ask("SELECT code, object, message FROM zbxhist.check() WHERE severity = 'error'"):
        faults.append("check: %s %s: %s" % line)
    size = ask(
        "SELECT kind, count(*), sum(rows)::bigint, sum(bytes)::bigint FROM zbxhist.partitions GROUP BY 1 ORDER BY 1"
    )
    steps = ask(
        "SELECT action, count(*) FILTER (WHERE sqlstate IS NULL), count(sqlstate) FROM zbxhist.maintenance_log"
        " GROUP BY 1 ORDER BY 1"
    )
    position = ask("SELECT pg_current_wal_lsn()")[0][0]
    say("waiting for the standby")
    standby_connection = standby.connect_or_start("final")
    # queries are no longer cancelled by replay
    ask("ALTER SYSTEM SET max_standby_streaming_delay = -1", standby_connection)
    ask("SELECT pg_reload_conf()", standby_connection)
    deadline = time.monotonic() + 300
    while not ask("SELECT pg_last_wal_replay_lsn() >= '%s'" % position, standby_connection)[0][0]:
        time.sleep(0.5)
        if time.monotonic() > deadline:
            faults.append("the standby does not follow")
            break

    def compare(when, where):
        for table in TABLES:
            columns = "itemid, clock, ns, value"
            for left, right in ((table, "plain_" + table), ("plain_" + table, table)):
                missing = ask(
                    "SELECT count(*) FROM (SELECT %s FROM %s WHERE clock >= %d EXCEPT ALL"
                    " SELECT %s FROM %s WHERE clock >= %d) d"
                    % (columns, left, horizon, columns, right, horizon),
                    where,
                )[0][0]
                if missing:
                    faults.append(
                        "%s: %d rows are in %s and not in %s" % (when, missing, left, right)
                    )
            rows[table] = ask(
                "SELECT count(*) FROM %s WHERE clock >= %d" % (table, horizon), where
            )[0][0]

    say("comparing")
    compare("at the end", connection)
    compare("on the standby", standby_connection)
    # undo takes the longest; a short soak undoes one table
    undone = TABLES if plan.seconds >= 1800 else [random.Random(plan.seed).choice(TABLES)]
    say("undo of " + ", ".join(undone))
    for table in undone:
        ask("CALL zbxhist.undo('%s')" % table)
    compare("after undo", connection)
    say("done")
    return faults, {"rows": rows, "partitions": size, "steps": steps}


def summarize(plan, counts, faults, last):
    total = sum_up(counts)
    total.pop("FAULT", None)
    print("\n   figures")
    for what, number in sorted(total.items()):
        print("   %12d  %s" % (number, what))
    for table, number in last["rows"].items():
        print("   %12d  rows of %s at the end" % (number, table))
    for kind, number, rows, size in last["partitions"]:
        print("   %12d  %s partitions with %s values in %s bytes" % (number, kind, rows, size))
    for action, done, failed in last["steps"]:
        print("   %12d  %s by maintenance, %d not at once" % (done, action, failed))
    for number, fault in enumerate(faults[:50]):
        print("\nnot ok %d - %s" % (number + 1, fault.strip().replace("\n", "\n# ")))
    print(
        "\n%d statements, comparisons and accidents, %d faults" % (sum(total.values()), len(faults))
    )
    print("%d passed, %d failed" % (0 if faults else 1, 1 if faults else 0))
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("place")
    parser.add_argument("hours", type=float)
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--json")
    parser.add_argument("--zabbix", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(os.path.join(arguments.place, "tally"))
    clock = Clock(arguments.place)
    print("   seed %s" % arguments.seed, flush=True)
    primary, standby = set_up(arguments.place, clock)
    plan = Plan(arguments.place, arguments.hours, arguments.seed)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    faults, last = [], {"rows": {}, "partitions": [], "steps": []}
    try:
        zabbix = start_zabbix(plan, clock) if arguments.zabbix else None
        faults += run_workers(plan, workers(plan, primary, standby, clock), (primary, standby))
        faults += end_of_zabbix(zabbix)
        counts, found = tally.read_all(plan.place)
        faults += found + nothing_done(plan, sum_up(counts))
        try:
            more, last = final_checks(plan, primary, standby)
            faults += more
        except psycopg2.Error as error:
            faults.append("final checks: %s" % error)
        for server in (primary, standby):
            faults += [
                "log of the %s: %s" % (server.name, line) for line in server.alarming_lines()[:10]
            ]
    finally:
        standby.stop("immediate")
        primary.stop("immediate")
    total = summarize(plan, counts, faults, last)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(
                {
                    "started": started,
                    "hours": arguments.hours,
                    "seed": arguments.seed,
                    "zabbix": arguments.zabbix,
                    "machine": platform.machine(),
                    "cores": os.cpu_count(),
                    "figures": total,
                    "last": last,
                    "faults": faults,
                },
                file,
                indent=1,
                default=str,
            )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
