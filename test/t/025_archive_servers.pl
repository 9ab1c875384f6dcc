# Archived days on two servers: one query reads both, retention and maintenance look
# after both.  One of them away: by a setting a SELECT goes on without it, and says what is
# missing; nothing that keeps or changes rows does.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('here', autovacuum => 'off', session_preload_libraries => 'zbxhist');
plan skip_all => 'postgres_fdw is not installed' unless has_extension($node, 'postgres_fdw');

create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
my %cold = map { $_ => add_archive_server($node, 'zabbix', $_) } 'north', 'south';
create_packed_history(
	$node,
	'zabbix',
	'i, :from + j * 600, i * j, i + j % 7 FROM generate_series(1, 30) i, generate_series(0, 143) j',
	9,
	8,
	7,
	6,
	5,
	4);

# days of both servers by turns, and two that stay
for ([ 9, 'north' ], [ 8, 'south' ], [ 7, 'north' ], [ 6, 'south' ])
{
	my ($ago, $server) = @$_;

	$node->safe_psql(
		'zabbix', qq{
		SELECT zbxhist.alter_parent('history', archive_server => '$server');
		CALL zbxhist.archive('history', '${\ date(-$ago)}');
	});
}

# What a session says, and what goes to it besides.
sub ask
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('zabbix', $sql);

	return ($out, $err);
}

# The table reads as its twin.
sub is_whole
{
	my ($name) = @_;

	is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'), 0, $name);
}

sub groups_on
{
	my ($server) = @_;

	return $cold{$server}
	  ->safe_psql('cold', 'SELECT count(*) FROM zbxhist_archive.packed_group WHERE number > 0');
}

# ---- both ----

is( $node->safe_psql(
		'zabbix',
		"SELECT string_agg(server || ' ' || n, ', ' ORDER BY server) FROM (SELECT server, count(*) AS n FROM zbxhist.archive_copy GROUP BY 1) c"
	),
	'north 2, south 2',
	'two days on each');
is_whole('one query reads both, and what is here');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM zbxhist.range(NULL::history, 7, ${\ day(-10)}, ${\ day(0)}, 'desc')"),
	6 * 144,
	'... so does a function');

# Each server's rows wait for a lock there: both queries are seen to wait at once.
my %gate;
for my $server (sort keys %cold)
{
	$cold{$server}->safe_psql(
		'cold', q{
		ALTER TABLE zbxhist_archive.packed_group RENAME TO stored_group;
		CREATE FUNCTION zbxhist_archive.pass() RETURNS boolean LANGUAGE plpgsql AS
			'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END';
		CREATE VIEW zbxhist_archive.packed_group AS SELECT * FROM zbxhist_archive.stored_group WHERE zbxhist_archive.pass();
	});
	$gate{$server} = $cold{$server}->background_psql('cold');
	$gate{$server}->query('SELECT pg_advisory_lock(1)');
}
my $reading = $node->background_psql('zabbix');
$reading->query_until(qr/begun/,
	"\\echo begun\nSELECT count(*) FROM (SELECT value FROM history WHERE itemid = 7 ORDER BY clock DESC OFFSET 0) h;\n"
);
for my $server (sort keys %cold)
{
	ok( $cold{$server}->poll_query_until(
			'cold',
			q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND state = 'active')}
		),
		"server $server is at work while the other one is, too");
}
$_->quit for values %gate;
like($reading->query('SELECT 1'), qr/864/, '... for all rows of an item');
$reading->quit;
$cold{$_}->safe_psql(
	'cold', q{
	DROP VIEW zbxhist_archive.packed_group;
	DROP FUNCTION zbxhist_archive.pass();
	ALTER TABLE zbxhist_archive.stored_group RENAME TO packed_group;
}) for keys %cold;

# ---- one is away ----

my $go_on = 'SET zbxhist.ignore_archive_failure = on';
my $all = 'SELECT count(*), sum(value) FROM history WHERE itemid = 7';
my $there =
  "SELECT count(*), sum(value) FROM plain WHERE itemid = 7 AND NOT (clock >= ${\ day(-8)} AND clock < ${\ day(-7)} OR clock >= ${\ day(-6)} AND clock < ${\ day(-5)})";
my $expected = $node->safe_psql('zabbix', $there);
my $missing =
  qr/WARNING:  2 archived days with up to \d+ rows are missing, for server "south" cannot be reached\nDETAIL:  Days: from "history_p\d+" to "history_p\d+"\.  Reason: connection to server/;

