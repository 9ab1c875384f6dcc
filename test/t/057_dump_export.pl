# Dumps of a part of the database: what they leave out, the command that leaves
# nothing out, and scripts/export, whose file restores the rows of a table or a
# range, packed ones included.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $directory = PostgreSQL::Test::Utils::tempdir();
my $script = "$FindBin::RealBin/../../scripts/export";
my $yesterday = POSIX::strftime('%Y-%m-%d', gmtime(day(-1)));
my @tables =
  qw(history history_uint history_str history_log history_text history_bin trends trends_uint);

my $node = test_server('export');
create_database($node, 'original');
set_up($node, 'original');

# rows of each kind: packed, in a partition, in the parent
$node->safe_psql('original', <<"SQL");
SELECT zbxhist.create_partition(t, '$yesterday')
  FROM unnest('{history_str,history_log,history_text,history_bin}'::regclass[]) t;
INSERT INTO history SELECT i, ${\ day(-1) } + i * 10, i / 7.0, i FROM generate_series(1, 2000) i;
INSERT INTO history VALUES (1, ${\ day(-1) }, 'NaN', 0), (2, ${\ day(-1) }, '-Infinity', 0), (3, ${\ day(-1) }, '-0', 0), (4, ${\ day(-1) }, 5e-324, 0);
INSERT INTO history_uint SELECT i, ${\ day(-1) } + i, 18446744073709551615 - i, 999999999 FROM generate_series(1, 500) i;
INSERT INTO history_str SELECT i, ${\ day(-1) } + i, E'tab\\tline\\n\\\\.\\\\N ' || i, 1 FROM generate_series(1, 300) i;
INSERT INTO history_log SELECT i, ${\ day(-1) } + i, i, 'source', 4, repeat(chr(8364), 500) || i, i, 1 FROM generate_series(1, 100) i;
INSERT INTO history_text SELECT i, ${\ day(-1) } + i, E'\\r\\n' || i, 1 FROM generate_series(1, 100) i;
INSERT INTO history_bin SELECT i, ${\ day(-1) } + i, '\\x00ff5c'::bytea, 1 FROM generate_series(1, 100) i;
INSERT INTO trends SELECT i, ${\ day(0) }, 60, 1.5, 2.5, 3.5 FROM generate_series(1, 300) i;
INSERT INTO trends_uint SELECT i, ${\ day(0) }, 60, 1, 2, 18446744073709551615 FROM generate_series(1, 300) i;
SQL
$node->safe_psql('original', "CALL zbxhist.pack('$_', '$yesterday')")
  for grep { !/trends/ } @tables;
$node->safe_psql('original', insert_values('history', 5000, 200, day(0)));
$node->safe_psql('original', insert_values('history', 6000, 100, day(-9)));
is($node->safe_psql('original', 'SELECT count(*) FROM zbxhist.packed_day'), 6, 'days are packed');

# ---- what a part of a dump has ----

my ($status, undef, $stderr) =
  $node->psql('original', "LOAD 'zbxhist'; COPY history_str TO STDOUT");
is($status, 3, 'COPY of a table, which would have no packed row, is refused');
like(
	$stderr,
	qr/ERROR:  cannot copy from table "history_str".*HINT:  Use COPY \(SELECT \.\.\. FROM history_str\) TO\./s,
	'... with what to do instead');
is( $node->safe_psql(
		'original',
		"LOAD 'zbxhist'; DO \$\$ BEGIN PERFORM set_config('search_path', '', false); END \$\$; COPY public.history_str TO STDOUT"
	),
	'',
	'... but as pg_dump sends it it has the rows of the table itself');
my $rows = () =
  $node->safe_psql('original', 'COPY (SELECT itemid FROM history_str) TO STDOUT') =~ /^\d/mg;
is($rows, 300, '... COPY of a SELECT has them all');

my $told = "SELECT severity, hint FROM zbxhist.check() WHERE code = 'partial_dump'";
is( $node->safe_psql('original', $told),
	"info|pg_dump -d 'original' -Fd -f zabbix.dump",
	'check() says so');
$node->safe_psql('original',
	"BEGIN; UPDATE zbxhist.parent_config SET created_at = now() - interval '8 days'; COMMIT");
is($node->safe_psql('original', $told), '', '... for a week');

# all of Zabbix's schema without the rest of the database
{
	local $ENV{PGOPTIONS} = '-c session_preload_libraries=zbxhist';
	$node->command_ok(
		[
			'pg_dump', '-n', 'public', '-n',
			'zbxhist*', '-e', 'zbxhist', '-f',
			"$directory/schemas.sql", '-d', $node->connstr('original')
		],
		'pg_dump of the schemas and the extension');
}
$node->safe_psql('postgres', 'CREATE DATABASE schemas');
$node->safe_psql('schemas', 'DROP SCHEMA public');
$node->command_ok(
	[
		'psql', '-X', '-q', '-v',
		'ON_ERROR_STOP=1', '-o', '/dev/null', '-f',
		"$directory/schemas.sql", '-d', $node->connstr('schemas')
	],
	'... is restored');
