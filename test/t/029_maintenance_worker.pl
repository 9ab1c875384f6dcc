# The background worker maintains the databases of zbxhist.databases, as their
# owners.  A database that does not exist, or fails, does not stop the others.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server(
	'worker',
	shared_preload_libraries => 'zbxhist',
	'zbxhist.maintenance_interval' => 1,
	'zbxhist.databases' => '');

# the second owner cannot log in
$node->safe_psql('postgres',
	'CREATE ROLE alice LOGIN; CREATE ROLE bob NOLOGIN; CREATE ROLE carol LOGIN');
for ([ 'one', 'alice' ], [ 'two', 'bob' ], [ 'three', 'carol' ])
{
	my ($database, $owner) = @$_;

	create_database($node, $database, $owner);
	set_up($node, $database, $owner);
}
$node->safe_psql('postgres',
	'CREATE DATABASE without_extension; CREATE DATABASE "Odd name, really"');
$node->safe_psql('Odd name, really', 'CREATE EXTENSION zbxhist');
set_up($node, 'Odd name, really');

# Gives maintenance something of each kind to do.
sub make_work
{
	my ($database) = @_;

	$node->safe_psql($database,
			'DROP TABLE '
		  . partition('history', 3) . ';'
		  . "SELECT zbxhist.create_partition('history', '${\ date(-40)}');"
		  . 'SET zbxhist.enable_routing = off;'
		  . insert_values('history', 1, 1000, day(0)));
}

# Waits until all that is done.
sub is_done
{
	my ($database, $name) = @_;

	ok( $node->poll_query_until(
			$database,
			"SELECT to_regclass('"
			  . partition('history', 3)
			  . "') IS NOT NULL"
			  . " AND to_regclass('"
			  . partition('history', -40)
			  . "') IS NULL"
			  . ' AND (SELECT count(*) FROM ONLY history) = 0'
			  . ' AND (SELECT count(*) FROM history) = 1000'
			  . " AND EXISTS (SELECT FROM zbxhist.status WHERE last_success IS NOT NULL AND parent = 'history'::regclass)"
		),
		"$name: premade, moved and dropped");
}

sub set_databases
{
	my ($databases) = @_;

	$node->adjust_conf('postgresql.conf', 'zbxhist.databases', "'$databases'");
	$node->reload;
}

my $launcher = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'zbxhist launcher'";
my $first_launcher = $node->safe_psql('postgres', $launcher);
isnt($first_launcher, '', 'the launcher runs');

make_work($_) for 'one', 'two', 'three', 'Odd name, really';
set_databases('one, missing, without_extension, two, template0, "Odd name, really"');
is_done('one', 'owner with LOGIN');
if ($node->pg_version < 17)
{
	# before 17 no worker can have such a role
	$node->wait_for_log(qr/role "bob" is not permitted to log in/);
	$node->safe_psql('postgres', 'ALTER ROLE bob LOGIN');
}
is_done('two', 'owner without LOGIN (since PostgreSQL 17)');
is_done('Odd name, really', 'quoted name');
is(rows_of($node, 'three', 'ONLY history'), 1000, 'a database not listed: nothing is done');
is( $node->safe_psql(
		'two', "SELECT DISTINCT relowner::regrole FROM pg_class WHERE relname ~ '_p20'"),
	'bob',
	'new partitions belong to the owner');
is($node->safe_psql('template1', "SELECT to_regnamespace('zbxhist') IS NULL"),
	't', 'nothing in template1');

my $log = slurp_file($node->logfile);
like(
	$log,
	qr/database "missing" of "zbxhist.databases" does not exist/,
	'a missing database is reported');
like(
	$log,
	qr/database "template0" of "zbxhist.databases" .*accepts no connections/,
	'one without connections is reported');
unlike($log, qr/without_extension.*zbxhist/, 'one without the extension is not');

# ---- who runs it ----

# a trigger function of the owner is the one thing of his that DDL runs
$node->safe_psql('one', <<'SQL');
CREATE TABLE who (name text, is_superuser text);
GRANT ALL ON who TO PUBLIC;
CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.who VALUES (current_user, current_setting('is_superuser'));
END $$;
CREATE EVENT TRIGGER note ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
    EXECUTE FUNCTION note();
