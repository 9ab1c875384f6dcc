# Packed days on another server: whatever is cancelled, killed or disconnected,
# on either server, a day is read as before; only queries that need the other
# server wait for it, and their errors name it; and nothing is left over there.
use strict;
use warnings;

use FindBin;
use IO::Socket::INET;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server(
	'here',
	-allows_streaming => 1,
	autovacuum => 'off',
	hot_standby => 'on',
	session_preload_libraries => 'zbxhist');
plan skip_all => 'postgres_fdw is not installed' unless has_extension($node, 'postgres_fdw');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
my $cold = add_archive_server($node, 'zabbix', 'cold', synchronous_commit => 'off');
is($cold->safe_psql('cold', 'SHOW synchronous_commit'), 'on', 'what is committed there is on disk');

$node->safe_psql(
	'zabbix', qq{
	CREATE TABLE plain (LIKE history INCLUDING ALL);
	CREATE VIEW difference AS
		(SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
		UNION ALL (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);
});
for my $table ('history', 'history_uint')
{
	$node->safe_psql('zabbix',
		"SELECT zbxhist.create_parent('$table', '1 day', retention => '200 years', pack_after => '1 day')"
	);
	$node->safe_psql(
		'zabbix', qq{
		SELECT zbxhist.create_partition('$table', '${\ date($_)}');
		INSERT INTO $table SELECT i, ${\ day($_)} + j * 60, i + j % 7, i * j FROM generate_series(1, 50) i, generate_series(0, 1439) j;
		CALL zbxhist.pack('$table', '${\ date($_)}');
		SELECT zbxhist.alter_parent('$table', archive_server => 'cold');
	}) for -9 .. -6;
}
$node->safe_psql('zabbix', 'INSERT INTO plain SELECT * FROM history');
my $archive = "CALL zbxhist.archive('history', '${\ date(-9)}')";
my $unarchive = "CALL zbxhist.unarchive('history', '${\ date(-9)}')";
my $old =
  "SELECT count(*), sum(value) FROM (SELECT value FROM history WHERE itemid = 7 AND clock < ${\ day(-8)} OFFSET 0) h";
my $expected = $node->safe_psql('zabbix', $old);

# The table reads as its twin.
sub is_whole
{
	my ($name) = @_;

	is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'), 0, $name);
}

# How many days are archived.
sub archived
{
	return $node->safe_psql('zabbix',
		"SELECT count(*) FROM zbxhist.partitions WHERE state = 'archived'");
}

# What is there.
sub groups_there
{
	return $cold->safe_psql('cold',
		'SELECT count(*) FROM zbxhist_archive.packed_group WHERE number > 0');
}

# Maintenance, when what nothing needs has been left for a day.
sub clean
{
	$node->safe_psql(
		'zabbix', q{
		CALL zbxhist.run_maintenance();
		UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days', begun_at = begun_at - interval '2 hours';
		CALL zbxhist.run_maintenance();
	});
}

# ---- a crash or a cut at each step ----

# Some steps, each in a transaction of its own, and one more that is open.
sub begin_steps
{
	my ($steps) = @_;
	my $session = $node->background_psql('zabbix', on_error_stop => 0);
	my $call =
	  "SELECT zbxhist_internal.run_by_hand('history', 'archive', (SELECT partition FROM zbxhist.partitions WHERE parent = 'history'::regclass AND from_clock = ${\ day(-9)}))";

	$session->query($call) for 1 .. $steps;
	$session->query("BEGIN; $call");
	return $session;
}

for my $steps (0 .. 4)
{
	my $session = begin_steps($steps);

	kill_server($node);
	eval { $session->quit };
	start_after_crash($node);
	is_whole("after $steps steps and a crash here");
	is(archived(), 0, '... the day is here');

	if ($steps < 2)
	{
		$session = begin_steps($steps);
		kill_server($cold);
		eval { $session->query('COMMIT') };
		eval { $session->quit };
		my (undef, undef, $error) = $node->psql('zabbix', $archive);
		like($error, qr/could not connect to server "cold"/, 'a server that is down is named');
		start_after_crash($cold);
		is_whole("after $steps steps and a crash there");
	}

	$session = begin_steps($steps);
	eval { $session->quit };
	$node->safe_psql('zabbix', $archive);
	is(archived(), 1, 'it is archived in the end');
	is_whole('... and read');
	$node->safe_psql('zabbix', $unarchive);
	is(archived(), 0, 'and comes back');
	is_whole('... whole');
}
cmp_ok(groups_there(), '>', 0, 'what has been read there stays for a while');
clean();
is(groups_there(), 0, '... and no longer');
is($node->safe_psql('zabbix', 'SELECT count(*) FROM zbxhist.archive_copy'),
	0, '... nor is it noted');

# ---- a day that is changed while it is copied ----

my $session = begin_steps(2);
$session->query('ROLLBACK');
$node->safe_psql('zabbix', "UPDATE $_ SET value = 9 WHERE itemid = 3 AND clock = ${\ day(-9)} + 60")
  for 'history', 'plain';
$session->quit;
$node->safe_psql('zabbix', $archive);
is_whole('a change meanwhile is in it');

# ---- one that does not arrive as it is ----

$node->safe_psql('zabbix', $unarchive);
clean();
$session = begin_steps(1);
$session->query('COMMIT');
$session->quit;
$cold->safe_psql('cold',
	'UPDATE zbxhist_archive.packed_group SET payload = set_byte(payload, 100, get_byte(payload, 100) # 1) WHERE number = 2'
);
$node->safe_psql('zabbix', $archive);
is( $node->safe_psql(
		'zabbix', 'SELECT state, count(*) FROM zbxhist.archive_copy GROUP BY 1 ORDER BY 1'),
	"archived|1\nuseless|1",
	'a copy that is not the same is not taken');
is_whole('... another one is');

# ---- one that has been lost since it was compared ----

$node->safe_psql('zabbix', $unarchive);
clean();
$session = begin_steps(2);
$session->query('COMMIT');
$session->quit;
is($node->safe_psql('zabbix', 'SELECT state FROM zbxhist.archive_copy'),
	'compared', 'a copy that is compared');
$cold->safe_psql('cold', 'DELETE FROM zbxhist_archive.packed_group WHERE number > 0');
$node->safe_psql('zabbix', $archive);
is_whole('... and lost does not take the place of the day');

# ---- readers ----

$node->safe_psql('zabbix', "CALL zbxhist.archive('$_->[0]', '${\ date($_->[1])}')")
  for [ 'history', -8 ], [ 'history_uint', -9 ];
is(archived(), 3, 'three days are archived');
is($node->safe_psql('zabbix', $_->[0]), $_->[1], $_->[2])
  for [
	"SELECT zbxhist.last_values(NULL::history, '{4}', 1, ${\ day(-12)}) = (SELECT h FROM history h WHERE itemid = 4 ORDER BY clock DESC, ns DESC LIMIT 1)",
	't',
	'newest values'
  ],
  [
	"SELECT count(*) FROM zbxhist.range(NULL::history, 4, ${\ day(-9)}, ${\ day(-7)}, 'desc')",
	2880, 'a range, newest first'
  ],
  [
	"SELECT bool_and(s.count = 2880) FROM zbxhist.statistics('history', 4, ${\ day(-9)}, ${\ day(-7)}) s",
	't',
	'statistics'
  ],
  [
	"SELECT count(*) FROM (SELECT itemid, count(*), min(value), max(value), sum(value) FROM history GROUP BY 1 EXCEPT SELECT itemid, count(*), min(value), max(value), sum(value) FROM plain GROUP BY 1) d",
	0,
	'aggregates'
  ],
  [
	"SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 2; SELECT (SELECT sum(value) FROM history WHERE value > 3) = (SELECT sum(value) FROM plain WHERE value > 3)",
	't', 'workers'
  ];

# what a query asks of the other server
sub queries_there
{
	my ($query) = @_;
	my $offset = -s $cold->logfile;

	$node->safe_psql('zabbix', $query);
	return scalar(() = slurp_file($cold->logfile, $offset) =~ /DECLARE/g);
}

$cold->safe_psql('postgres', "ALTER DATABASE cold SET log_statement = 'all'");
is(queries_there($_->[0]), $_->[1], $_->[2])
  for [
	"SELECT * FROM history WHERE itemid = 7 AND clock < ${\ day(-7)}",
	1, 'an item of several days is one query'
  ],
  [
	"SELECT * FROM history WHERE itemid IN (3, 30, 40) AND clock < ${\ day(-7)} ORDER BY clock",
	2, '... several in the order of clocks one for some days together'
  ],
  [
	"SELECT avg(value), min(value), max(value), sum(value), count(*) FROM history WHERE clock < ${\ day(-7)} GROUP BY itemid",
	0,
	'aggregates of whole days are none'
  ],
  [
	"SELECT * FROM history WHERE itemid = 7 AND clock < ${\ day(-7)} ORDER BY clock DESC LIMIT 2",
	1, 'nor do the newest values need more than one'
  ];
$cold->safe_psql('postgres', 'ALTER DATABASE cold RESET log_statement');
is($node->safe_psql('zabbix', 'SET work_mem = 64; SELECT count(*) FROM difference'),
	0, 'with little memory');
is_whole('all together');
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
	0, 'verify() reads it there');

