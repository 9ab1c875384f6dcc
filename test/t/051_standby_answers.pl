# A streaming standby answers every query as the primary does, after each kind
# of action; nothing maintains it until it is promoted.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

# VACUUM of the primary ends queries of the standby whenever it likes.
my $primary = test_server(
	'primary',
	-allows_streaming => 1,
	autovacuum => 'off',
	shared_preload_libraries => 'zbxhist',
	'zbxhist.maintenance_interval' => 1,
	'zbxhist.databases' => '');
create_database($primary, 'zabbix');
create_zabbix_tables($primary, 'zabbix');

$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "zbxhist.databases = 'zabbix'");
$standby->start;

my ($now, $yesterday) = (day(0), day(-1));
my @queries = (
	'SELECT count(*), sum(hashtextextended(h::text, 0)::numeric) FROM history h',
	'SELECT tableoid::regclass, count(*) FROM history GROUP BY 1 ORDER BY 1',
	'SELECT * FROM history WHERE itemid = 7 ORDER BY clock, ns',
	'SELECT count(*), min(value), max(value) FROM history'
	  . " WHERE itemid IN (3, 5, 8) AND clock >= $yesterday AND clock < $now + 100",
	'SELECT clock, value FROM history'
	  . " WHERE itemid = 9 AND clock <= $now + 100 ORDER BY clock DESC LIMIT 2",
	'SELECT parent, partition, from_clock, to_clock, state FROM zbxhist.partitions',
	'SELECT * FROM zbxhist.parents',
	"SELECT * FROM zbxhist.list_partitions('history')",
	'SELECT parent, action, relation, rows, sqlstate' . ' FROM zbxhist.maintenance_log ORDER BY id',
	'SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM trends t');

# Both give the same answers, with the indexes and without.
sub compare
{
	my ($action) = @_;
	my $script = join ";\n", map { ("SET enable_seqscan = $_", @queries) } 'off', 'on';

	$primary->wait_for_catchup($standby);
	is_same($primary, $standby, 'zabbix', $script, "$action: same answers");
}

compare('before set-up');

$primary->safe_psql('zabbix', insert_values('history', 15001, 500, $now));
$primary->safe_psql('zabbix',
	"SELECT * FROM zbxhist.setup('public', '30 days', '1 year', history_interval => '1 day')");
push @queries, "SELECT * FROM zbxhist.range(NULL::history, 7, $yesterday, $now + 90000)",
  "SELECT zbxhist.range(NULL::history, 7, 0, 2147483647, 'desc') LIMIT 3",
  "SELECT zbxhist.nearest(NULL::history, 9, $now + 100, 0, 'less')",
  "SELECT * FROM zbxhist.minimum_time('history', 7)",
  "SELECT * FROM zbxhist.last_values(NULL::history, '{3,5,8,15001}', 2)",
  "SELECT * FROM zbxhist.statistics('history', 5, 0, 2147483647)",
  "SELECT * FROM zbxhist.buckets('history', 5, $yesterday, $now + 90000, 9)";
compare('set-up');

$primary->safe_psql('zabbix', insert_values('history', 1, 1000, $now + $_)) for 1 .. 5;
compare('batches');

$primary->safe_psql('zabbix',
		'INSERT INTO history'
	  . " SELECT i, $now + 100 + i % 86400, i / 3.0, 5 FROM generate_series(1, 20000) i");
compare('INSERT ... SELECT');

$primary->safe_psql('zabbix',
		"BEGIN; SAVEPOINT a; "
	  . insert_values('history', 5001, 100, $now)
	  . 'ROLLBACK TO a; '
	  . insert_values('history', 6001, 100, $now)
	  . 'COMMIT');
compare('savepoint rolled back');

$primary->safe_psql('zabbix',
		'INSERT INTO trends SELECT i, '
	  . $now
	  . ', 60, 1, 2, 3 FROM generate_series(1, 100) i;'
	  . "UPDATE trends SET num = 61 WHERE itemid < 50 AND clock = $now");
compare('trends written and updated');

