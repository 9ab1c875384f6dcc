# ALTER EXTENSION zbxhist UPDATE to a version that this test makes from the
# present one: the objects are those of a fresh install, no INSERT fails
# meanwhile, and library and SQL of different versions work together.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $top = "$FindBin::RealBin/../..";
my $yesterday = POSIX::strftime('%Y-%m-%d', gmtime(day(-1)));

# ---- another version ----

my ($old) = slurp_file("$top/zbxhist.control") =~ /^default_version = '(.*)'$/m;
my $new = "$old.1-test";

# what it has besides: columns that the old library does not know, and a function
my $added = <<'SQL';
ALTER TABLE zbxhist.packed_day ADD COLUMN added text DEFAULT 'added';
ALTER TABLE zbxhist.parent_config ADD COLUMN added text DEFAULT 'added';
CREATE FUNCTION zbxhist_internal.added() RETURNS text LANGUAGE sql RETURN 'added';
REVOKE ALL ON FUNCTION zbxhist_internal.added() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.added() TO pg_database_owner;
SQL

# Runs a program.
sub run
{
	my @command = @_;

	system(@command) == 0 or die "failed: @command";
}

# Copies the installation, for its library and scripts are exchanged; returns
# the directory that has bin.
sub copy_installation
{
	my ($prefix, $version) = `pg_config --bindir` =~ m{^(.*)/lib/postgresql/(\d+)/}
	  or die 'pg_config';
	my $copy = PostgreSQL::Test::Utils::tempdir();

	for (qw(lib share))
	{
		my $from = "$prefix/$_/postgresql/$version";

		# an installation that is not Debian's has all in the first
		next if !-d $from;
		run('mkdir', '-p', "$copy/$_/postgresql");
		run('cp', '-a', $from, "$copy/$_/postgresql/");
	}
	return "$copy/lib/postgresql/$version";
}

# The script of an extension's update: what can be replaced is, the rest stays.
sub update_script
{
	my ($order, $script) = @_;

	for my $part (split ' ', slurp_file("$top/sql/$order"))
	{
		my $sql = slurp_file("$top/sql/$part");

		next if $part =~ /^schema\.sql/ || $sql =~ /^CREATE (?:TABLE|SERVER|FOREIGN)/m;
		$sql =~ s/^CREATE (?:EVENT )?TRIGGER.*?;$//msg;
		$sql =~ s/^CREATE (?=FUNCTION|PROCEDURE|VIEW)/CREATE OR REPLACE /mg;
		$script .= $sql;
	}
	return $script;
}