# one snapshot of a server for a transaction, be it of days archived later
$session = $node->background_psql('zabbix', on_error_stop => 0);
$session->query('BEGIN; SELECT value FROM history_uint WHERE itemid = 1 LIMIT 1');
$node->safe_psql('zabbix', "CALL zbxhist.archive('history', '${\ date(-7)}')");
$session->query("SELECT value FROM history WHERE itemid = 1 AND clock >= ${\ day(-7)}");
like(
	$session->{stderr},
	qr/was archived on server "cold" after this transaction had begun/,
	'a day that was archived later is an error, not lost');
$session->{stderr} = '';
$session->query('ROLLBACK');
is($session->query("SELECT count(*) FROM history WHERE itemid = 1 AND clock >= ${\ day(-7)}"),
	2880, 'the next transaction reads it');
$session->quit;

# ---- a standby ----

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
is($standby->safe_psql('zabbix', 'SELECT count(*) FROM difference'),
	0, 'a standby reads archived days');
$standby->stop;

# ---- without the server ----

$cold->stop('fast');
my (undef, undef, $error) = $node->psql('zabbix', $old);
like($error, qr/could not connect to server "cold"/, 'a query that needs it names the server');
is($node->safe_psql('zabbix', $_->[0]), $_->[1], $_->[2])
  for [
	"SELECT count(*) FROM history WHERE itemid = 7 AND clock >= ${\ day(-6)}",
	1440, 'one of later days does without'
  ],
  [
	"SELECT count(*), sum(value) FROM history WHERE itemid = 7 AND clock < ${\ day(-8)}",
	$expected, '... and so does one that directories answer'
  ],
  [
	"EXPLAIN (COSTS OFF) $old",
	$node->safe_psql('zabbix', "EXPLAIN (COSTS OFF) $old"),
	'nor is it needed to plan one'
  ],
  [
	"INSERT INTO history VALUES (7, ${\ day(-9)} + 61, 1, 1), (3, ${\ day(-9)}, 4, 3), (1, ${\ day(-6)}, 5, 7); INSERT INTO plain VALUES (7, ${\ day(-9)} + 61, 1, 1), (3, ${\ day(-9)}, 4, 3), (1, ${\ day(-6)}, 5, 7); SELECT count(*) FROM ONLY history",
	3,
	'late values are stored'
  ];