SQL
$node->safe_psql('one', 'DROP TABLE ' . partition('history', 3));
ok($node->poll_query_until('one', 'SELECT count(*) > 0 FROM who'), 'the next run is soon');
is($node->safe_psql('one', 'SELECT DISTINCT * FROM who'),
	'alice|off', 'maintenance runs as the database owner');
$node->safe_psql('one', 'DROP EVENT TRIGGER note');

# ---- an error in one database ----

$node->safe_psql('one', 'ALTER TABLE zbxhist.parent_state RENAME TO hidden');
set_databases('one, three');
is_done('three', 'after a reload, and after a database with an error');
$node->safe_psql('one', 'ALTER TABLE zbxhist.hidden RENAME TO parent_state');

# ---- databases come and go ----

$node->safe_psql('postgres', 'DROP DATABASE three');
$node->safe_psql('postgres', 'ALTER DATABASE two RENAME TO three');
$node->safe_psql('three', 'DROP TABLE ' . partition('history', 3));
ok( $node->poll_query_until(
		'three', "SELECT to_regclass('" . partition('history', 3) . "') IS NOT NULL"),
	'DROP DATABASE is not kept waiting, and a new one of the name is maintained');
is($node->safe_psql('postgres', $launcher), $first_launcher, 'the launcher is still the first');

set_databases('');
ok( $node->poll_query_until(
		'postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'zbxhist maintenance'"),
	'no database: no worker');

# ---- a database whose maintenance hangs ----

my $hanging = $node->background_psql('one');
$hanging->query_safe('BEGIN; LOCK TABLE zbxhist.parent_state IN ACCESS EXCLUSIVE MODE');
$node->safe_psql('three', 'DROP TABLE ' . partition('history', 3));
set_databases('one, three');
for my $round (1, 2)
{
	ok( $node->poll_query_until(
			'three', "SELECT to_regclass('" . partition('history', 3) . "') IS NOT NULL"),
		"another one has its turn, round $round");
	$node->safe_psql('three', 'DROP TABLE ' . partition('history', 3));
}
is( $node->safe_psql(
		'postgres', q{SELECT count(*) FROM pg_stat_activity
		   WHERE backend_type = 'zbxhist maintenance' AND datname = 'one' AND wait_event_type = 'Lock'}
	),
	1,
	'... and one worker waits in the first, no more');
$hanging->query_safe('COMMIT');
$hanging->quit;
ok( $node->poll_query_until('one', "SELECT bool_and(begun_pid IS NULL) FROM zbxhist.parent_state"),
	'it goes on when it can');
set_databases('');
ok( $node->poll_query_until(
		'postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'zbxhist maintenance'"),
	'... to its end');

# ---- counters ----

is( $node->safe_psql(
		'one',
		'SELECT sum(values_routed), sum(values_stored), sum(statements) FROM zbxhist.insert_paths()'
	),
	'0|1000|1',
	'counters: rows kept');
$node->safe_psql('one',
	insert_values('history', 5001, 600, day(0)) . insert_values('history_uint', 1, 6, day(0)));
$node->safe_psql('one', insert_values('history', 6001, 400, day(0)));
is( $node->safe_psql(
		'one',
		'SELECT parent, sum(values_routed), sum(values_stored), sum(statements),'
		  . " bool_or(path = 'fast') FROM zbxhist.insert_paths() GROUP BY 1 ORDER BY 1"),
	"history|1000|2000|3|t\nhistory_uint|6|6|1|t",
	'counters: rows routed');
is( $node->safe_psql(
		'postgres', 'CREATE EXTENSION zbxhist; SELECT count(*) FROM zbxhist.insert_paths()'),
	0,
	'counters: only those of the database');

# ---- the end ----

# from the first second on, when there are no cached catalogs yet
set_databases('one');
$node->stop('fast');
$node->start;
$node->safe_psql('one', 'DROP TABLE ' . partition('history', 3));
ok( $node->poll_query_until(
		'one', "SELECT to_regclass('" . partition('history', 3) . "') IS NOT NULL"),
	'it works after a restart');
is(scalar(() = slurp_file($node->logfile) =~ /"zbxhist launcher" \(PID \d+\) exited/g),
	1, 'the launcher has ended only with the server');
log_is_clean($node);
$node->stop;
done_testing();
