# pg_dump and its restore, in each format, as a database owner who is no superuser, give a working
# set-up: the same rows, partitions and policy; routing, maintenance and the triggers work.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $OWNER = 'zabbix';
my $directory = PostgreSQL::Test::Utils::tempdir();
my $yesterday = date(-1);

my $node = test_server('dump');
$node->safe_psql('postgres',
	"CREATE ROLE $OWNER LOGIN; CREATE ROLE reader; CREATE ROLE other NOLOGIN");
create_database($node, 'original', $OWNER);
$node->safe_psql('original', "SET ROLE $OWNER; CREATE EXTENSION zbxhist_migrate");
set_up($node, 'original', $OWNER);

# values in partitions, in the parent, of days without a partition; a table
# that is not managed any more, and one that never was
$node->safe_psql('original', <<"SQL");
SET SESSION AUTHORIZATION $OWNER;
GRANT SELECT ON history TO reader;
@{[ insert_values('history', 1, 1000, day(0)) ]}
@{[ insert_values('history', 2001, 500, day(-5)) ]}
INSERT INTO history (itemid, clock) VALUES (-1, 2147483647), (-2, -5), (-3, 0);
INSERT INTO history_str SELECT i, ${\ day(0) }, 'it''s ' || i, 7 FROM generate_series(1, 300) i;
INSERT INTO trends SELECT i, ${\ day(0) }, 60, 1.5, 2.5, 3.5 FROM generate_series(1, 300) i;
SELECT zbxhist.alter_parent('history', retention => '17 days', accept_deletion => true, premake => 5);
SELECT zbxhist.alter_parent('trends', move_existing => true);
CALL zbxhist.run_maintenance();
CALL zbxhist.pack('history', '$yesterday');
INSERT INTO history SELECT i, ${\ day(-1) } + 70000, 1, 1 FROM generate_series(1, 50) i;
CALL zbxhist.undo('history_bin');
CREATE TABLE readings (itemid bigint NOT NULL, clock integer NOT NULL, value integer);
SELECT zbxhist.create_parent('readings'), zbxhist.create_partition('readings', '$yesterday');
INSERT INTO readings SELECT i, ${\ day(-1) } + i, i FROM generate_series(1, 50) i;
CALL zbxhist.pack('readings', '$yesterday');
ALTER TABLE readings DROP COLUMN value;
ALTER TABLE readings ADD COLUMN value integer DEFAULT 7;
CALL zbxhist.run_maintenance('readings');
CREATE TABLE parts (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('parts', '6 hours', retention => '100 years', pack_after => '1 hour');
SELECT zbxhist_internal.create_range('parts', c, c + 21600) FROM generate_series(86400, 172799, 21600) c;
INSERT INTO parts SELECT i, 86400 + c * 600, i + c FROM generate_series(1, 100) i, generate_series(0, 143) c;
CALL zbxhist.run_maintenance('parts');
CREATE TABLE unmanaged AS SELECT 1 AS a;
CREATE TABLE auditlog (auditid varchar(25) PRIMARY KEY, clock integer NOT NULL);
INSERT INTO auditlog SELECT 'c' || i, ${\ day(-1) } + i FROM generate_series(1, 50) i;
SELECT zbxhist.partition_auditlog('auditlog', retention => '100 years', premake => 2);
SQL

# A query about everything that must come back.
my $state = join ";\n", (
	map {
		"SELECT '$_', count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM $_ t"
	} qw(history history_uint history_str history_log history_text history_bin trends trends_uint unmanaged readings parts auditlog)
  ),
  'SELECT parent, partition_interval, retention, premake, pack_after, move_existing,'
  . ' routing, created_at FROM zbxhist.parent_config ORDER BY parent::text',
  'SELECT * FROM zbxhist.auditlog_config', 'SELECT * FROM zbxhist.managed_schema',
  "SELECT extname, extversion, extnamespace::regnamespace FROM pg_extension WHERE extname ~ '^zbxhist' ORDER BY 1",
  'SELECT parent, partition, from_clock, to_clock FROM zbxhist.partitions',
  'SELECT tgrelid::regclass, tgname, tgtype, tgenabled FROM pg_trigger'
  . ' WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname',
  'SELECT relname, pg_get_userbyid(relowner), relacl FROM pg_class'
  . " WHERE relnamespace IN ('public'::regnamespace, 'zbxhist_partitions'::regnamespace) ORDER BY 1";

my $expected = $node->safe_psql('original', $state);
is($node->safe_psql('original', 'SELECT value, count(*) FROM readings GROUP BY 1'),
	'7|50', 'a packed column that was dropped does not come back');

is( $node->safe_psql(
		'original',
		"SELECT partition FROM zbxhist.partitions WHERE parent = 'parts'::regclass AND kind = 'packed' AND to_clock <= 172800"
	),
	'zbxhist_packed.parts_p19700102',
	'the parts of a day are one');

# Runs a program of the server's version as the owner.
sub run_as_owner
{
	my ($target, $program, @arguments) = @_;

	local $ENV{PGHOST} = $target->host;
	local $ENV{PGPORT} = $target->port;
	local $ENV{PGUSER} = $OWNER;
	command_ok([ $program, @arguments ], "$program @arguments[0, 1]");
}

# The restored database has everything and works.
sub works
{
	my ($target, $database, $name) = @_;

	is($target->safe_psql($database, $state),
		$expected, "$name: the same rows, policy, partitions, triggers, grants");

	my $all = rows_of($target, $database, 'history');
	my $today = 'ONLY history WHERE clock >= ' . day(0);
	my $kept = rows_of($target, $database, $today);
	$target->safe_psql($database,
		"SET SESSION AUTHORIZATION $OWNER;" . insert_values('history', 9001, 1000, day(0)));
	is(rows_of($target, $database, $today), $kept, "$name: new rows are routed");

	$target->safe_psql($database,
			"SET SESSION AUTHORIZATION $OWNER;"
		  . "SELECT zbxhist.create_partition('history', '${\ date(-5)}')");
	maintain($target, $database, $OWNER);
	is( $target->safe_psql(
			$database, 'SELECT count(*) FROM zbxhist.maintenance_log WHERE sqlstate IS NOT NULL'),
		0,
		"$name: maintenance has no error");
	is(rows_of($target, $database, 'ONLY history WHERE clock >= ' . day(-5)),
		1, "$name: maintenance moves all rows but that of 2038");
	is( rows_of($target, $database, 'history WHERE clock >= ' . day(-17)),
		$all + 1000,
		"$name: every row within retention is still there");
	is( $target->safe_psql(
			$database, "SELECT count(*) FROM zbxhist.verify('history'), zbxhist.packed_day"),
		0,
		"$name: packed days are whole");
	is( $target->safe_psql(
			$database,
			'SELECT count(*) > 0, count(*) = count(p.objid) FROM zbxhist.packed_day d'
			  . ' LEFT JOIN pg_depend p ON p.objid = d.day'
			  . " AND p.refobjid = zbxhist_internal.packed_table(d.parent) AND p.deptype = 'n'"),
		't|t',
		"$name: ... and depend on what stands for them");
}

sub new_database
{
	my ($name) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name OWNER $OWNER");
	$node->safe_psql($name, 'GRANT ALL ON SCHEMA public TO PUBLIC');
	return ('-d', $name);
}

# ---- formats ----

my $plain = "$directory/plain.sql";
run_as_owner($node, 'pg_dump', '-f', $plain, 'original');
run_as_owner($node, 'psql', new_database('from_plain'),
	'-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $plain);
works($node, 'from_plain', 'plain');

my $custom = "$directory/custom.dump";
run_as_owner($node, 'pg_dump', '-Fc', '-f', $custom, 'original');
run_as_owner($node, 'pg_restore', new_database('from_custom'), '-j2', '--exit-on-error', $custom);
works($node, 'from_custom', 'custom, -j2');

run_as_owner($node, 'pg_dump', '-Fd', '-j2', '-f', "$directory/dir", 'original');
run_as_owner($node, 'pg_restore', new_database('from_directory'),
	'-1', '--exit-on-error', "$directory/dir");
works($node, 'from_directory', 'directory, one transaction');

# the schema first, then the data through the triggers
my $inserts = "$directory/inserts.sql";
run_as_owner($node, 'pg_dump', '-s', '-f', "$directory/schema.sql", 'original');
run_as_owner($node, 'pg_dump', '-a', '-f', $inserts, 'original');
run_as_owner(
	$node, 'psql', new_database('from_data'), '-X',
	'-q', '-v', 'ON_ERROR_STOP=1', '-f',
	"$directory/schema.sql");
run_as_owner($node, 'psql', '-d', 'from_data', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $inserts);
works($node, 'from_data', 'schema, then data');

# ... or, as a superuser, without them
$node->command_ok(
	[
		'pg_dump', '-a', '--disable-triggers', '--column-inserts',
		'--rows-per-insert=100', '-f', $inserts, 'original'
	],
	'pg_dump --data-only --disable-triggers --rows-per-insert');
run_as_owner(
	$node, 'psql', new_database('from_inserts'), '-X',
	'-q', '-v', 'ON_ERROR_STOP=1', '-f',
	"$directory/schema.sql");
$node->command_ok(
	[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'from_inserts', '-f', $inserts ],
	'... and its restore');

# ENABLE TRIGGER ALL, at the end of each table, forgets which one was only for
# replication; check() knows what to do
$node->safe_psql('from_inserts',
	"SELECT hint FROM zbxhist.check() WHERE hint LIKE 'ALTER TABLE%' \\gexec");
works($node, 'from_inserts', 'schema, then INSERTs without triggers');

# ---- the configuration alone ----

# Backups of the configuration, as zabbix-dump, know the tables that Zabbix has, and
# stop at any other in its schema.
create_database($node, 'configured', $OWNER);
$node->safe_psql('configured', <<"SQL");
SET ROLE $OWNER;
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) NOT NULL);
INSERT INTO hosts VALUES (10084, 'Zabbix server');
CREATE TABLE auditlog (auditid varchar(25) PRIMARY KEY, clock integer NOT NULL);
SQL
create_zabbix_tables($node, 'configured', $OWNER);
my $known = "SELECT table_name FROM information_schema.tables WHERE table_schema='public'"
  . " AND table_catalog='configured' AND table_type='BASE TABLE' ORDER BY 1";