$node->psql('zabbix', 'CALL zbxhist.run_maintenance()');
is($node->safe_psql('zabbix', 'SELECT count(*) FROM ONLY history'),
	2, 'those of days that are archived wait');
like(
	$node->safe_psql('zabbix', 'SELECT code, message FROM zbxhist.check()'),
	qr/could not connect to server "cold"/,
	'check() tells why');
$cold->start;
$node->safe_psql('zabbix', 'CALL zbxhist.run_maintenance()');
is($node->safe_psql('zabbix', 'SELECT count(*) FROM ONLY history'), 0, 'then they are merged');
is_whole('... and there once');

# ---- a server that does not answer ----

my $silent = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1');
my $merge =
  "SELECT zbxhist_internal.run_step('history', 'merge', (SELECT day FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock = ${\ day(-9)}))";
$node->safe_psql(
	'zabbix', qq{
	INSERT INTO history VALUES (30, ${\ day(-9)} + 63, 1, 1);
	INSERT INTO plain VALUES (30, ${\ day(-9)} + 63, 1, 1);
	ALTER SERVER cold OPTIONS (SET host '127.0.0.1', SET port '${\ $silent->sockport}', DROP connect_timeout);
});
$session = $node->background_psql('zabbix', on_error_stop => 0);
$session->query_until(qr/begun/, "\\echo begun\n$merge;\n");
my $connection = $silent->accept;
is( $node->psql(
		'zabbix',
		"SET lock_timeout = '30s'; DELETE FROM history WHERE itemid = 99 AND clock >= ${\ day(-6)}"
	),
	0,
	'is in the way of no DELETE of other days');