$cold{south}->stop('fast');
my ($out, $err) = ask($all);
like(
	$err,
	qr/ERROR:  could not connect to server "south"/,
	'a server that is away is an error, with its name');
is((ask("$go_on; $all"))[0], $expected, 'by the setting a query goes on');
for (
	[ $all, 'an aggregate' ],
	[ 'SELECT * FROM history', 'rows of all items' ],
	[ 'SELECT * FROM history WHERE itemid = 7', 'rows of an item' ],
	[ 'SELECT * FROM history WHERE itemid = 7 ORDER BY clock DESC', '... newest first' ],
	[ "SELECT * FROM zbxhist.range(NULL::history, 7, ${\ day(-10)}, ${\ day(0)})", 'a function' ],
	[
		"SELECT max(value) FROM zbxhist.range(NULL::history, 7, ${\ day(-10)}, ${\ day(0)}) r",
		'... under an aggregate'
	],
	[ "SELECT * FROM zbxhist.statistics('history', 7, ${\ day(-10)}, ${\ day(0)})", 'statistics' ],
	[ "EXPLAIN (ANALYZE, COSTS OFF) $all", 'EXPLAIN ANALYZE' ],
	[
		'SELECT a.clock FROM history a JOIN history b USING (itemid, clock) WHERE a.itemid = 7',
		'a join'
	])
{
	my ($sql, $name) = @$_;

	($out, $err) = ask("$go_on; $sql");
	like($err, $missing, "$name: says what is missing");
	is(scalar(() = $err =~ /WARNING/g), 1, '... once');
	isnt($out, '', '... and returns the others');
}
is( (   ask("$go_on; SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; $all"
		))[0],
	$expected,
	'no worker does it');
like((ask("$go_on; BEGIN; $all; $all; COMMIT"))[1], qr/WARNING.*WARNING/s,
	'each statement says so');
is((ask("$go_on; SELECT count(*) FROM history WHERE itemid = 7 AND clock >= ${\ day(-5)}"))[1],
	'', 'one that needs it not does not');
is( (   ask("$go_on; SELECT (SELECT clock FROM history WHERE itemid = 7 ORDER BY clock DESC LIMIT 1) = ${\ day(-4)} + 143 * 600"
		))[1],
	'',
	'... nor do newest values');
my (undef, $warned) = ask("$go_on; SELECT count(*), zbxhist.version() FROM zbxhist.check()");
is($warned, '', 'nor does check()');

# what an administrator is told
$node->safe_psql('zabbix',
	"INSERT INTO history VALUES (7, ${\ day(-8)} + 7, 1, 1); INSERT INTO plain VALUES (7, ${\ day(-8)} + 7, 1, 1)"
);
maintain($node, 'zabbix');
is( $node->safe_psql(
		'zabbix',
		q{SELECT severity, object, message ~ '^2 archived days cannot be read since .*: could not connect to server "south"' FROM zbxhist.check() WHERE code = 'archive_unreachable'}
	),
	'error|south|t',
	'check() tells which server is away');
