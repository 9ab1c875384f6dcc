# Where PUBLIC has no privileges on the schemas of the extension, or the
# library is missing, DDL of others works as before, and packed days are
# guarded as far as that is possible.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('revoked');

# SQL in a new session of a role, which loads no library beforehand; the output, or the first error.
sub as
{
	my ($role, $sql, $database) = @_;
	my ($code, $out, $err) =
	  psql_script($node, $database // 'zabbix', $sql, '-q', '-U', $role, '-v', 'ON_ERROR_STOP=1');

	return $err =~ /(?:ERROR|FATAL):\s+(.*)/ ? $1 : $out;
}

# What somebody does who has nothing to do with managed tables.
sub works_for_others
{
	my ($name, $database) = @_;

	is( as( 'other',
			'CREATE TABLE mine (a integer); ALTER TABLE mine ADD b integer DEFAULT 3, ALTER a TYPE bigint;'
			  . ' CREATE SCHEMA own CREATE TABLE more (LIKE public.mine); ALTER TABLE mine RENAME TO ours;'
			  . ' DROP TABLE ours; DROP SCHEMA own CASCADE; DROP OWNED BY other',
			$database),
		'',
		"$name: DDL of others");
	$node->safe_psql($database // 'zabbix',
		'GRANT CREATE ON DATABASE ' . ($database // 'zabbix') . ' TO other');
}

$node->safe_psql('postgres', <<'SQL');
CREATE ROLE dba LOGIN; CREATE ROLE other LOGIN; CREATE ROLE zabbix LOGIN;
GRANT zabbix TO dba;
SQL
create_database($node, 'zabbix', 'dba');
create_zabbix_tables($node, 'zabbix', 'zabbix');
$node->safe_psql('zabbix',
		'GRANT CREATE ON DATABASE zabbix TO other; SET ROLE dba;'
	  . ' SELECT zbxhist.create_parent(t, \'1 day\', \'30 days\') FROM unnest(\'{history,history_uint}\'::regclass[]) t;'
	  . join('', map { "SELECT zbxhist.create_partition('history', '${\ date(-$_)}');" } 1 .. 2));
$node->safe_psql('zabbix', join('', map { insert_values('history', 1, 100, day(-$_)) } 0 .. 1));
as('dba', "CALL zbxhist.pack('history', '${\ date(-2)}')");
$node->safe_psql('zabbix', 'ALTER DATABASE zabbix RESET session_preload_libraries');
my $stored = totals($node, 'zabbix', 'history');
my $day = $node->safe_psql('zabbix', 'SELECT day FROM zbxhist.packed_day');

# ---- with all privileges ----

works_for_others('at first');
my $lost = qr/^cannot drop .* values of 1 packed day would be lost/;
my @drops = (
	'DROP TABLE history CASCADE',
	'DROP FOREIGN TABLE history_packed CASCADE',
	'DROP OWNED BY zabbix CASCADE');
like(as('zabbix', $_), $lost, "$_ is refused") for @drops;

# ---- without ----

$node->safe_psql('zabbix',
		'REVOKE ALL ON SCHEMA zbxhist, zbxhist_internal FROM PUBLIC;'
	  . ' REVOKE ALL ON ALL TABLES IN SCHEMA zbxhist FROM PUBLIC');
works_for_others('revoked');
like(as('zabbix', $_), $lost, "revoked: $_ is refused") for @drops;
is(totals($node, 'zabbix', 'history'), $stored, '... and nothing is lost');

# as Zabbix does it, and its upgrades
is(as('zabbix', insert_values('history', 1001, 100, day(0))),
	'', 'revoked: INSERT into partitions and as late values');
is( as('zabbix', 'SELECT count(*), max(clock) FROM history WHERE itemid = 3'),
	'2|' . day(-1),
	'... SELECT');
is( as( 'zabbix',
		'UPDATE history SET value = -1 WHERE itemid = 3; DELETE FROM history WHERE itemid = 6;'
		  . ' SELECT count(*), sum(value) FROM history WHERE itemid IN (3, 6)'),
	'2|-2',
	'... UPDATE and DELETE');
is( as( 'zabbix',
		'ALTER TABLE history ADD COLUMN origin integer DEFAULT 7 NOT NULL;'
		  . ' SELECT count(DISTINCT origin) FROM history'),
	'1',
	'... a new column');
like(
	as('zabbix', "ALTER TABLE history ALTER value TYPE numeric, ADD COLUMN note text DEFAULT 'x'"),
	qr/permission denied for schema zbxhist/,
	'... but no rewrite after which new columns of packed rows would be unknown');
as('dba', 'CALL zbxhist.run_maintenance()');
is( $node->safe_psql(
		'zabbix',
		"SELECT attfdwoptions FROM pg_attribute WHERE attrelid = 'history_packed'::regclass AND attname = 'origin'"
	),
	'{missing=7}',
	'... whose default maintenance notes');
is( $node->safe_psql(
		'zabbix', 'SELECT count(*) FROM zbxhist.maintenance_log WHERE sqlstate IS NOT NULL'),
	0,
	'maintenance works as well');

# ---- without the library ----

# as if its file were gone
$node->safe_psql('zabbix',
	"UPDATE pg_proc SET probin = '\$libdir/gone' WHERE pronamespace = 'zbxhist_internal'::regnamespace AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')"
);
works_for_others('without library and privileges');
my $missing = qr/because the library of zbxhist is missing and there are packed days/;
like(as('zabbix', 'DROP OWNED BY zabbix CASCADE'),
	$missing, 'without either: DROP OWNED of packed days is refused');
$node->safe_psql('zabbix', 'GRANT USAGE ON SCHEMA zbxhist, zbxhist_internal TO PUBLIC');
works_for_others('without library');
like(as('dba', 'DROP EXTENSION zbxhist CASCADE'),
	$missing, 'without library: DROP EXTENSION is refused');
is(as('dba', 'SET zbxhist.allow_packed_drop = on; DROP EXTENSION zbxhist CASCADE'),
	'', '... but for who allows it');
works_for_others('after it');

log_is_clean($node);
$node->stop;
done_testing();