close($silent);
close($connection);
$session->quit;
$node->safe_psql('zabbix',
	"ALTER SERVER cold OPTIONS (SET host '${\ $cold->host}', SET port '${\ $cold->port}', ADD connect_timeout '2'); $merge"
);
is($node->safe_psql('zabbix', 'SELECT count(*) FROM ONLY history'),
	0, '... and its values are merged later');
is_whole('... once');

# ---- one that hangs, with a bound of its own ----

my $locker = $cold->background_psql('cold');
$locker->query_safe('BEGIN; LOCK TABLE zbxhist_archive.packed_group IN ACCESS EXCLUSIVE MODE');
$node->safe_psql('zabbix',
	"ALTER SERVER cold OPTIONS (ADD options '-c statement_timeout=100'); INSERT INTO history VALUES (50, ${\ day(-8)} + 64, 1, 1)"
);
is($node->safe_psql('zabbix', $merge =~ s/${\ day(-9)}/${\ day(-8)}/r),
	'failed', 'what a server does not do in time has failed');
$node->psql('zabbix', 'CALL zbxhist.run_maintenance()');
is( $node->safe_psql(
		'zabbix',
		q{SELECT string_agg(DISTINCT step || ' ' || sqlstate, ', ' ORDER BY step || ' ' || sqlstate), count(*) FILTER (WHERE message !~ 'statement timeout') FROM zbxhist.step_problem;
		  SELECT count(*) FROM zbxhist.parent_state WHERE begun_pid IS NOT NULL}
	),
	"archive_reach 57014, merge 57014|0\n0",
	'... and is no cancel of the run, which comes to its end');
$locker->query_safe('COMMIT');
$locker->quit;
$node->safe_psql(
	'zabbix', qq{
	ALTER SERVER cold OPTIONS (DROP options);
	CALL zbxhist.run_maintenance();
	DELETE FROM history WHERE itemid = 50 AND clock = ${\ day(-8)} + 64;
});
is_whole('... all is there then');

# ---- one that does not answer, and says nothing of a timeout ----

# Maintenance waits so many milliseconds for an answer.
sub limit_answers
{
	my ($limit) = @_;

	$node->safe_psql(
		'zabbix', qq{
		CREATE OR REPLACE FUNCTION zbxhist_internal.set_timeouts(answer_limit integer DEFAULT $limit) RETURNS void
		LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS '\$libdir/zbxhist', 'zbxhist_set_timeouts'
	});
}

# A session that has a connection to the archive server.
sub connected_session
{
	my $session = $node->background_psql('zabbix', on_error_stop => 0);

	is( $session->query(
			"SELECT sum(value) FROM (SELECT value FROM history WHERE itemid = 30 AND clock >= ${\ day(-7)} AND clock < ${\ day(-6)} OFFSET 0) h"
		),
		47515,
		'a session reads the archive');
	return $session;
}