is(totals($node, 'schemas', $_), totals($node, 'original', $_), "... with $_") for @tables;

# no rows at all: a working set-up, whose packed tables are empty
$node->command_ok(
	[ 'pg_dump', '--schema-only', '-f', "$directory/empty.sql", '-d', $node->connstr('original') ],
	'pg_dump --schema-only');
$node->safe_psql('postgres', 'CREATE DATABASE empty');
$node->command_ok(
	[
		'psql', '-X', '-q', '-v',
		'ON_ERROR_STOP=1', '-o', '/dev/null', '-f',
		"$directory/empty.sql", '-d', $node->connstr('empty')
	],
	'... is restored');
is(rows_of($node, 'empty', 'history'), 0, '... and can be read');
$node->safe_psql('empty', insert_values('history', 1, 10, day(-1)));
is(rows_of($node, 'empty', 'history'), 10, '... and written');
$node->safe_psql('empty', 'SELECT * FROM zbxhist.setup(); CALL zbxhist.run_maintenance()');
is(rows_of($node, 'empty', 'history'), 10, '... and set up again');

# ---- scripts/export ----

# Exports from a database into a file.
sub export
{
	my ($file, @arguments) = @_;

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	my $result = IPC::Run::run([ $script, @arguments ], '>', "$directory/$file", '2>', \my $err);
	diag($err) if !$result;
	return $result;
}

# Brings a file's rows in.
sub import
{
	my ($database, $file, $name) = @_;

	return $node->command_ok(
		[ 'psql', '-X', '-q', '-d', $node->connstr($database), '-f', "$directory/$file" ], $name);
}

create_database($node, 'managed');
set_up($node, 'managed');
$node->safe_psql('postgres', 'CREATE DATABASE plain');
create_zabbix_tables($node, 'plain');
for my $table (@tables)
{
	ok(export("$table.sql", '--database', 'original', $table), "$table is exported");
	for my $database (qw(managed plain))
	{
		import($database, "$table.sql", "... and comes into $database");
		is(totals($node, $database, $table), totals($node, 'original', $table), '... as it was');
	}
}
import('managed', 'history.sql', 'a second time');
is( totals($node, 'managed', 'history'),
	totals($node, 'original', 'history'),
	'... no row comes twice');

# a range, and rows that are there already
$node->safe_psql('plain', 'UPDATE history SET value = 99 WHERE itemid = 100');
ok( export(
		'range.sql', '--database',
		'original', '--from',
		"$yesterday 00:10 UTC", '--to',
		"$yesterday 00:20:00.5 UTC", 'public.history'),
	'a range is exported');
my $from = day(-1) + 600;
$node->safe_psql('plain',
	"DELETE FROM history WHERE clock BETWEEN $from AND $from + 600 AND itemid <> 100");
import('plain', 'range.sql', '... and comes in');
is( $node->safe_psql(
		'plain',
		"SELECT count(*), min(clock) - $from, max(clock) - $from, max(value) FROM history WHERE clock BETWEEN $from AND $from + 600"
	),
	'61|0|600|99',
	'... from its first second to the last before its end, what is there stays');

# a file that was cut off changes nothing
my $whole = PostgreSQL::Test::Utils::slurp_file("$directory/history.sql");
open my $cut, '>', "$directory/cut.sql" or die "cut.sql: $!";
print $cut substr($whole, 0, length($whole) / 2);
close $cut or die "cut.sql: $!";
$node->safe_psql('plain', 'TRUNCATE history');
IPC::Run::run([ 'psql', '-X', '-q', '-d', $node->connstr('plain'), '-f', "$directory/cut.sql" ],
	'2>', \my $err);
is(rows_of($node, 'plain', 'history'), 0, 'half a file brings nothing in');

ok(!IPC::Run::run([ $script, '--database', 'original' ], '>', \my $out, '2>', \$err), 'no table');
like($err, qr/the name of a table is missing/, '... is told');
ok( !IPC::Run::run(
		[
			'env',
			'PGHOST=' . $node->host,
			'PGPORT=' . $node->port,
			$script, '--database', 'original', 'no_such'
		],
		'>',
		\$out,
		'2>',
		\$err),
	'no such table: an error');
like($err, qr/no_such.*does not exist/, '... that names it');
ok( !export(
		'reversed.sql', '--database', 'original', '--from',
		"$yesterday 00:20 UTC", '--to', "$yesterday 00:10 UTC", 'history'),
	'a range that ends before it begins: an error');
is(-s "$directory/reversed.sql", 0, '... and no script without rows');

log_is_clean($node);
$node->stop;
done_testing();