# Builds and installs the new version there.
sub install_new
{
	my ($installation) = @_;
	my $source = PostgreSQL::Test::Utils::tempdir();

	# with what was built: only the number is compiled anew
	run('cp', '-a',
		map({ "$top/$_" } qw(Makefile zbxhist.control zbxhist_migrate.control sql src)), $source);
	run('rm', '-f', glob("$source/sql/zbxhist*--*.sql"));
	run('sed', '-i', "s/\"\Q$old\E\"/\"$new\"/", "$source/src/zbxhist.c");
	run('sed', '-i',
		"s/'\Q$old\E'/'$new'/", "$source/zbxhist.control",
		"$source/zbxhist_migrate.control");
	my @make = ('make', '-s', '-C', $source, 'with_llvm=no', "EXTVERSION=$new");
	run(@make, 'PG_CONFIG=' . ($ENV{PG_CONFIG} // 'pg_config'), 'all');
	append_to_file("$source/sql/zbxhist--$new.sql", $added);
	append_to_file("$source/sql/zbxhist--$old--$new.sql", update_script('order.txt', $added));
	append_to_file("$source/sql/zbxhist_migrate--$old--$new.sql",
		update_script('migrate/order.txt', ''));
	run(@make,
		"PG_CONFIG=$installation/bin/pg_config",
		"DATA=sql/zbxhist--$old--$new.sql sql/zbxhist_migrate--$old--$new.sql", 'install');
}

my $installation = copy_installation();
my $node = test_server('update', -install_path => $installation);

# Everything about the extension's objects, a line each, without their OIDs.
my $catalog = <<'SQL';
WITH member AS (
    SELECT d.classid, d.objid FROM pg_depend d
      JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
     WHERE e.extname IN ('zbxhist', 'zbxhist_migrate') AND d.deptype = 'e'),
fact (line) AS (
    SELECT concat_ws(' | ', pg_describe_object(classid, objid, 0), obj_description(objid, tableoid.relname))
      FROM member m JOIN pg_class tableoid ON tableoid.oid = m.classid
    UNION ALL
    SELECT concat_ws(' | ', p.oid::regprocedure, CASE WHEN l.lanname <> 'c' THEN pg_get_functiondef(p.oid) ELSE p.prosrc END,
                     p.provolatile, p.proparallel, p.proisstrict, p.proretset, p.procost, p.prorows, p.prosupport,
                     (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(p.proacl) a))
      FROM member m JOIN pg_proc p ON p.oid = m.objid AND m.classid = 'pg_proc'::regclass
      JOIN pg_language l ON l.oid = p.prolang
    UNION ALL
    SELECT concat_ws(' | ', k.oid::regclass, k.relkind, k.reloptions::text, k.relpersistence, pg_get_viewdef(k.oid),
                     (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(k.relacl) a))
      FROM member m JOIN pg_class k ON k.oid = m.objid AND m.classid = 'pg_class'::regclass
    UNION ALL
    SELECT concat_ws(' | ', k.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                     pg_get_expr(d.adbin, d.adrelid), col_description(k.oid, a.attnum), a.attidentity,
                     (SELECT count(*) FROM pg_attribute b
                       WHERE b.attrelid = k.oid AND b.attnum BETWEEN 1 AND a.attnum AND NOT b.attisdropped))
      FROM member m JOIN pg_class k ON k.oid = m.objid AND m.classid = 'pg_class'::regclass
      JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = k.oid AND d.adnum = a.attnum
    UNION ALL
    SELECT concat_ws(' | ', 'index', pg_get_indexdef(i.indexrelid))
      FROM member m JOIN pg_index i ON i.indrelid = m.objid AND m.classid = 'pg_class'::regclass
    UNION ALL
    SELECT concat_ws(' | ', 'constraint', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
      FROM member m JOIN pg_constraint c ON c.conrelid = m.objid AND m.classid = 'pg_class'::regclass
    UNION ALL
    SELECT concat_ws(' | ', 'schema', n.nspname, n.nspowner::regrole, obj_description(n.oid, 'pg_namespace'), n.nspacl::text)
      FROM pg_namespace n WHERE n.nspname ~ '^zbxhist'
    UNION ALL
    SELECT concat_ws(' | ', 'event trigger', t.evtname, t.evtevent, t.evtenabled, t.evttags::text, t.evtfoid::regprocedure)
      FROM member m JOIN pg_event_trigger t ON t.oid = m.objid AND m.classid = 'pg_event_trigger'::regclass
    UNION ALL
    SELECT concat_ws(' | ', 'wrapper', w.fdwname, w.fdwhandler::regproc, w.fdwvalidator::regproc, w.fdwacl::text)
      FROM pg_foreign_data_wrapper w
    UNION ALL
    SELECT concat_ws(' | ', 'server', s.srvname, s.srvacl::text) FROM pg_foreign_server s
    UNION ALL
    SELECT concat_ws(' | ', 'dump', d.oid::regclass, d.condition)
      FROM pg_extension e, unnest(e.extconfig, e.extcondition) AS d (oid, condition) WHERE e.extname = 'zbxhist')
SELECT line FROM fact ORDER BY line COLLATE "C"
SQL

# ---- a database in use ----

# Statements that a session sends, each without an error.
sub goes_on
{
	my ($session, $what, $itemid) = @_;

	for (
		insert_values('history', $itemid, 50, day(0)),
		insert_values('history', $itemid, 50, day(-1)),
		"INSERT INTO hourly SELECT $itemid + i, extract(epoch FROM now())::integer, i FROM generate_series(1, 9) i;",
		"UPDATE history SET value = 4 WHERE itemid = $itemid;",
		"DELETE FROM history WHERE itemid = $itemid + 1;",
		'DROP TABLE IF EXISTS nothing;')
	{
		like($session->query("$_ SELECT 'went on';"), qr/went on/, "$what: " . substr $_, 0, 40);
	}
	is( $session->query(
			"SELECT count(*), sum(value), (SELECT count(*) FROM hourly WHERE itemid > $itemid) FROM history WHERE itemid BETWEEN $itemid AND $itemid + 49"
		),
		$node->safe_psql(
			'live',
			"SELECT count(*), sum(value), 9 FROM history WHERE itemid BETWEEN $itemid AND $itemid + 49"
		),
		'... and it reads what others read');
	$session->query(
		"INSERT INTO history (itemid, clock, ns) SELECT itemid, clock, ns FROM history WHERE itemid = $itemid"
	);
	like($session->{stderr}, qr/duplicate key value/, '... and finds keys');
	$session->{stderr} =~ s/^.*ERROR:  duplicate key.*$//m;
	unlike($session->{stderr}, qr/ERROR/, '... without another error');
}

$node->safe_psql('postgres', $_)
  for 'CREATE ROLE keeper LOGIN', 'CREATE DATABASE live OWNER keeper', 'CREATE DATABASE updated',
  'CREATE DATABASE fresh';
$node->safe_psql('updated', 'CREATE EXTENSION zbxhist; CREATE EXTENSION zbxhist_migrate');
$node->safe_psql('live',
	'SET ROLE keeper; CREATE EXTENSION zbxhist; GRANT ALL ON SCHEMA public TO PUBLIC');
set_up($node, 'live', 'keeper');
$node->safe_psql('live',
		"SET ROLE keeper;"
	  . insert_values('history', 1, 500, day(-1))
	  . insert_values('history', 1, 50, day(-9)));
$node->safe_psql(
	'live', qq{
SET ROLE keeper;
CALL zbxhist.pack('history', '$yesterday');
CREATE TABLE hourly (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('hourly', '1 hour', retention => '100 years', pack_after => '1 hour');
CALL zbxhist.run_maintenance();});
my $session = $node->background_psql('live', on_error_stop => 0);
is($session->query('SELECT zbxhist.version()'), $old, "a session has loaded the library of $old");

install_new($installation);
is($node->safe_psql('live', 'SELECT zbxhist.version()'), $new, 'a new one loads the new one');
my $early = $node->background_psql('live', on_error_stop => 0);
goes_on($early, "library of $new over SQL of $old", 2000);

my $sent = 0;
my $stream = in_background(
	$node, 'live', 'stream', 4, 1,
	sub {
		my ($client, $errors) = @_;
		my $result = $client->query(insert_values('history', 10_000 + 20 * $sent++, 20, day(0)));
		$errors->{$_}++ for @{ $result->{errors} };
		Time::HiRes::usleep(2000);
	});
sleep 1;
my ($code, $out, $err) = $node->psql('live', 'SET ROLE keeper; ALTER EXTENSION zbxhist UPDATE');
is($code, 0, "the owner of the database updates ($err)");
waitpid $stream, 0;
my ($rounds) = outcome_of($node, 'stream') =~ /^rounds (\d+)$/m;
is(outcome_of($node, 'stream'), "rounds $rounds\n", "no INSERT failed of $rounds");
is( $node->safe_psql('live', 'SELECT count(*) FROM history WHERE itemid >= 10000'),
	20 * $rounds,
	'... each row is there');
is($node->safe_psql('live', "SELECT extversion FROM pg_extension WHERE extname = 'zbxhist'"),
	$new, '... and the extension is the new one');

is($session->query('SELECT zbxhist.version()'), $old, "a session still has the library of $old");
goes_on($session, "library of $old over SQL of $new", 3000);
goes_on($early, "library of $new", 4000);

# its workers load the new library
$session->query("SET $_; SELECT 1")
  for (
	'parallel_setup_cost = 0',
	'parallel_tuple_cost = 0',
	'min_parallel_table_scan_size = 0',
	'parallel_leader_participation = off');
my $sum = 'SELECT count(*), sum(value) FROM history WHERE clock < ' . day(0);
like(
	$session->query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $sum"),
	qr/Workers Launched: [1-9].*Parallel (?:Foreign|Custom) Scan.*Days: 1/s,
	'workers of the new library read packed days for it');
is($session->query($sum), $node->safe_psql('live', $sum), '... all rows');
$_->quit for $session, $early;

my $problems = $node->safe_psql('live',
	"SET ROLE keeper; CALL zbxhist.run_maintenance(); SELECT code, message FROM zbxhist.check() WHERE severity = 'error'"
);
is($problems, '', 'nothing is wrong');
is($node->safe_psql('live', "SET ROLE keeper; SELECT count(*) FROM zbxhist.verify('history')"),
	0, '... packed days are whole');

# ---- the same objects ----

$node->safe_psql('updated',
	'ALTER EXTENSION zbxhist UPDATE; ALTER EXTENSION zbxhist_migrate UPDATE');
$node->safe_psql('fresh', 'CREATE EXTENSION zbxhist; CREATE EXTENSION zbxhist_migrate');
my @fresh = split /\n/, $node->safe_psql('fresh', $catalog);
my @updated = split /\n/, $node->safe_psql('updated', $catalog);
my %fresh = map { $_ => 1 } @fresh;
my %updated = map { $_ => 1 } @updated;

cmp_ok(scalar @fresh, '>', 1000, scalar(@fresh) . ' lines of facts');
is(join("\n", map { "fresh only: $_" } grep { !$updated{$_} } @fresh),
	'', "$old updated to $new lacks nothing");
is(join("\n", map { "updated only: $_" } grep { !$fresh{$_} } @updated),
	'', '... and has nothing else');

log_is_clean($node);
$node->stop;
done_testing();