# What a run of maintenance could not do, how many late values wait, and of how many tables the run has not ended.
my $run_result =
  q{SELECT string_agg(DISTINCT step || ' ' || sqlstate, ', ' ORDER BY step || ' ' || sqlstate) FROM zbxhist.step_problem;
	SELECT (SELECT count(*) FROM ONLY history), (SELECT count(*) FROM ONLY history_uint);
	SELECT count(*) FROM zbxhist.parent_state WHERE begun_pid IS NOT NULL};

# A run that waits a second for the server gives this result.
sub ends_in_time
{
	my ($result, $name) = @_;

	limit_answers(1000);
	$node->safe_psql('zabbix', 'CALL zbxhist.run_maintenance()');
	is($node->safe_psql('zabbix', $run_result), $result, $name);
	like(
		$node->safe_psql('zabbix', 'SELECT code, message FROM zbxhist.check()'),
		qr/archive_unreachable\|.*: server "cold" has not answered for 1 seconds$/m,
		'... and check() tells');
	return;
}

$node->safe_psql(
	'zabbix', qq{
	UPDATE zbxhist.packed_day SET merged_at = NULL;
	INSERT INTO history VALUES (2, ${\ day(-7)} + 65, 1, 1), (50, ${\ day(-7)} + 65, 1, 1);
	INSERT INTO plain VALUES (2, ${\ day(-7)} + 65, 1, 1), (50, ${\ day(-7)} + 65, 1, 1);
});
$locker = $cold->background_psql('cold');
$locker->query_safe('BEGIN; LOCK TABLE zbxhist_archive.packed_group IN ACCESS EXCLUSIVE MODE');
ends_in_time("archive_reach 08006, merge 08006\n2|0\n0", 'what maintenance waits for has an end');
$locker->query_safe('COMMIT');
$locker->quit;
limit_answers(60000);
$node->safe_psql('zabbix', 'CALL zbxhist.run_maintenance()');
is_whole('... all is there then');

# ---- one that is stopped: its kernel takes connections, and nobody answers ----

my @stopped;
END { kill 'CONT', @stopped; }

