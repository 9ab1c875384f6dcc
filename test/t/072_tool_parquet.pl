# scripts/export --format parquet: a file per day with every value unchanged,
# sorted, compared with the stored rows before it gets its name; an interrupted
# export continues.  DuckDB, if installed, reads the same as SQL.  PYTHON is a
# python3 that has pyarrow, and duckdb.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my ($python) =
  grep { defined && system("$_ -c 'import pyarrow.parquet' >/dev/null 2>&1") == 0 } $ENV{PYTHON},
  '/opt/peers/bin/python3', 'python3';
plan skip_all =>
  'no python3 has pyarrow: set PYTHON to one that has it (pip install pyarrow duckdb)'
  unless $python;
my $has_duckdb = system("$python -c 'import duckdb' >/dev/null 2>&1") == 0;
diag('DuckDB is not installed: its answers are not compared') unless $has_duckdb;

my $lake = PostgreSQL::Test::Utils::tempdir();
my $script = "$FindBin::RealBin/../../scripts/export";
my $node = test_server('parquet');
my @tables = qw(history history_uint history_str history_log history_text
  history_bin trends trends_uint);

# ---- a Zabbix, with values of three days ----

create_database($node, 'zabbix');
set_up($node, 'zabbix');
$node->safe_psql('zabbix', <<"SQL");
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name varchar(255) NOT NULL);
INSERT INTO hosts VALUES (1, 'web'), (2, E'na\\u00efve "host"');
INSERT INTO items SELECT i, 1 + i % 2, 'item ' || i FROM generate_series(1, 50) i;
SELECT zbxhist.create_partition(t, '${\ date(-2)}'), zbxhist.create_partition(t, '${\ date(-1)}')
  FROM unnest('{history,history_uint,history_str,history_log,history_text,history_bin}'::regclass[]) t;
INSERT INTO history SELECT i % 60, ${\ day(-2) } + i * 7, CASE WHEN i % 3 = 0 THEN random() ELSE i / 7.0 END, i FROM generate_series(0, 20000) i;
INSERT INTO history SELECT i, ${\ day(-1) }, v, 0 FROM unnest('{NaN,Infinity,-Infinity,-0,0,5e-324,-1.7976931348623157e308,0.1}'::float8[]) WITH ORDINALITY u (v, i);
INSERT INTO history_uint SELECT i, ${\ day(-1) } + i, 18446744073709551615 - i, 999999999 FROM generate_series(0, 500) i;
INSERT INTO history_str SELECT i, ${\ day(-1) } + i, CASE i % 3 WHEN 0 THEN '' WHEN 1 THEN 'NaN' ELSE E'tab\\tline\\n\\\\.\\\\N "' || i END, 1 FROM generate_series(1, 300) i;
INSERT INTO history_log SELECT i, ${\ day(-1) } + i, i, E'so"u,rce', 4, repeat(chr(8364), 20000) || i, i, 1 FROM generate_series(1, 50) i;
INSERT INTO history_text SELECT i, ${\ day(-1) } + i, E'\\r\\n' || i, 1 FROM generate_series(1, 100) i;
INSERT INTO history_bin SELECT i, ${\ day(-1) } + i, decode(md5(i::text), 'hex') || '\\x00ff5c'::bytea, 1 FROM generate_series(1, 100) i;
INSERT INTO trends SELECT i, ${\ day(0) }, 60, 1.5, 2.5, 3.5 FROM generate_series(1, 300) i;
INSERT INTO trends_uint SELECT i, ${\ day(0) }, 60, 1, 2, 18446744073709551615 FROM generate_series(1, 300) i;
CALL zbxhist.pack('history', '${\ date(-2)}');
CALL zbxhist.pack('history', '${\ date(-1)}');
CALL zbxhist.pack('history_log', '${\ date(-1)}');
CALL zbxhist.pack('history_uint', '${\ date(-1)}');
SQL
$node->safe_psql('zabbix', insert_values('history', 70, 20, day(0)));

# ---- to run and to look ----

my ($out, $err);

