# A database owner who is not a superuser sets everything up.  Readers and
# writers need the same privileges as before, and nobody else can change
# anything.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use ZbxhistTest;

my $node = test_server('privileges');

# The result of SQL as a role: SQLSTATE or output.
sub as
{
	my ($role, $sql) = @_;
	my ($code, $out, $err) = psql_script($node, 'zabbix', "SET SESSION AUTHORIZATION $role;\n$sql",
		'-q', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose');

	return $err =~ /ERROR:  (\w{5}):/ ? $1 : $out;
}

$node->safe_psql('postgres', <<'SQL');
CREATE ROLE owner; CREATE ROLE zabbix; CREATE ROLE reader; CREATE ROLE writer;
CREATE ROLE late; CREATE ROLE nobody;
CREATE DATABASE zabbix OWNER owner;
SQL

# ---- the owner ----

is(as('owner', 'CREATE EXTENSION zbxhist'), '', 'the database owner creates the extension');
$node->safe_psql('zabbix', 'GRANT ALL ON SCHEMA public TO zabbix; GRANT zabbix TO owner');
create_zabbix_tables($node, 'zabbix', 'zabbix');
$node->safe_psql('zabbix', <<'SQL');
GRANT SELECT ON history, history_log TO reader;
GRANT INSERT ON history TO writer;
SQL

is( as( 'owner',
		"SELECT count(*) FROM zbxhist.setup('public', '30 days', history_interval => '1 day') WHERE action = 'create_parent'"
	),
	8,
	'... and sets up tables of a role that he is a member of');
is( as('owner', "SELECT zbxhist.create_partition('history', '${\ date(-1)}')"),
	partition('history', -1),
	'... creates a partition');
is( as('owner', "SELECT zbxhist.create_partition('history', '${\ date(-40)}')"),
	partition('history', -40),
	'... and another');
is(as('owner', "SELECT zbxhist.alter_parent('history', premake => 4)"),
	'', '... changes the policy');
is(as('zabbix', 'SET zbxhist.enable_routing = off;' . insert_values('history', 1, 1000, day(0))),
	'', 'the tables\' owner writes');
is(as('owner', 'CALL zbxhist.run_maintenance()'), '', 'the database owner runs maintenance');
is(rows_of($node, 'zabbix', 'ONLY history'), 0, '... which moves');
is($node->safe_psql('zabbix', "SELECT to_regclass('" . partition('history', -40) . "')"),
	'', '... drops');
is( $node->safe_psql('zabbix', "SELECT to_regclass('" . partition('history', 4) . "')"),
	partition('history', 4),
	'... and premakes');
is( $node->safe_psql(
		'zabbix', "SELECT DISTINCT relowner::regrole FROM pg_class WHERE relname ~ '_p20'"),
	'zabbix',
	"partitions belong to the table's owner");
is( $node->safe_psql(
		'zabbix', 'SELECT count(*) FROM zbxhist.maintenance_log WHERE sqlstate IS NOT NULL'),
	0,
	'maintenance has had no error');

# ---- readers and writers ----

my $reading = 'SELECT count(*), sum(hashtextextended(h::text, 0)::numeric) FROM history h';
is( as('reader', $reading),
	$node->safe_psql('zabbix', $reading),
	'a reader reads all through the parent');
is(as('reader', 'SELECT count(*) FROM ' . partition('history', 4)), 0, '... and any partition');
is(as('reader', 'SELECT count(*) FROM history_uint'), '42501', '... but no other table');
is(as('reader', insert_values('history', 2001, 10, day(0))), '42501', 'a reader cannot write');
is(as('reader', 'DELETE FROM history'), '42501', '... nor delete');

is(as('writer', insert_values('history', 3001, 1000, day(0))), '', 'a writer writes');
is(rows_of($node, 'zabbix', 'history WHERE itemid > 3000'), 1000, '... each row');
is(rows_of($node, 'zabbix', 'ONLY history'), 0, '... into partitions');
is(as('writer', insert_values('history', 3501, 1000, day(0))),
	'23505', '... and gets 23505 for a duplicate');
is(as('writer', "INSERT INTO history (itemid, clock) VALUES (-1, 5)"),
	'', '... days without a partition too');
is(as('writer', 'SELECT count(*) FROM history'), '42501', 'a writer cannot read');
is(as('writer', insert_values('history_uint', 1, 1, day(0))),
	'42501', '... nor write another table');

# packed days belong to the table's owner, and are read through the parent
my $day = date(-1);
my $packed = 'zbxhist_packed.' . partition('history', -1);
is(as('owner', "CALL zbxhist.pack('history', '$day')"), '', 'the database owner packs a day');
is( $node->safe_psql(
		'zabbix',
		'SELECT string_agg(DISTINCT relowner::regrole::text, \',\') FROM pg_class'
		  . " WHERE oid IN ('$packed'::regclass, 'history_packed'::regclass)"),
	'zabbix',
	"... which belongs to the table's owner");
is( as('reader', $reading),
	$node->safe_psql('zabbix', $reading),
	'a reader reads it through the parent');
is(as('reader', 'SELECT count(*) FROM history_packed'), '42501', '... not by the foreign table');
is(as('reader', "SELECT count(*) FROM $packed"), '42501', '... nor by its table');
is(as('reader', 'DELETE FROM history WHERE clock < ' . day(0)), '42501', '... nor deletes');
is(as('writer', 'INSERT INTO history (itemid, clock) VALUES (1, ' . day(-1) . ')'),
	'', 'a writer writes late rows');
is(as('owner', 'CALL zbxhist.run_maintenance()'), '', '... which are merged');
is(rows_of($node, 'zabbix', 'ONLY history'), 0, '... and expired ones deleted');
is(as('owner', "CALL zbxhist.unpack('history', '$day')"), '', 'the database owner unpacks it');
is(as('late', "CALL zbxhist.pack('history', '$day')"), '42501', 'nobody else packs');
$node->safe_psql('zabbix',
	'DELETE FROM history WHERE itemid = 1 AND ns = 0 AND clock = ' . day(-1));

# what is granted later is for new partitions, too; inserts need the parent's only
$node->safe_psql('zabbix', 'GRANT INSERT, SELECT ON history TO late');
is(as('late', insert_values('history', 5001, 100, day(0))),
	'', 'a later GRANT on the parent is enough to write');
is( as('late', 'SELECT count(*) FROM history'),
	rows_of($node, 'zabbix', 'history'),
	'... and to read');
$node->safe_psql('zabbix', 'REVOKE INSERT ON history FROM writer');
is(as('writer', insert_values('history', 6001, 100, day(0))),
	'42501', 'REVOKE on the parent is enough');
is(as('writer', 'INSERT INTO history_uint SELECT 1, 2, 3, 4'), '42501', 'no way round');

# ---- nobody ----

my %arguments = (
	regclass => "'history'::regclass",
	date => 'current_date',
	bigint => '0',
	integer => '1',
	interval => "'1 day'",
	text => "'move'",
	name => "'public'",
	boolean => 'false',
	'text[]' => "'{}'",
	'regclass[]' => "'{history}'",
	oid => "'history'::regclass",
	jsonb => "'{}'",
	'name[]' => "'{}'",
	xid => "'3'",
	'timestamp with time zone' => 'now()',
	anyelement => 'NULL::history',
	'zbxhist.parent_config' =>
	  "(SELECT c FROM zbxhist.parent_config c WHERE parent = 'history'::regclass)",
	'zbxhist.managed_schema' => 'NULL');
my @functions = split /\n/, $node->safe_psql(
	'zabbix',
	"SELECT prokind, pronamespace::regnamespace, proname, (SELECT string_agg(format_type(t, NULL), ';' ORDER BY n)"
	  . ' FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS u (t, n))'
	  . " FROM pg_proc WHERE pronamespace IN ('zbxhist'::regnamespace, 'zbxhist_internal'::regnamespace)"
	  . " AND prorettype <> 'trigger'::regtype"

	  # planner support, which SQL cannot call
	  . " AND 'internal'::regtype <> ALL (proargtypes::oid[]) ORDER BY 3");
cmp_ok(scalar @functions, '>', 30, scalar(@functions) . ' functions');

# Everything of the database that anybody could have changed.
sub snapshot
{
	return $node->safe_psql(
		'zabbix',
		join ';',
		'SELECT oid, relname, relkind, relowner, relacl, relfilenode FROM pg_class'
		  . " WHERE relnamespace IN ('public'::regnamespace, 'zbxhist'::regnamespace) ORDER BY oid",
		'SELECT oid, tgname, tgrelid FROM pg_trigger ORDER BY oid',
		(   map { "SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM $_ t" }
			  qw(history zbxhist.parent_config zbxhist.parent_state zbxhist.managed_schema zbxhist.maintenance_log)
		));
}

my $before = snapshot();
for (@functions)
{
	my ($kind, $schema, $name, $types) = split /\|/, $_;
	my @types = split /;/, $types // '';

	my $values = join ', ', map { ($arguments{$_} // (/\[\]$/ ? "'{}'" : 'NULL')) . "::$_" } @types;
	my $call = "$schema.$name($values)";

	as('nobody', $kind eq 'p' ? "CALL $call" : "SELECT * FROM $call");
}
is(snapshot(), $before, 'nobody has changed anything by any function');
is( $node->safe_psql('zabbix',
		<<'SQL'), '', 'no relation of the extension can be written by PUBLIC');
SELECT oid::regclass FROM pg_class
 WHERE relnamespace = 'zbxhist'::regnamespace
   AND (has_table_privilege('nobody', oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR relkind = 'S' AND has_sequence_privilege('nobody', oid, 'USAGE, UPDATE'))
SQL
is( $node->safe_psql(
		'zabbix',
		"SELECT has_schema_privilege('nobody', s, 'CREATE'), has_schema_privilege('nobody', s, 'USAGE')"
		  . " FROM unnest('{zbxhist,zbxhist_internal}'::text[]) s"),
	"f|t\nf|t",
	'PUBLIC may look up what is in the schemas, no more');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM pg_proc WHERE pronamespace IN ('zbxhist'::regnamespace, 'zbxhist_internal'::regnamespace) AND prosecdef"
	),
	0,
	'no SECURITY DEFINER');
is( as( 'nobody',
		'CREATE TABLE mine (a int); CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION zbxhist.route()'
	),
	'42501',
	'nobody makes a trigger of route()');
is(as('nobody', 'SELECT count(*) FROM zbxhist.parents'), 8, 'nobody may look at the policy');
is(as('nobody', 'SELECT count(*) FROM zbxhist.maintenance_log'), '42501', '... not at the log');

# ---- an owner of tables who is not the database owner ----

is(as('zabbix', "SELECT zbxhist.alter_parent('history', premake => 1)"),
	'42501', "the tables' owner has no say in the policy");
is(as('zabbix', 'CALL zbxhist.run_maintenance()'), '42501', '... nor in maintenance');
$node->safe_psql('zabbix', 'REVOKE zabbix FROM owner');
isnt(
	as( 'owner',
		"SELECT zbxhist_internal.move_rows('history', '"
		  . partition('history', 0)
		  . "', 0, 1, NULL, 1)"),
	'',
	'the database owner alone cannot touch tables of others');
as('owner', 'CALL zbxhist.run_maintenance()');
is(rows_of($node, 'zabbix', 'history'), 2100, '... whose rows stay');

log_is_clean($node);
$node->stop;
done_testing();