my @connected = map { connected_session() } 1 .. 2;
$node->safe_psql(
	'zabbix', qq{
	UPDATE zbxhist.packed_day SET merged_at = NULL;
	INSERT INTO history VALUES (15, ${\ day(-7)} + 65, 1, 1), (35, ${\ day(-7)} + 65, 1, 1);
	INSERT INTO plain VALUES (15, ${\ day(-7)} + 65, 1, 1), (35, ${\ day(-7)} + 65, 1, 1);
});
@stopped = (
	slurp_file($cold->data_dir . '/postmaster.pid') =~ /^(\d+)/,
	split /\n/,
	$cold->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()'));
kill 'STOP', @stopped;
$session = $connected[0];
$session->query_until(qr/begun/, "\\echo begun\nCALL zbxhist.run_maintenance();\n");
my $waiting =
  q{SELECT pid FROM pg_stat_activity WHERE query ~ '^CALL' AND state = 'active' AND wait_event_type = 'Extension'};
ok($node->poll_query_until('zabbix', "SELECT EXISTS ($waiting)"), 'maintenance waits for it');
is($node->safe_psql('zabbix', "SET lock_timeout = '30s'; $_->[0]"), $_->[1], "... and not $_->[2]")
  for [
	"INSERT INTO history VALUES (51, ${\ day(-7)} + 65, 1, 1); INSERT INTO plain VALUES (51, ${\ day(-7)} + 65, 1, 1); SELECT count(*) FROM ONLY history WHERE itemid = 51",
	1,
	'an INSERT of a day that it has'
  ],
  [
	"SELECT count(*) FROM history WHERE itemid = 7 AND clock >= ${\ day(-6)}",
	1440, 'a SELECT of other days'
  ],
  [ "SELECT pg_cancel_backend(pid) FROM ($waiting) w", 't', 'who cancels it' ];
$session->query('SELECT 1');
like($session->{stderr}, qr/canceling statement due to user request/,
	'a cancel by a person is one');
$session->quit;
is( $node->safe_psql(
		'zabbix', 'SELECT count(*) FROM zbxhist.parent_state WHERE begun_pid IS NOT NULL'),
	1,
	'... and ends the run');

$node->safe_psql('zabbix', "INSERT INTO history_uint VALUES (50, ${\ day(-8)} + 65, 1, 1)");
limit_answers(1000);
for my $session ($connected[1], $node->background_psql('zabbix', on_error_stop => 0))
{
	$session->query('CALL zbxhist.run_maintenance()');
	$session->quit;
	like(
		$node->safe_psql('zabbix', $run_result),
		qr/^archive_reach 080\d\d, merge 080\d\d\n3\|0\n0$/,
		'without a cancel it goes on with other tables');
	like($node->safe_psql('zabbix', 'SELECT code, message FROM zbxhist.check()'),
		qr/archive_unreachable\|/, '... and check() tells');
}
kill 'CONT', splice(@stopped);
limit_answers(60000);
$node->safe_psql('zabbix', 'CALL zbxhist.run_maintenance()');
is($node->safe_psql('zabbix', $run_result), "\n0|0\n0", '... what waits is done when it is there');
is_whole('... once');

# ---- one that answers until it is to commit ----

$cold->safe_psql(
	'cold', q{
	CREATE FUNCTION zbxhist_archive.wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END';
	CREATE CONSTRAINT TRIGGER wait_at_commit AFTER UPDATE ON zbxhist_archive.packed_group
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION zbxhist_archive.wait_at_commit();
});
my $gate = $cold->background_psql('cold');
$gate->query('SELECT pg_advisory_lock(1)');
$node->safe_psql(
	'zabbix', qq{
	UPDATE zbxhist.packed_day SET merged_at = NULL;
	UPDATE zbxhist.parent_state SET begun_at = now() - interval '1 day' WHERE parent = 'history'::regclass;
	INSERT INTO history_uint VALUES (52, ${\ day(-6)} + 65, 1, 1);
});
ends_in_time("archive_reach 08006\n0|0\n0",
	'a COMMIT that waits for a server does not end the run');
limit_answers(60000);
my $committing =
  q{SELECT pid FROM pg_stat_activity WHERE query = 'COMMIT TRANSACTION' AND wait_event = 'advisory'};
$cold->safe_psql('cold', "SELECT pg_terminate_backend(pid, 60000) FROM ($committing) c");
$session = $node->background_psql('zabbix', on_error_stop => 0);
$session->query_until(qr/begun/, "\\echo begun\nCALL zbxhist.run_maintenance();\n");
ok($cold->poll_query_until('cold', "SELECT EXISTS ($committing)"), 'the next run waits, too');
is($node->safe_psql('zabbix', "SELECT pg_cancel_backend(pid) FROM ($waiting) w"),
	't', '... until somebody cancels it');
$session->query('SELECT 1');
like($session->{stderr}, qr/canceling statement due to user request/, '... which ends it');
$session->quit;
is( $node->safe_psql(
		'zabbix', 'SELECT count(*) FROM zbxhist.parent_state WHERE begun_pid IS NOT NULL'),
	1,
	'... at this table');
$gate->query('SELECT pg_advisory_unlock(1)');
$cold->safe_psql(
	'cold', q{
	DROP TRIGGER wait_at_commit ON zbxhist_archive.packed_group;
	DROP FUNCTION zbxhist_archive.wait_at_commit();
});
$node->safe_psql('zabbix', 'CALL zbxhist.run_maintenance()');
is($node->safe_psql('zabbix', $run_result), "\n0|0\n0", '... and the next one does all');
is_whole('... and nothing twice');

# ---- one that does not answer any more when it has been reached ----

# a server that gives the first group, and waits with the others
$cold->safe_psql(
	'cold', q{
	ALTER TABLE zbxhist_archive.packed_group RENAME TO stored_group;
	CREATE FUNCTION zbxhist_archive.pass() RETURNS boolean LANGUAGE plpgsql AS
		'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END';
	CREATE VIEW zbxhist_archive.packed_group AS
		SELECT * FROM zbxhist_archive.stored_group WHERE number = 1 OR zbxhist_archive.pass();
});
$gate->query('SELECT pg_advisory_lock(1)');
$node->safe_psql('zabbix',
	"INSERT INTO $_ VALUES (50, ${\ day(-9)} + 67, 1, 1), (49, ${\ day(-9)} + 67, 1, 1), (2, ${\ day(-9)} + 67, 1, 1)"
) for 'history', 'plain';

# Begins something in a session, and waits until that waits for the server.
sub waiting_session
{
	my ($call) = @_;
	my $session = $node->background_psql('zabbix', on_error_stop => 0);

	$session->query_until(qr/begun/, "\\echo begun\n$call;\n");
	ok( $cold->poll_query_until(
			'cold',
			q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND state = 'active')}
		),
		'a merge waits for the server');
	return $session;
}