my @tables = split /\n/, $node->safe_psql('configured', $known);
cmp_ok(scalar @tables, '>', 8, 'tables that are known');
$node->safe_psql('configured', <<"SQL");
SET SESSION AUTHORIZATION $OWNER;
SELECT * FROM zbxhist.setup('public', '30 days', '1 year', history_interval => '1 day');
SELECT zbxhist.create_partition('history', '$yesterday'), zbxhist.partition_auditlog('auditlog', retention => '100 years');
@{[ insert_values('history', 1, 300, day(0)) ]}
CALL zbxhist.pack('history', '$yesterday');
CALL zbxhist.run_maintenance();
SQL
is_deeply([ split /\n/, $node->safe_psql('configured', $known) ],
	\@tables, 'no other table is in the schema of Zabbix');
my $configuration = "$directory/configuration.sql";
run_as_owner($node, 'pg_dump',
	(map { "--exclude-table-data=$_" } grep { /^(history|trends|auditlog)/ } @tables),
	'-n', 'public', '-f', $configuration, 'configured');
new_database('from_configuration');
$node->safe_psql('from_configuration', "SET ROLE $OWNER; CREATE EXTENSION zbxhist");
my (undef, undef, $complaints) =
  psql_script($node, 'from_configuration', slurp_file($configuration));
