# Each way into a parent is counted under its name: the short one, and each
# reason that keeps a statement from it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use Test::More;
use ZbxhistTest;

my $node = test_server('paths', shared_preload_libraries => 'zbxhist');
create_database($node, 'zabbix');
set_up($node, 'zabbix');

my ($item, $now) = (1, day(0));

# The VALUES of so many new rows.
sub rows
{
	my ($count) = @_;

	$item += $count;
	return join ',', map { sprintf '(%d,%d,0.5,1)', $item - $_, $now } 1 .. $count;
}

# The counters of a table, as "path statements values", apart from those that
# have not changed since the last call.
my %before;

sub counted
{
	my ($table) = @_;
	my @result;

	for my $line (
		split /\n/,
		$node->safe_psql(
			'zabbix',
			'SELECT path, statements, values_stored FROM zbxhist.insert_paths()'
			  . " WHERE parent = '$table'::regclass ORDER BY path COLLATE \"C\""))
	{
		my ($path, $statements, $values) = split /\|/, $line;
		my $old = $before{"$table.$path"} // [ 0, 0 ];

		push @result, join(' ', $path, $statements - $old->[0], $values - $old->[1])
		  if $statements != $old->[0];
		$before{"$table.$path"} = [ $statements, $values ];
	}
	return join ', ', @result;
}

# Runs SQL in one session and says what it counted as.
sub counts_as
{
	my ($wanted, $sql, $name) = @_;

	$node->safe_psql('zabbix', $sql);
	is(counted('history'), $wanted, $name // $wanted);
}

is(counted('history'), '', 'nothing so far');

# ---- the statement ----

counts_as('fast 2 6',
	'INSERT INTO history VALUES ' . rows(5) . '; INSERT INTO history VALUES ' . rows(1));
counts_as(
	'fast 3 3',
	'PREPARE p (bigint) AS INSERT INTO history VALUES ($1,'
	  . "$now,0,0); EXECUTE p (-1); EXECUTE p (-2); EXECUTE p (-3)",
	'each execution counts');
counts_as(
	'statement 2 3',
	'INSERT INTO history VALUES '
	  . rows(1)
	  . ", (-4, $now, 1 + 1, 0); INSERT INTO history VALUES (-5, $now, random(), 0)");
counts_as('statement 1 10',
	"INSERT INTO history SELECT i, $now, 0, 2 FROM generate_series(1, 10) i");
counts_as('copy 1 2', "COPY history (itemid, clock) FROM stdin;\n-6\t$now\n-7\t$now\n\\.\n");
counts_as('statement 1 2', 'INSERT INTO history VALUES ' . rows(2) . ' RETURNING itemid');
counts_as('statement 1 1', 'INSERT INTO history VALUES ' . rows(1) . ' ON CONFLICT DO NOTHING');
counts_as(
	'fast 1 1, statement 1 1',
	'WITH a AS (INSERT INTO history_str VALUES ('
	  . "-1, $now, 'a', 0)) INSERT INTO history VALUES "
	  . rows(1)
	  . '; INSERT INTO history VALUES '
	  . rows(1));
counts_as('statement 1 2',
	"SELECT zbxhist.add(NULL::history, '{-8,-9}', '{$now,$now}', '{0,0}', '{1,2}'::float8[])");
counts_as(
	'statement 1 1',
	'CREATE VIEW v AS SELECT * FROM history WHERE ns < 10 WITH CHECK OPTION;'
	  . 'INSERT INTO v VALUES '
	  . rows(1));
$node->safe_psql('zabbix', 'DROP VIEW v');

# ---- the session ----

for my $setting (
	'zbxhist.enable_fast_insert = off',
	'zbxhist.enable_batching = off',
	'zbxhist.enable_routing = off')
{
	counts_as('setting 1 2', "SET $setting; INSERT INTO history VALUES " . rows(2), $setting);
}
counts_as('replication 1 1',
	'SET session_replication_role = replica; INSERT INTO history VALUES ' . rows(1));

# ---- the table ----

my $insert = 'INSERT INTO history VALUES ' . rows(1) . ';';
for my $case (
	[
		'trigger 1 1',
		'CREATE FUNCTION nop() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$;'
		  . 'CREATE TRIGGER t BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION nop()',
		'DROP TRIGGER t ON history'
	],
	[
		'rule 1 1',
		'CREATE RULE r AS ON DELETE TO history DO ALSO NOTHING',
		'DROP RULE r ON history'
	],
	[
		'row_security 1 1',
		'ALTER TABLE history ENABLE ROW LEVEL SECURITY',
		'ALTER TABLE history DISABLE ROW LEVEL SECURITY'
	],
	[
		'column 1 1',
		'ALTER TABLE history ADD twice float8 GENERATED ALWAYS AS (value * 2) STORED',
		'ALTER TABLE history DROP twice'
	])
{
	my ($wanted, $do, $undo) = @$case;

	$node->safe_psql('zabbix', $do);
	counts_as($wanted, 'INSERT INTO history (itemid, clock, value, ns) VALUES ' . rows(1));
	$node->safe_psql('zabbix', $undo);
}
counts_as('fast 1 1', 'INSERT INTO history VALUES ' . rows(1), 'the short way again');

# ---- all together ----

is( rows_of($node, 'zabbix', 'history'),
	$node->safe_psql(
		'zabbix',
		"SELECT sum(values_stored) FROM zbxhist.insert_paths() WHERE parent = 'history'::regclass"),
	'each row is counted once');
is( $node->safe_psql(
		'zabbix',
		'SELECT s.values_routed + s.values_kept = sum(i.values_stored), s.values_fast = sum(i.values_stored) FILTER (WHERE i.path = $$fast$$)'
		  . ' FROM zbxhist.status s JOIN zbxhist.insert_paths() i USING (parent)'
		  . " WHERE parent = 'history'::regclass GROUP BY s.values_routed, s.values_kept, s.values_fast"
	),
	't|t',
	'status shows the same');
is(counted('history_str'), 'statement 1 1', 'tables are counted apart');
my $tables =
  "SELECT string_agg(DISTINCT parent::text, ' ' ORDER BY parent::text) FROM zbxhist.insert_paths()";
like($node->safe_psql('zabbix', $tables), qr/^history .*history_str\b/, 'tables are named');
$node->safe_psql('zabbix', 'DROP TABLE history_str CASCADE');
unlike($node->safe_psql('zabbix', $tables),
	qr/history_str|\d/, 'those that have been dropped are not shown');

$node->stop;

# ---- without preloading: from 17 on there are counters all the same ----

SKIP:
{
	skip 'no counters without preloading before PostgreSQL 17', 1 if $node->pg_version < 17;

	my $bare = test_server('bare');
	create_database($bare, 'zabbix');
	set_up($bare, 'zabbix');
	$bare->safe_psql('zabbix',
		'INSERT INTO history VALUES ' . rows(2) . '; INSERT INTO history VALUES ' . rows(3));
	is( $bare->safe_psql(
			'zabbix',
			'SELECT path, statements, values_stored FROM zbxhist.insert_paths() ORDER BY path COLLATE "C"'
		),
		"fast|1|3\nnot_loaded|1|2",
		'the first statement loads the library');
	$bare->stop;
}
done_testing();