$primary->safe_psql('zabbix',
	"SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - 1)");
$primary->safe_psql('zabbix', insert_values('history', 7001, 900, $now));
compare('partition created');

maintain($primary, 'zabbix');
is(rows_of($primary, 'zabbix', 'ONLY history'), 0, 'rows have been moved');
compare('move');

$primary->safe_psql('zabbix',
		"SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - 40);"
	  . 'INSERT INTO history SELECT i, '
	  . day(-40)
	  . ', 0, 0 FROM generate_series(1, 1000) i');
compare('an old partition');
maintain($primary, 'zabbix');
is( $primary->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.maintenance_log WHERE action = 'drop'"),
	1,
	'it has been dropped');
compare('drop');

my $day = date(-1);
$primary->safe_psql('zabbix', "CALL zbxhist.pack('history', '$day')");
compare('pack');
$primary->safe_psql('zabbix', insert_values('history', 9001, 90, $now));
compare('late rows');
maintain($primary, 'zabbix');
is( $primary->safe_psql(
		'zabbix', "SELECT rows FROM zbxhist.maintenance_log WHERE action = 'merge'"),
	30,
	'late rows have been merged');
compare('merge');

$primary->safe_psql('zabbix', 'DELETE FROM history WHERE itemid < 20');
compare('DELETE');

$primary->safe_psql('zabbix', "CALL zbxhist.repack('history', '$day')");
compare('repack');

# An older snapshot of the standby, which the primary knows nothing of, must not
# miss the rows that have gone elsewhere when the table is dropped where it
# sees them.  Returns how many rows of the table a session finds then.
sub standby_sees
{
	my ($table, $action) = @_;
	my $session = PgWire->new($standby, 'zabbix');
	my $found;

	$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
	$session->query('SELECT count(*) FROM zbxhist.packed_day');
	ref $action ? $action->() : $primary->safe_psql('zabbix', $action);
	$primary->wait_for_catchup($standby);
	eval {
		$found = $session->query("SELECT count(*) FROM $table")->{rows}[0][0];
		$session->close;
	};
	return $found // 'conflict';
}

$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = '100ms'");
$standby->reload;
my $rows = rows_of($primary, 'zabbix', 'history');

# What a standby's snapshot does not see yet is in the new table for every
# snapshot: it must not come to that.
sub conflicts_since
{
	my ($lsn, $action) = @_;

	command_like(
		[
			'pg_waldump', '-r', 'Btree', '-p', $primary->data_dir . '/pg_wal',
			'-s', $lsn, '-e', $primary->safe_psql('zabbix', 'SELECT pg_current_wal_flush_lsn()')
		],
		qr/REUSE_PAGE/,
		"older snapshots of a standby conflict with $action");
}

my $lsn;
my $late =
	insert_values('history', 18001, 90, $now)
  . ";\nUPDATE zbxhist.packed_day SET merged_at = NULL;\n"
  . "CALL zbxhist.run_maintenance();\n";
like(
	standby_sees(
		'history',
		sub {
			$primary->safe_psql('zabbix', $late);
			$lsn = $primary->safe_psql('zabbix', 'SELECT pg_current_wal_insert_lsn()');
			$primary->safe_psql('zabbix', "CALL zbxhist.repack('history', '$day')");
		}),
	qr/^(conflict|$rows)$/,
	'an older snapshot sees no newer row or ends: repack');
compare('late rows repacked');
conflicts_since($lsn, 'repacking');
$rows = rows_of($primary, 'zabbix', 'history');
like(standby_sees('history', "CALL zbxhist.unpack('history', '$day')"),
	qr/^(conflict|$rows)$/, 'an older snapshot sees all rows or ends: unpack');
compare('unpack');
$lsn = $primary->safe_psql('zabbix', 'SELECT pg_current_wal_insert_lsn()');
$primary->safe_psql('zabbix', "CALL zbxhist.pack('history', '$day')");
compare('pack once more');
conflicts_since($lsn, 'packing');