$complaints =~ s/^.*schema "public" already exists\n//mg;
is($complaints, '', 'it is restored where the extension is');
is( $node->safe_psql(
		'from_configuration',
		'SELECT (SELECT host FROM hosts), (SELECT count(*) FROM history), (SELECT count(*) FROM auditlog)'
	),
	'Zabbix server|0|0',
	'... without values');
$node->safe_psql('from_configuration', <<"SQL");
SET SESSION AUTHORIZATION $OWNER;
SELECT * FROM zbxhist.setup('public', '30 days', '1 year', history_interval => '1 day');
SELECT zbxhist.create_partition('history', '$yesterday'), zbxhist.partition_auditlog('auditlog', retention => '100 years');
INSERT INTO auditlog VALUES ('c0', 0);
@{[ insert_values('history', 1, 300, day(0)) ]}
CALL zbxhist.pack('history', '$yesterday');
CALL zbxhist.run_maintenance();
SQL
is( $node->safe_psql(
		'from_configuration',
		"SELECT (SELECT count(*) FROM history), (SELECT count(*) FROM ONLY history), (SELECT sum(nrows) FROM zbxhist.packed_day)"
	),
	'300|0|100',
	'setup() is all that it needs');
$node->safe_psql('postgres', "DROP DATABASE $_") for qw(configured from_configuration);

# ---- another server ----

my $other = test_server('other');
my $everything = "$directory/all.sql";
$node->safe_psql('postgres', "DROP DATABASE from_$_") for qw(plain custom directory data inserts);
$node->command_ok([ 'pg_dumpall', '--no-role-passwords', '-f', $everything ], 'pg_dumpall');
my ($code, $out, $err) = psql_script($other, 'postgres', slurp_file($everything));
$err =~ s/^.*role "\S+" already exists\n//mg;
is($err, '', 'its restore on another server has no other error');
works($other, 'original', 'pg_dumpall');

log_is_clean($node);
log_is_clean($other, 'nothing unusual in the log of the other server');
$node->stop;
$other->stop;
done_testing();
