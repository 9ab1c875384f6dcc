# Hours of runs, and what is around a server: a standby that reads while runs are
# merged upstream, and is promoted; a base backup and a point in time;
# publications and subscriptions; tables that are not logged; tablespaces.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use ZbxhistTest;

my $HOUR = 86400;    # a fixed one, long over
my $checksum =
  'SELECT count(*), coalesce(sum(hashtextextended(h::text, 0)::numeric), 0) FROM history h';

# A table with two such hours.
sub make_history
{
	my ($node, $database, $persistence) = @_;

	create_database($node, $database);
	$node->safe_psql($database, <<"SQL");
CREATE @{[ $persistence // '' ]} TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 hour', ingest => 'runs');
SELECT zbxhist_internal.create_runs('history', $HOUR, $HOUR + 3600), zbxhist_internal.create_runs('history', $HOUR + 3600, $HOUR + 7200);
SQL
	return;
}

# A statement of ten rows, whose values make zero, at a second of the hour.
sub statement
{
	my ($second) = @_;

	my @rows =
	  map { sprintf '(%d,%d,%d,%d)', $_, $HOUR + $second, $_, 2 * $_ - 11 }
	  1 .. 10;

	return sprintf 'insert into history (itemid,clock,ns,value) values %s;',
	  join ',', @rows;
}

# So many of them, from a second on.
sub statements
{
	my ($first, $count) = @_;

	return join "\n", map { statement($_) } $first .. $first + $count - 1;
}

# The runs of the first hour, merged if there are two.
my $merge =
  "SELECT zbxhist_internal.merge_runs(d.day, 2) FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass AND d.runs AND d.from_clock = $HOUR";

# Stores so many statements, from a second on, and merges them in the same
# transaction, as no worker can; returns how many runs were merged.
sub merges
{
	my ($node, $database, $first, $count) = @_;
	my $session = PgWire->new($node, $database);
	my $merged;

	$session->query($_) for 'BEGIN', statements($first, $count);
	for (0 .. 999)
	{
		$merged = $session->query($merge)->{rows}[0][0];
		last if $merged >= $count;
		sleep 0.01;    # a worker has the table's lock
	}
	$session->query('COMMIT');
	$session->close;
	return $merged;
}

# INSERTs are stored as runs, keys that are there are refused, runs are merged,
# and the hours are packed: with no row lost.
sub works
{
	my ($node, $database, $second, $name) = @_;
	my $before = rows_of($node, $database, 'history');

	$node->safe_psql($database, statements($second, 20));
	is(rows_of($node, $database, 'ONLY history'),
		0, "$name: new rows are stored as runs");
	for my $there (0, $second)
	{
		my (undef, undef, $messages) =
		  psql_script($node, $database, statement($there), '-v',
			'VERBOSITY=verbose');
		like(
			$messages,
			qr/23505: .*"history_pkey"/,
			"$name: a key that is there is refused");
	}
	cmp_ok(merges($node, $database, $second + 20, 20),
		'>=', 20, "$name: runs are merged");
	is( rows_of($node, $database, 'history'),
		$before + 400,
		"$name: every row, once");
	is( $node->safe_psql(
			$database, "SELECT count(*) FROM zbxhist.verify('history')"),
		0,
		"$name: whole");
	$node->safe_psql($database, "CALL zbxhist.pack('history', '1970-01-02')");
	is( $node->safe_psql(
			$database,
			"SELECT string_agg(kind, ' ') FROM zbxhist.partitions WHERE to_clock <= $HOUR + 7200"
		),
		'packed packed',
		"$name: the hours are packed");
	is( rows_of($node, $database, 'history'),
		$before + 400,
		"$name: ... with every row");
	return;
}

my $primary = test_server(
	'primary',
	-allows_streaming => 'logical',
	-has_archiving => 1,
	autovacuum => 'off',

	# all partitions are made at once, as the subscriber's are
	max_locks_per_transaction => 256,
	max_prepared_transactions => 2);
make_history($primary, 'zabbix');
$primary->safe_psql('zabbix', statements(0, 100));
$primary->backup('backup');

# ---- a standby ----

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf',
	"max_standby_streaming_delay = '50ms'");
$standby->start;

# values are written and merged, and the space of merged runs is used again
my $writer = start_psql(
	$primary, 'zabbix',
	$primary->basedir . '/writer',
	sub {
		my ($psql) = @_;

		for my $round (0 .. 39)
		{
			print $psql statements(100 + 25 * $round, 25), "\n$merge;\n";
			print $psql
			  "SELECT format('VACUUM %s', day) FROM zbxhist.packed_day WHERE runs AND from_clock = $HOUR \\gexec\n"
			  if $round % 5 == 4;
			print $psql "SELECT pg_sleep(0.05);\n";
		}
	});
my ($read, $conflicts, $last) = (0, 0, 0);
my @wrong;
my %isolation = (once => 'READ COMMITTED', twice => 'REPEATABLE READ');
my $session = PgWire->new($standby, 'zabbix');
my $end = time() + 180;
while ($last < 11000 && time() < $end)
{
	my $level = $read % 2 ? 'twice' : 'once';
	my @rows;
	my $ended = 0;

	for my $statement (
		"BEGIN ISOLATION LEVEL $isolation{$level}",
		'SELECT count(*), sum(value), count(DISTINCT (itemid, clock)), sum((itemid = 7)::integer) FROM history',
		'SELECT count(*) FROM history WHERE itemid = 7',
		$level eq 'twice' ? 'SELECT pg_sleep(0.05)' : 'SELECT 1',
		'SELECT count(*) FROM history WHERE itemid IN (7, 8)',
		'COMMIT')
	{
		my $answer = eval { $session->query($statement) };

		if (!defined $answer)
		{
			$session = PgWire->new($standby, 'zabbix');
			$ended = 1;
		}
		elsif (@{ $answer->{errors} })
		{
			push @wrong, "@{$answer->{messages}}"
			  if grep { !/^(40001|40P01|57P01|25P02)$/ }
			  @{ $answer->{errors} };
			eval { $session->query('ROLLBACK') }
			  // ($session = PgWire->new($standby, 'zabbix'));
			$ended = 1;
		}
		last if $ended;
		push @rows, $answer->{rows}[0];
	}
	if ($ended) { $conflicts++; next }
	$read++;
	my ($all, $item, $two) = @rows[ 1, 2, 4 ];
	push @wrong, "read: @$all"
	  if $all->[0] % 10 || $all->[1] != 0 || $all->[2] != $all->[0];
	push @wrong, "read: $all->[0] after $last" if $all->[0] < $last;
	push @wrong, "in one snapshot: @$all, $item->[0], $two->[0]"
	  if $level eq 'twice'
	  && ($item->[0] != $all->[3] || $two->[0] != 2 * $item->[0]);
	$last = $all->[0];
}
$session->close;
is(wait_for_end($writer), 0, 'values are written and merged upstream');
cmp_ok($read, '>', 10,
	"the standby was read $read times, with $conflicts conflicts");
is(join("\n", @wrong), '', 'rightly each time');
is($last, 11000, '... to the end');
$primary->wait_for_catchup($standby);
is_same($primary, $standby, 'zabbix', $checksum, 'the standby has it all');
is_same(
	$primary, $standby, 'zabbix',
	"SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC LIMIT 5",
	'newest of an item');
is( $standby->safe_psql(
		'postgres',
		"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'zbxhist merge'"
	),
	0,
	'nobody merges on a standby');
is( $standby->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
	0,
	'... but it can be verified there');
is( $standby->safe_psql(
		'zabbix',
		"SELECT count(*) FROM zbxhist.check() WHERE severity <> 'info'"),
	0,
	'... and checked');

# ---- a point in time ----

$primary->safe_psql('zabbix',
	statements(1200, 30) . "\n$merge;\n" . statements(1230, 5));
my $then = $primary->safe_psql('zabbix', $checksum);
$primary->safe_psql('zabbix', "SELECT pg_create_restore_point('then')");
$primary->safe_psql('zabbix', statements(1240, 30) . "\n$merge;");
$primary->safe_psql('zabbix', 'SELECT pg_switch_wal()');
$primary->wait_for_catchup($standby);

my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup(
	$primary, 'backup',
	has_restoring => 1,
	standby => 0);
$restored->append_conf('postgresql.conf',
	"recovery_target_name = 'then'\nrecovery_target_action = 'promote'");
$restored->start;
ok( $restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'),
	'restored to a point in time');
is($restored->safe_psql('zabbix', $checksum),
	$then, '... with what was there then');
works($restored, 'zabbix', 1300, 'restored');
log_is_clean($restored, 'restored: nothing unusual in the log');
$restored->stop;

# ---- promotion ----

# one transaction is in progress, one is prepared
my $open = PgWire->new($primary, 'zabbix');
$open->query($_) for 'BEGIN', statement(1400);
$primary->safe_psql('zabbix',
	'BEGIN; ' . statement(1401) . "PREPARE TRANSACTION 'two'");
$primary->wait_for_catchup($standby);
$then = rows_of($primary, 'zabbix', 'history');
$primary->stop('immediate');
$standby->promote;
is(rows_of($standby, 'zabbix', 'history'), $then, 'promoted: every row');
$standby->safe_psql('zabbix', "COMMIT PREPARED 'two'");
is(rows_of($standby, 'zabbix', 'history'),
	$then + 10, '... and those of a prepared transaction');
$standby->safe_psql('zabbix', statement(1400));
my $worker =
  "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'zbxhist merge'";
my $has_worker = 0;

for my $round (0 .. 99)
{
	$standby->safe_psql('zabbix', statements(2000 + 10 * $round, 10));
	$has_worker = $standby->safe_psql('postgres', $worker);
	last if $has_worker;
}
is($has_worker, 1, 'promoted: a worker merges');
$standby->poll_query_until('postgres',
	"SELECT NOT EXISTS ($worker HAVING count(*) > 0)");
works($standby, 'zabbix', 3100, 'promoted');
log_is_clean($standby, 'standby: nothing unusual in the log');
$standby->stop;
$primary->start;
$primary->safe_psql('zabbix', "ROLLBACK PREPARED 'two'");

# ---- logical replication ----

# values in runs are not published, as those of packed days are not
make_history($primary, 'published');
$primary->safe_psql('published', statements(0, 30));
my $subscriber = test_server(
	'subscriber',
	-allows_streaming => 'logical',
	max_locks_per_transaction => 256);
make_history($subscriber, 'subscribed');
$primary->safe_psql('published',
		'CREATE TABLE other (id integer PRIMARY KEY);'
	  . 'CREATE PUBLICATION everything FOR ALL TABLES;'
	  . 'CREATE PUBLICATION s FOR TABLES IN SCHEMA public;'
	  . "\nSELECT pg_create_logical_replication_slot('changes', 'pgoutput')");
$subscriber->safe_psql('subscribed',
	'CREATE TABLE other (id integer PRIMARY KEY)');
like(
	$primary->safe_psql(
		'published',
		"SELECT message FROM zbxhist.check() WHERE code = 'no_runs'"),
	qr/publication "\w+" would not publish them/,
	'check() tells that a table with runs is in a publication');
$subscriber->safe_psql('subscribed',
	"CREATE SUBSCRIPTION s CONNECTION '${\ $primary->connstr} dbname=published' PUBLICATION s WITH (copy_data = false)"
);
$primary->safe_psql('published',
	statements(30, 30) . "\n$merge;\nINSERT INTO other VALUES (1)");
$primary->safe_psql('published', "DELETE FROM history WHERE itemid = 3");

# a statement that makes several runs
$primary->safe_psql('published',
	"INSERT INTO history SELECT i, $HOUR, i * 1.1, 5 FROM generate_series(1000, 9000) i"
);
$primary->safe_psql('published',
	statements(60, 3) . 'INSERT INTO other VALUES (2)');
$primary->wait_for_catchup('s');
is(rows_of($subscriber, 'subscribed', 'other'),
	2, 'runs do not stop what else is replicated');
is(rows_of($subscriber, 'subscribed', 'history'),
	0, '... and are not published');

# values that are merged into packed days
$primary->safe_psql(
	'published', qq{
	INSERT INTO history SELECT i, $HOUR + 3600, i * 1.1, 5 FROM generate_series(1, 10) i;
	CALL zbxhist.pack('history', '1970-01-02');
	INSERT INTO history SELECT i, $HOUR + 3600, i * 1.1, 6 FROM generate_series(1, 10) i}
);
maintain($primary, 'published');
is(rows_of($primary, 'published', 'ONLY history'),
	0, 'late values are merged');

is( $primary->safe_psql(
		'published',
		"SELECT count(*) FROM pg_logical_slot_get_binary_changes('changes', NULL, NULL, 'proto_version', '1', 'publication_names', 'everything')"
		  . " WHERE get_byte(data, 0) = ascii('I') AND substring(data FROM 2 FOR 4) IN (SELECT int4send(day::oid::integer) FROM zbxhist.packed_day)"
	),
	0,
	'... as no rows of their table either');
$primary->safe_psql('published',
	"SELECT pg_drop_replication_slot('changes'); DROP PUBLICATION everything"
);

# from the next hour on they are
maintain($primary, 'published');
is( $primary->safe_psql(
		'published',
		"SELECT count(*) FROM zbxhist.partitions WHERE kind = 'runs' AND state = 'future'"
	),
	0,
	'hours to come are ordinary partitions while there is a publication');
$subscriber->safe_psql('subscribed', 'DROP SUBSCRIPTION s');
$primary->safe_psql('published', 'DROP PUBLICATION s');
maintain($primary, 'published');
cmp_ok(
	$primary->safe_psql(
		'published',
		"SELECT count(*) FROM zbxhist.partitions WHERE kind = 'runs' AND state = 'future'"
	),
	'>', 2,
	'... and runs again when there is none');

# a subscriber with runs: what is applied waits in the table itself, as ever
create_database($primary, 'plain');
$primary->safe_psql('plain',
	'CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,'
	  . ' ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns)); CREATE PUBLICATION p FOR TABLE history;'
	  . statements(0, 10));
$subscriber->safe_psql('subscribed',
	"CREATE SUBSCRIPTION p CONNECTION '${\ $primary->connstr} dbname=plain' PUBLICATION p"
);
$subscriber->wait_for_subscription_sync($primary, 'p', 'subscribed');
$primary->safe_psql('plain', statements(10, 10));
$primary->wait_for_catchup('p');
is( totals($subscriber, 'subscribed', 'history'),
	totals($primary, 'plain', 'history'),
	'subscribed: every row');
$subscriber->safe_psql('subscribed', statements(100, 10));
my (undef, undef, $messages) =
  psql_script($subscriber, 'subscribed', statement(15), '-v',
	'VERBOSITY=verbose');
like($messages, qr/23505: /, 'a key that was applied is refused');
$subscriber->safe_psql('subscribed', 'DROP SUBSCRIPTION p');
$subscriber->safe_psql('subscribed',
	"CALL zbxhist.pack('history', '1970-01-02')");
maintain($subscriber, 'subscribed');
is(rows_of($subscriber, 'subscribed', 'ONLY history'),
	0, 'when the hour is packed, what waits is merged');
is(rows_of($subscriber, 'subscribed', 'history'), 300, '... every row');
log_is_clean($subscriber, 'subscriber: nothing unusual in the log');
$subscriber->stop;

# ---- not logged, and elsewhere ----

make_history($primary, 'unlogged', 'UNLOGGED');
$primary->safe_psql('unlogged', statements(0, 70) . $merge);
is( $primary->safe_psql(
		'unlogged',
		"SELECT DISTINCT k.relpersistence FROM zbxhist.packed_day d JOIN pg_class k ON k.oid = d.day"
	),
	'u',
	'an unlogged table has unlogged runs');
make_history($primary, 'logged');
$primary->safe_psql('logged', statements(0, 70));
kill_server($primary);
start_after_crash($primary);
is(rows_of($primary, 'unlogged', 'history'),
	0, 'they are empty after a crash');
$primary->safe_psql('unlogged', statements(0, 1));
works($primary, 'unlogged', 200, 'unlogged');
works($primary, 'logged', 200, 'logged');

$primary->safe_psql('postgres',
	"SET allow_in_place_tablespaces = on; CREATE TABLESPACE elsewhere LOCATION ''"
);
make_history($primary, 'moved');
$primary->safe_psql('moved', <<"SQL");
ALTER TABLE history SET TABLESPACE elsewhere;
SELECT zbxhist_internal.create_runs('history', $HOUR - 3600, $HOUR);
INSERT INTO history VALUES (1, $HOUR - 1, 1, 1);
SQL
my $places =
  "SELECT count(*) > 1, count(*) = count(t.spcname) FROM zbxhist.packed_day d JOIN pg_class k ON k.oid = d.day OR k.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = d.day)"
  . " LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace WHERE d.from_clock < $HOUR";
is($primary->safe_psql('moved', $places),
	't|t', 'runs and their indexes are in the tablespace of the table');
$primary->safe_psql('moved', "CALL zbxhist.pack('history', '1970-01-01')");
is($primary->safe_psql('moved', $places), 't|t', '... and the packed hour');
is(rows_of($primary, 'moved', 'history'), 1, '... with its row');

log_is_clean($primary, 'primary: nothing unusual in the log');
$primary->stop;
done_testing();