# parts of a day, with late rows in one of them
$primary->safe_psql('zabbix', <<'SQL');
CREATE TABLE parts (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('parts', '6 hours', retention => '100 years', pack_after => '1 hour');
SELECT zbxhist_internal.create_range('parts', c, c + 21600) FROM generate_series(86400, 172799, 21600) c;
INSERT INTO parts SELECT i, 86400 + c * 600, i + c FROM generate_series(1, 100) i, generate_series(0, 143) c;
SET zbxhist.maintenance_repack_limit = 0;
CALL zbxhist.run_maintenance('parts');
SQL
is( $primary->safe_psql(
		'zabbix',
		"SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'parts'::regclass AND to_clock <= 172800"
	),
	4,
	'parts of a day are packed');
$rows = rows_of($primary, 'zabbix', 'parts');
like(
	standby_sees(
		'parts',
		sub {
			$primary->safe_psql('zabbix', <<'SQL');
INSERT INTO parts SELECT i, 100001, 0 FROM generate_series(1, 100) i;
SET zbxhist.maintenance_repack_limit = 0;
CALL zbxhist.run_maintenance('parts');
SQL
			$lsn = $primary->safe_psql('zabbix', 'SELECT pg_current_wal_insert_lsn()');
			$primary->safe_psql('zabbix', "CALL zbxhist.compact('parts', '1970-01-02')");
		}),
	qr/^(conflict|$rows)$/,
	'an older snapshot sees no newer row or ends: compact');
conflicts_since($lsn, 'compacting');
is_same(
	$primary,
	$standby,
	'zabbix',
	"SELECT (SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'parts'::regclass), count(*), sum(hashtextextended(p::text, 0)::numeric) FROM parts p",
	'a compacted day');

$rows = rows_of($primary, 'zabbix', 'trends');
like(standby_sees('trends', "CALL zbxhist.undo('trends')"),
	qr/^(conflict|$rows)$/, 'an older snapshot sees all rows or ends: undo');
is($primary->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.list_partitions('trends')"),
	0, 'trends are a plain table again');
compare('undo');

# ---- a standby only reads ----

is( $standby->safe_psql(
		'postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'zbxhist%'"),
	0,
	'no worker on the standby');
my ($code, $out, $err) = $standby->psql('zabbix', 'CALL zbxhist.run_maintenance()');
is($code, 0, 'maintenance on the standby is no error (cron runs on both)');
($code, $out, $err) =
  psql_script($standby, 'zabbix', insert_values('history', 1, 10, $now), '-v', 'VERBOSITY=verbose');
like($err, qr/25006/, 'INSERT on the standby: read only, as a plain table');
is($standby->safe_psql('zabbix', "SELECT zbxhist.version() <> ''"),
	't', 'functions that only read work');
like($standby->safe_psql('zabbix', 'SELECT count(*) >= 0 FROM zbxhist.check()'),
	qr/^t$/, 'check works');
is($standby->safe_psql('zabbix', 'SELECT count(*) > 5 FROM zbxhist.status'), 't', 'status works');

# ---- promotion ----

$primary->safe_psql('zabbix',
	'SET zbxhist.enable_routing = off;' . insert_values('history', 20001, 300, $now));
$primary->wait_for_catchup($standby);
$primary->stop;
is(rows_of($standby, 'zabbix', 'ONLY history'), 300, 'rows wait on the standby');
$standby->promote;
ok($standby->poll_query_until('zabbix', 'SELECT count(*) = 0 FROM ONLY history'),
	'once promoted, the worker moves them');
is(rows_of($standby, 'zabbix', 'history WHERE itemid > 20000'), 300, 'all of them');
$standby->safe_psql('zabbix', insert_values('history', 30001, 1000, $now));
is(rows_of($standby, 'zabbix', "ONLY history WHERE clock >= $now"), 0, 'new rows are routed');
is(rows_of($standby, 'zabbix', 'history WHERE itemid > 30000'), 1000, '... and stored');

log_is_clean($primary, 'primary: nothing unusual in the log');
log_is_clean($standby, 'standby: nothing unusual in the log');
$standby->stop;
done_testing();