$node->safe_psql('zabbix', 'UPDATE zbxhist.packed_day SET merged_at = NULL');
$session = waiting_session('CALL zbxhist.run_maintenance()');
$cold->safe_psql('cold',
	q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE wait_event = 'advisory'});
$gate->query('SELECT pg_advisory_unlock(1)');
$session->query('SELECT 1');
$session->quit;
$gate->query('SELECT pg_advisory_lock(1)');
like(
	$node->safe_psql('zabbix', $run_result),
	qr/^merge (08006|57P01)\n3\|0\n0$/,
	'... and a connection that is lost then does not end the run');
$session = waiting_session($merge);
is( $node->psql(
		'zabbix',
		"SET lock_timeout = '30s'; DELETE FROM history WHERE itemid = 99 AND clock >= ${\ day(-6)}"
	),
	0,
	'... and no DELETE of other days for the merge');
$gate->quit;
like($session->query('SELECT 1'), qr/done/, 'it goes on when the server does');
$session->quit;
$cold->safe_psql(
	'cold', q{
	DROP VIEW zbxhist_archive.packed_group;
	DROP FUNCTION zbxhist_archive.pass();
	ALTER TABLE zbxhist_archive.stored_group RENAME TO packed_group;
});
is($node->safe_psql('zabbix', 'SELECT count(*) FROM ONLY history'), 0, '... and merges');
is_whole('... each value once');

# ---- a restored dump ----

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('zabbix') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE again');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('again'), $dump ], '... is restored');
is($node->safe_psql('again', 'SELECT count(*) FROM difference'), 0, 'and reads the archive');
like($node->safe_psql('again', 'SELECT code FROM zbxhist.check()'),
	qr/archive_of_another/, 'which is not its own');
my $before = groups_there();
$node->safe_psql(
	'again', qq{
	CALL zbxhist.drop_day('history', '${\ date(-9)}');
	CALL zbxhist.run_maintenance();
	UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days';
	CALL zbxhist.run_maintenance();
});
is(groups_there(), $before, '... so that it removes nothing');
is_whole('the first database still has it');
$node->safe_psql('postgres', $_)
  for 'ALTER DATABASE zabbix RENAME TO first', 'ALTER DATABASE again RENAME TO zabbix';
like($node->safe_psql('zabbix', 'SELECT code FROM zbxhist.check()'),
	qr/archive_of_another/, 'nor is it with the name of the first');
unlike($node->safe_psql('first', 'SELECT code FROM zbxhist.check()'),
	qr/archive_of_another/, '... which keeps its own');
$node->safe_psql('postgres', $_)
  for 'DROP DATABASE zabbix', 'ALTER DATABASE first RENAME TO zabbix';

# ---- damage there ----

my $copy = $node->safe_psql('zabbix',
	"SELECT archive_copy FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock = ${\ day(-8)}"
);
$cold->safe_psql('cold',
	"CREATE TABLE kept AS SELECT * FROM zbxhist_archive.packed_group WHERE copy = '$copy'");
