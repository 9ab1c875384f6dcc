# Items that share their times in a packed day: they survive a dump and a
# crash; and whatever bytes the owner writes in place of the times, a statement
# returns rows or XX001.  ZBXHIST_FORGED=10 tries ten times as much, for a
# server with sanitizers.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PackedBytes;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $much = $ENV{ZBXHIST_FORGED} // 1;
my $seed = $ENV{ZBXHIST_SEED} // time();
my $node = test_server('shared');
my $clock = day(-1);
my $day = POSIX::strftime('%Y-%m-%d', gmtime($clock));
my $table = 'zbxhist_packed.' . partition('history', -1);

note("ZBXHIST_SEED=$seed");
srand($seed);
create_database($node, 'zabbix', 'postgres');

sub sql { return $node->safe_psql('zabbix', $_[0]) }

# four items of a master, one that lacks some of its values, one of its own
sql(<<"SQL");
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', pack_after => NULL), zbxhist.create_partition('history', '$day');
INSERT INTO history
SELECT item, $clock + i * 300, item + i / 8.0, hashint8(CASE item WHEN 6 THEN i + 1000 ELSE i END) & 536870911
  FROM generate_series(1, 6) item, generate_series(0, 249) i WHERE item <> 5 OR i % 3 > 0;
CREATE TABLE plain AS SELECT * FROM history;
CREATE VIEW difference AS
    (SELECT * FROM plain EXCEPT ALL SELECT * FROM history) UNION ALL
    (SELECT * FROM history EXCEPT ALL SELECT * FROM plain);
SQL

sub is_whole
{
	my ($what) = @_;

	is( sql(    "SELECT (SELECT count(*) FROM difference), (SELECT count(*) FROM history),"
			  . " (SELECT count(*) FROM zbxhist.verify('history')),"
			  . " (SELECT count(*) > 0 FROM $table WHERE nrows = 0)"),
		'0|1416|0|t',
		$what);
	return;
}

sql("CALL zbxhist.pack('history', '$day')");
is_whole('packed');
$node->stop('immediate');
$node->start;
is_whole('after a crash');

# ---- a dump ----

my $file = PostgreSQL::Test::Utils::tempdir() . '/zabbix.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $file, $node->connstr('zabbix') ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $file ],
	'restored');
is( $node->safe_psql(
		'restored',
		"SELECT (SELECT count(*) FROM difference), (SELECT count(*) FROM zbxhist.verify('history')),"
		  . " (SELECT count(*) > 0 FROM $table WHERE nrows = 0)"),
	'0|0|t',
	'... with its shared times');

# ---- forged bytes ----

my @rows = map { [ split /\|/ ] } split /\n/,
  sql("SELECT ctid, encode(payload, 'hex'), nrows FROM $table ORDER BY nrows");
is(scalar(grep { $_->[2] == 0 } @rows), 1, 'one row has times');
my @all = map { pack('H*', $_->[1]) } @rows;
sql(<<'SQL');
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RAISE EXCEPTION USING ERRCODE = 'ZZ999';
EXCEPTION
    WHEN SQLSTATE 'ZZ999' THEN RETURN '00000';
    WHEN OTHERS THEN RETURN SQLSTATE;
END
$$;
SQL

# What becomes of statements when a row has other bytes, or is another row.
my @statements = (
	'SELECT count(value), sum(ns) FROM history',
	'SELECT max(clock) FROM history WHERE itemid = 5',
	"DELETE FROM history WHERE itemid = 2 AND clock < $clock + 9000",
	'UPDATE history SET value = value + 1 WHERE itemid IN (1, 6)',
	"SELECT * FROM zbxhist.verify('history')",
	"INSERT INTO history SELECT * FROM plain WHERE itemid IN (3, 5)");
my %states;
for (1 .. 60 * $much)
{
	my $row = $rows[ rand @rows ];
	my $bytes = with_checksums(mutated(pack('H*', $row->[1]), \@all));
	my $hex = unpack('H*', $bytes);
	my $nrows = rand() < 0.1 ? 'CASE nrows WHEN 0 THEN 700 ELSE 0 END' : 'nrows';
	my $forged = join ', ', map { "state_of(\$s\$$_\$s\$)" } @statements;

	$states{$_}++
	  for split /\|/,
	  ( split /\n/,
		sql("BEGIN; UPDATE $table SET payload = '\\x$hex', nrows = $nrows WHERE ctid = '$row->[0]';"
			  . "SELECT $forged; ROLLBACK"))[-1];
}
note(join ', ', map { "$_: $states{$_}" } sort keys %states);
is(join(' ', grep { !/^(?:00000|XX001|23505)$/ } sort keys %states),
	'', 'forged times give rows or XX001');
ok($states{XX001}, '... and some are found to be damaged');
is_whole('the day is as it was');

done_testing();