my $metrics =
  q{SELECT m -> 'archives_unreachable', m #>> '{archives,0,days}', m #>> '{archives,1,server}',
		m #>> '{archives,0,unreachable_since}' IS NULL, m #>> '{archives,1,unreachable_since}' IS NULL,
		t -> 'archived_days', t -> 'archived_values', (t ->> 'archived_bytes')::bigint > 0, t -> 'archived_rows_waiting'
	  FROM (SELECT zbxhist.metrics() AS m) q, LATERAL (SELECT m #> '{tables,0}' AS t) u};
is( $node->safe_psql('zabbix', $metrics),
	'1|2|south|t|f|4|' . 4 * 30 * 144 . '|t|1',
	'... and so does metrics()');
like(
	$node->safe_psql(
		'zabbix',
		"BEGIN; ALTER SERVER south OPTIONS (SET host '127.0.0.1'); SELECT code, hint FROM zbxhist.check() WHERE code = 'archive_timeout'; ROLLBACK"
	),
	qr/^archive_timeout\|ALTER SERVER south OPTIONS \(ADD keepalives_idle '5', .*\);$/,
	'... nor a connection that is lost without a word');
$node->safe_psql('zabbix', 'ALTER SERVER south OPTIONS (DROP connect_timeout)');
like(
	$node->safe_psql('zabbix', 'SELECT code, hint FROM zbxhist.check()'),
	qr/archive_timeout\|ALTER SERVER south OPTIONS \(ADD connect_timeout '5'\);/,
	'a server without a timeout is told');
$node->safe_psql('zabbix', "ALTER SERVER south OPTIONS (ADD connect_timeout '2')");

# nothing that keeps rows, changes or locks any, nor a function that may do so
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->safe_psql(
	'zabbix', q{
	CREATE TABLE kept (LIKE history);
	CREATE MATERIALIZED VIEW summary AS SELECT itemid, sum(value) FROM history GROUP BY 1 WITH NO DATA;
	CREATE FUNCTION total() RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT sum(value) FROM history); END $$;
	CREATE FUNCTION total_of(item bigint) RETURNS float8 LANGUAGE sql AS $$ SELECT sum(value) FROM history WHERE itemid = item $$;
});
for (
	'COPY (SELECT * FROM history) TO STDOUT',
	'CREATE TABLE other AS SELECT * FROM history',
	'SELECT * INTO other FROM history',
	'INSERT INTO kept SELECT * FROM history',
	'WITH k AS (INSERT INTO kept SELECT * FROM history RETURNING 1) SELECT count(*) FROM k',
	'REFRESH MATERIALIZED VIEW summary',
	'BEGIN; DECLARE c CURSOR FOR SELECT * FROM history; FETCH ALL FROM c',
	'SELECT * FROM history WHERE itemid = 7 FOR UPDATE',
	'UPDATE history SET value = 1 WHERE itemid = 7',
	'DELETE FROM history WHERE itemid = 7',
	'SELECT zbxhist.delete_item(7)',
	'SELECT total()',
	'DO $$ BEGIN PERFORM * FROM history; END $$',
	"SELECT zbxhist.add(NULL::history, '{7}', '{${\ day(-8)}}', '{1}', '{1}', on_conflict => 'update')",
	"SELECT * FROM zbxhist.verify('history')",
	"CALL zbxhist.unarchive('history', '${\ date(-8)}')")
{
	like(
		(ask("$go_on; $_"))[1],
		qr/ERROR:  could not connect to server "south"/,
		"never without: $_");
}
$node->safe_psql('zabbix', 'ANALYZE history');
like((ask("$go_on; SELECT total_of(7)"))[1], $missing, 'a function of SQL that only reads may');
$node->safe_psql('postgres', 'ALTER DATABASE zabbix SET zbxhist.ignore_archive_failure = on');
$node->command_ok([ 'pg_dump', '--inserts', '-f', $dump, $node->connstr('zabbix') ],
	'a dump needs no archive server');
unlike(slurp_file($dump), qr/WARNING/, '... and misses nothing');
$node->command_fails_like(
	[
		'pg_dump', '-f', $dump, '--include-foreign-data=zbxhist',
		'-t', 'history*', $node->connstr('zabbix')
	],
	qr/could not connect to server "south"/,
	'one that is asked for all fails');
$node->safe_psql('postgres', 'ALTER DATABASE zabbix RESET zbxhist.ignore_archive_failure');

# one that is there in a transaction and then lost is an error
$cold{south}->start;
my $session = $node->background_psql('zabbix', on_error_stop => 0);
$session->query("$go_on; BEGIN; $all");
$cold{south}->stop('immediate');
$session->query($all);
isnt($session->{stderr}, '', 'a connection that is lost is an error');
$session->quit;

# both away
$cold{north}->stop('fast');
($out, $err) = ask("$go_on; $all");
is(scalar(() = $err =~ /WARNING:  2 archived days/g), 2, 'a warning for each server');
$_->start for values %cold;
my $whole = $node->safe_psql('zabbix', $all =~ s/history/plain/r);
is((ask("$go_on; $all"))[0], $whole, 'with the servers nothing is missing');
is((ask("$go_on; $all"))[1], '', '... nor said');
maintain($node, 'zabbix');
is( $node->safe_psql('zabbix', $metrics),
	'0|2|south|t|t|4|' . (4 * 30 * 144 + 1) . '|t|0',
	'nor is a server away');
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.check() WHERE code ~ 'archive'"),
	0, '... as check() has it');
is_whole('all is there');

# ---- retention ----

$node->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.alter_parent('history', retention => '6 days', accept_deletion => true);
	CALL zbxhist.run_maintenance();
	DELETE FROM plain WHERE clock < ${\ day(-6)};
	UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days';
	CALL zbxhist.run_maintenance();
});
is_whole('retention drops days of both servers');
is(groups_on('north'), 0, '... there, too');
isnt(groups_on('south'), 0, 'but not what is younger');

done_testing();