for (
	[
		"UPDATE zbxhist_archive.packed_group SET payload = set_byte(payload, 100, get_byte(payload, 100) # 1)",
		'damaged on server "cold"'
	],
	[ 'DELETE FROM zbxhist_archive.packed_group', 'server "cold" does not have group' ])
{
	my ($damage, $told) = @$_;

	$cold->safe_psql('cold', "$damage WHERE copy = '$copy'");
	(undef, undef, $error) = $node->psql('zabbix',
		"SELECT sum(value) FROM (SELECT value FROM history WHERE clock < ${\ day(-7)} OFFSET 0) h");
	like($error, qr/\Q$told/, "an error says: $told");
	like($node->safe_psql('zabbix', "SELECT problem FROM zbxhist.verify('history')"),
		qr/\Q$told/, '... and so does verify()');
	$cold->safe_psql('cold',
		"DELETE FROM zbxhist_archive.packed_group WHERE copy = '$copy'; INSERT INTO zbxhist_archive.packed_group SELECT * FROM kept"
	);
}
is_whole('when it is mended, all is there');

# another database there is no damage
my $salvage = "CALL zbxhist.salvage('zbxhist_packed.${\ partition('history', -8)}')";
$cold->safe_psql('postgres', 'CREATE DATABASE other');
$cold->safe_psql('other', slurp_file("$FindBin::RealBin/../../dist/archive/archive.sql"));
$node->safe_psql('zabbix', "ALTER SERVER cold OPTIONS (SET dbname 'other')");
(undef, undef, $error) = $node->psql('zabbix', $salvage);
like(
	$error,
	qr/server "cold" has none of the days that were archived there/,
	'a day is not salvaged from another server');
is( $node->safe_psql(
		'zabbix', 'SELECT count(*) FROM zbxhist.packed_day WHERE partition IS NOT NULL'),
	0,
	'... and not marked as one that is being unpacked');
$node->safe_psql('zabbix', "ALTER SERVER cold OPTIONS (SET dbname 'cold')");
is_whole('... it is as it was');
$cold->safe_psql('cold',
	"DELETE FROM zbxhist_archive.packed_group WHERE copy = '$copy' AND number = 1");
$node->safe_psql('zabbix', $salvage);
is( $node->safe_psql(
		'zabbix',
		q{SELECT count(*) > 0 AND bool_and(problem ~ 'server "cold" does not have group 1 of') FROM zbxhist.lost_values}
	),
	't',
	'from its own it is, without what is lost');
is( $node->safe_psql('zabbix', 'SELECT count(*) FROM difference'),
	$node->safe_psql('zabbix', 'SELECT sum(rows) FROM zbxhist.lost_values'),
	'... and nothing else');
$node->safe_psql(
	'zabbix', qq{
	DELETE FROM history WHERE clock >= ${\ day(-8)} AND clock < ${\ day(-7)};
	INSERT INTO history SELECT * FROM plain WHERE clock >= ${\ day(-8)} AND clock < ${\ day(-7)};
	CALL zbxhist.pack('history', '${\ date(-8)}');
	CALL zbxhist.archive('history', '${\ date(-8)}');
});

# ---- the end of days ----

$node->safe_psql(
	'zabbix', qq{
	CALL zbxhist.drop_day('history', '${\ date(-9)}');
	DELETE FROM plain WHERE clock < ${\ day(-8)};
	CALL zbxhist.unpack('history', '${\ date(-8)}');
	SET zbxhist.allow_packed_drop = on;
	DROP TABLE history_uint CASCADE;
});
is_whole('dropped, unpacked');
clean();
is($node->safe_psql('zabbix', 'SELECT count(*) FROM zbxhist.archive_copy'),
	1, 'they are gone there');
$node->safe_psql('zabbix', "CALL zbxhist.undo('history')");
is_whole('after undo');
is(groups_there(), 0, '... nothing is there');
is($node->safe_psql('zabbix', 'SELECT count(*) FROM zbxhist.archive_copy'), 0, '... nor noted');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM pg_class WHERE relnamespace = 'zbxhist_packed'::regnamespace"),
	0,
	'... nor is there a foreign table');
log_is_clean($node, undef, qr/damaged on server|does not have group|STATEMENT:  SELECT sum/);

done_testing();