sub export
{
	my (@arguments) = @_;

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PYTHON} = $python;
	return IPC::Run::run(
		[ $script, '--format', 'parquet', '--output', $lake, '--database', 'zabbix', @arguments ],
		'>', \$out, '2>', \$err)
	  || diag($err) && 0;
}

# The files of a table, with their modes and times.
sub files_of
{
	my ($table) = @_;

	return map { s{.*/}{}r . ' ' . (stat)[9] . ' ' . (stat)[1] } sort glob "$lake/$table/*";
}

# What DuckDB makes of a query, in which {} are the files of a table, row by row,
# columns with bars between.
sub duckdb
{
	my ($table, $query) = @_;
	my ($answer, $errors);

	$query =~ s[\{\}]['$lake/$table/*.parquet']g;
	IPC::Run::run(
		[
			$python,
			'-c',
			'import duckdb, sys; print("\n".join("|".join("" if v is None else str(v) for v in r) for r in duckdb.sql(sys.argv[1]).fetchall()))',
			$query
		],
		'>',
		\$answer,
		'2>',
		\$errors) or diag($errors);
	chomp $answer;
	return $answer;
}

# DuckDB and SQL say the same.
sub agree
{
	my ($table, $name, $query, $its) = @_;

  SKIP:
	{
		skip 'DuckDB is not installed', 1 unless $has_duckdb;
		is( duckdb($table, $its // $query =~ s/\bFROM $table\b/FROM {}/r),
			$node->safe_psql('zabbix', $query),
			"$table: $name");
	}
}

# ---- all tables ----

for my $table (@tables)
{
	ok(export($table), "$table is exported");
	agree($table, 'rows and keys', "SELECT count(*), sum(itemid), sum(clock) FROM $table");
}
is_deeply(
	[ map { s/ .*//r } files_of('history') ],
	[ (map { date($_) . '.parquet' } -2 .. 0), 'manifest.json' ],
	'a file a day, and the manifest');
agree(
	'history',
	'doubles to the bit',
	"SELECT itemid, encode(float8send(value), 'hex') FROM history WHERE clock = ${\ day(-1)} AND value <> 'NaN' ORDER BY 1",
	"SELECT itemid, printf('%016x', (value::DOUBLE)::BIT::BIGINT::HUGEINT + CASE WHEN (value::BIT)::VARCHAR LIKE '1%' THEN 18446744073709551616 ELSE 0 END) FROM {} WHERE clock = ${\ day(-1)} AND NOT isnan(value) ORDER BY 1"
);
agree(
	'history', 'NaN',
	"SELECT itemid FROM history WHERE value = 'NaN'",
	'SELECT itemid FROM {} WHERE isnan(value)');
agree(
	'history',
	'each day and item',
	'SELECT clock / 86400, itemid, count(*), min(clock), max(ns) FROM history GROUP BY 1, 2 ORDER BY 1, 2',
	'SELECT clock // 86400, itemid, count(*), min(clock), max(ns) FROM {} GROUP BY 1, 2 ORDER BY 1, 2'
);
agree(
	'history_uint',
	'integers of 64 bits',
	'SELECT itemid, value FROM history_uint ORDER BY 1',
	'SELECT itemid, value FROM {} ORDER BY 1');
agree(
	'trends_uint',
	'... in trends, too',
	'SELECT sum(value_min), sum(value_avg), sum(value_max), sum(num) FROM trends_uint');
for my $table (qw(history_str history_text history_log))
{
	agree($table, 'texts', "SELECT itemid, md5(value), length(value) FROM $table ORDER BY 1");
}
agree(
	'history_log',
	'all of a log',
	'SELECT itemid, clock, timestamp, source, severity, logeventid, ns FROM history_log ORDER BY 1'
);
agree(
	'history_bin', 'bytes',
	"SELECT itemid, encode(value, 'hex') FROM history_bin ORDER BY 1",
	'SELECT itemid, lower(hex(value)) FROM {} ORDER BY 1');

# ---- once more: only what is new or changed ----

# the first two days are over
my @before = files_of('history');
$node->safe_psql('zabbix',
	"INSERT INTO history SELECT i, ${\ day(0)} + 30, i, i FROM generate_series(90, 99) i");
ok(export('history'), 'a second time');
my @after = files_of('history');
is_deeply([ @after[ 0, 1 ] ], [ @before[ 0, 1 ] ], '... days that are over are left alone');
isnt($after[2], $before[2], '... the day that is not over is written again');
agree('history', '... with what has come since', 'SELECT count(*), sum(ns) FROM history');
$node->safe_psql('zabbix',
	"UPDATE history SET value = value + 1 WHERE itemid = 4 AND clock = ${\ day(-1)}");
$node->safe_psql('zabbix',
	"UPDATE history SET value = 4 WHERE itemid = 5 AND clock = ${\ day(-1)}");
ok(export('history'), 'a late change');
is((files_of('history'))[1], $before[1], '... is not looked for');
ok(export('--changed', 'history'), '... is by --changed');
@after = files_of('history');
is($after[0], $before[0], '... a day that is the same stays');
isnt($after[1], $before[1], '... the other one is written again');
agree(
	'history',
	'... as it is now',
	"SELECT value FROM history WHERE itemid = 5 AND clock = ${\ day(-1)}",
	"SELECT value::INTEGER FROM {} WHERE itemid = 5 AND clock = ${\ day(-1)}");

# a file that somebody has cut off
my ($first) = glob "$lake/history/*.parquet";
truncate $first, 100 or die "truncate: $!";
ok(export('history'), 'a file that has been cut off');
cmp_ok(-s $first, '>', 1000, '... is written again');

# broken off: files of the next day are not there, what was begun has another name
unlink "$lake/history_uint/manifest.json" or die "unlink: $!";
append_to_file("$lake/history_uint/${\ date(-1)}.parquet.tmp", 'half');
ok(export('history_uint'), 'broken off, it goes on');
is( join(' ', map { s/ .*//r } files_of('history_uint')),
	"${\ date(-1)}.parquet manifest.json",
	'... and leaves nothing behind');

# another kind of export does not mix with it
ok(!export('--names', 'history'), 'other columns');
like($err, qr/differs in its names: take another directory/, '... go to another directory');

# ---- names, a range, integers that are too large ----

$lake = PostgreSQL::Test::Utils::tempdir();
ok( export(
		'--names', '--from',
		date(-1) . ' 00:00 UTC', '--to',
		date(-1) . ' 00:00:02 UTC', 'public.history'),
	'names, and a range');
agree(
	'history',
	'... as Zabbix has them',
	"SELECT h.itemid, h.clock, o.host, i.name FROM history h LEFT JOIN items i USING (itemid) LEFT JOIN hosts o USING (hostid) WHERE clock BETWEEN ${\ day(-1)} AND ${\ day(-1)} + 1 ORDER BY 1, 2",
	'SELECT itemid, clock, host, item FROM {} ORDER BY 1, 2');
$node->safe_psql('zabbix',
	"INSERT INTO history_uint VALUES (1, ${\ day(0)}, 99999999999999999999, 0), (2, ${\ day(0)}, 18446744073709551616, 0)"
);
ok(export('history_uint'), 'integers of more than 64 bits');
agree(
	'history_uint',
	'... are decimals in the file of their day',
	"SELECT itemid, value FROM history_uint WHERE clock = ${\ day(0)} ORDER BY 1",
	"SELECT itemid, value::DECIMAL(20, 0) FROM read_parquet('$lake/history_uint/${\ date(0)}.parquet') ORDER BY 1"
);
$node->safe_psql('zabbix',
	"UPDATE history_uint SET value = 'NaN' WHERE itemid = 2 AND clock = ${\ day(0)}");
my @uint = files_of('history_uint');
ok(!export('history_uint'), 'a NaN is none');
like($err, qr/a row cannot be stored: .*NaN/, '... and that is told');
is_deeply(
	[ grep { /parquet / } files_of('history_uint') ],
	[ grep { /parquet / } @uint ],
	'... what has been written stays');

# ---- what cannot be ----

ok(!export('no_such'), 'no such table');
like($err, qr/relation "no_such" does not exist/, '... is told');
ok(!export('items', '--format', 'csv'), 'no such format');
like($err, qr/--format is sql or parquet, not csv/, '... is told');

log_is_clean($node);
$node->stop;
done_testing();
