# ALTER EXTENSION zbxhist UPDATE: the objects are those of a fresh install, no
# INSERT fails meanwhile, and library and SQL of the two versions go together.
use strict;
use warnings;

use File::Copy ();
use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $yesterday = POSIX::strftime('%Y-%m-%d', gmtime(day(-1)));
my $node = test_server('update');

# Everything about the extension's objects, a line each, without their OIDs.
my $catalog = <<'SQL';
WITH member AS (
    SELECT d.classid, d.objid FROM pg_depend d
      JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
     WHERE e.extname = 'zbxhist' AND d.deptype = 'e'),
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

# ---- the same objects ----

$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(fresh updated);
my $newest = $node->safe_psql('fresh',
	'CREATE EXTENSION zbxhist; SELECT extversion FROM pg_extension WHERE extname = \'zbxhist\''
);
my @older = split /\n/,
  $node->safe_psql('fresh',
	"SELECT version FROM pg_available_extension_versions WHERE name = 'zbxhist' AND version <> '$newest' ORDER BY 1"
  );
ok(@older > 0, "older versions are there: @older");
for my $version (@older)
{
	$node->safe_psql('updated',
		"CREATE EXTENSION zbxhist VERSION '$version'");
	$node->safe_psql('updated', 'ALTER EXTENSION zbxhist UPDATE');
	my @fresh = split /\n/, $node->safe_psql('fresh', $catalog);
	my @updated = split /\n/, $node->safe_psql('updated', $catalog);
	my %fresh = map { $_ => 1 } @fresh;
	my %updated = map { $_ => 1 } @updated;

	cmp_ok(scalar @fresh, '>', 1000, scalar(@fresh) . ' lines of facts');
	is(join("\n", map { "fresh only: $_" } grep { !$updated{$_} } @fresh),
		'', "$version updated to $newest lacks nothing");
	is( join("\n", map { "updated only: $_" } grep { !$fresh{$_} } @updated),
		'',
		'... and has nothing else');
	$node->safe_psql('updated',
		'DROP EXTENSION zbxhist; DROP SCHEMA IF EXISTS zbxhist');
}

# ---- with a stream of values, by the owner of the database ----

# Packs the values of a day of items that all have the same times, and returns
# the newest format of its groups.
sub format_packed
{
	my ($server, $database, $days) = @_;
	my $date = POSIX::strftime('%Y-%m-%d', gmtime(day($days)));

	$server->safe_psql($database,
		"SET ROLE keeper; SELECT zbxhist.create_partition('history', '$date');"
		  . " INSERT INTO history (itemid, clock, ns, value) SELECT 900000 + i % 50, @{[ day($days) ]} + i / 50 * 60, i / 50 * 12345, i"
		  . " FROM generate_series(0, 49999) i; CALL zbxhist.pack('history', '$date')"
	);
	return $server->safe_psql($database,
		'SELECT max(get_byte(payload, 2)) FROM zbxhist_packed.'
		  . partition('history', $days));
}

# Of which kind the places for hours to come are.
my $kinds =
  "SELECT string_agg(DISTINCT kind, ' ') FROM zbxhist.partitions WHERE parent = 'hourly'::regclass"
  . " AND state = 'future' AND to_clock - from_clock = 3600";

# A table is to store new values as runs, while there is a session of before that
# could not read them: it stores them in partitions until then.
sub runs_for_nobody
{
	my ($server, $database, $session) = @_;

	$server->safe_psql($database, <<'SQL');
SET ROLE keeper;
CREATE TABLE hourly (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('hourly', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
CALL zbxhist.run_maintenance('hourly');
SQL
	is($server->safe_psql($database, $kinds),
		'heap', '... and new hours of a table are none of runs');
	is( $session->query(
			'INSERT INTO hourly SELECT i, extract(epoch FROM now())::integer, i FROM generate_series(1, 9) i; SELECT count(*) FROM hourly'
		),
		'9',
		'... so that it stores and reads their values');
	like(
		$server->safe_psql(
			$database,
			"SELECT message FROM zbxhist.check() WHERE code = 'old_sessions'"
		),
		qr/stored in ordinary partitions, not as runs/,
		'... as check() says');
}

# The update of a database that is in use on a server: every INSERT succeeds,
# and afterwards nothing is wrong.  What else sessions of before do is meanwhile.
sub update_live
{
	my ($server, $database, $how, $meanwhile) = @_;
	my $session = $server->background_psql($database, on_error_stop => 0);

	$session->query_safe(insert_values('history', 1, 100, day(0)));
	my $sent = 0;
	my $stream = in_background(
		$server,
		$database,
		'stream', 6, 1,
		sub {
			my ($client, $errors) = @_;
			my $result =
			  $client->query(
				insert_values('history', 10_000 + 20 * $sent++, 20, day(0)));
			$errors->{$_}++ for @{ $result->{errors} };
		});
	sleep 1;
	my ($code, $out, $err) =
	  $server->psql($database,
		'SET ROLE keeper; ALTER EXTENSION zbxhist UPDATE');
	is($code, 0, "$how: the owner of the database updates ($err)");
	waitpid $stream, 0;
	my ($rounds) = outcome_of($server, 'stream') =~ /^rounds (\d+)$/m;
	is( outcome_of($server, 'stream'),
		"rounds $rounds\n",
		"$how: no INSERT failed of $rounds");
	is( $server->safe_psql(
			$database, 'SELECT count(*) FROM history WHERE itemid >= 10000'),
		20 * $rounds,
		'... each row is there');

	# a session from before
	for (
		insert_values('history', 3001, 50, day(-1)),
		"insert into history (itemid,clock,ns,value) values (1,${\ day(-1) },77,0.5);",
		'UPDATE history SET value = 4 WHERE itemid = 5;',
		"DELETE FROM history WHERE itemid = 6;",
		'SELECT count(*) FROM history;',
		"DROP TABLE IF EXISTS nothing;")
	{
		my $answer = $session->query("$_ SELECT 'went on';");

		like($answer, qr/went on/, "$how: an old session: " . substr $_,
			0, 40);
	}
	is(format_packed($server, $database, -2),
		2, "$how: meanwhile days are packed as its library reads them");
	is( $session->query(
			'SELECT count(*), sum(value) FROM history WHERE itemid = 900001'),
		'1000|24976000',
		'... and it reads them');
	$session->query(
		"INSERT INTO history (itemid, clock, ns) VALUES (900001, @{[ day(-2) ]}, 0)"
	);
	like(
		$session->{stderr},
		qr/duplicate key value/,
		'... and finds keys in them');
	$session->{stderr} =~ s/^.*ERROR:  duplicate key.*$//m;
	unlike($session->{stderr}, qr/ERROR/, '... without another error');
	is( $server->safe_psql(
			$database,
			"SELECT severity, message ~ '^[1-9] sessions? ha' FROM zbxhist.check() WHERE code = 'old_sessions'"
		),
		'info|t',
		'... and check() tells of it');
	runs_for_nobody($server, $database, $session);
	$session->quit;
	$meanwhile->() if $meanwhile;
	$server->poll_query_until($database,
		'SELECT zbxhist_internal.old_sessions() = 0');
	is(format_packed($server, $database, -3),
		3, '... afterwards as the new one does');
	is( $server->safe_psql(
			$database,
			"SELECT count(*) FROM zbxhist.check() WHERE code = 'old_sessions'"
		),
		0,
		'... and it is not told any more');
	maintain($server, $database, 'keeper');
	is($server->safe_psql($database, $kinds),
		'runs', '... and new values of a table are stored as runs');
	$server->safe_psql($database,
		'SET ROLE keeper; SET zbxhist.allow_packed_drop = on; DROP TABLE hourly CASCADE'
	);
	my $problems = $server->safe_psql($database,
		"SET ROLE keeper; CALL zbxhist.run_maintenance(); SELECT code, message FROM zbxhist.check() WHERE severity = 'error'"
	);
	is($problems, '', "$how: nothing is wrong");
	is( $server->safe_psql(
			$database,
			"SET ROLE keeper; SELECT count(*) FROM zbxhist.verify('history')"
		),
		0,
		'... packed days are whole');
}

# A database of 1.0's with values of each kind.
sub create_old_database
{
	my ($server, $database) = @_;

	$server->safe_psql('postgres',
		"CREATE ROLE keeper LOGIN; CREATE DATABASE $database OWNER keeper");
	$server->safe_psql($database,
		"SET ROLE keeper; CREATE EXTENSION zbxhist VERSION '1.0'");
	$server->safe_psql($database, 'GRANT ALL ON SCHEMA public TO PUBLIC');
	set_up($server, $database, 'keeper');
	$server->safe_psql($database,
			'SET ROLE keeper;'
		  . insert_values('history', 1, 500, day(-1))
		  . insert_values('history', 1, 50, day(-9)));
	$server->safe_psql($database,
		"SET ROLE keeper; CALL zbxhist.pack('history', '$yesterday')");
	is( $server->safe_psql(
			$database,
			"SELECT extversion, (SELECT count(*) FROM zbxhist.packed_day) FROM pg_extension WHERE extname = 'zbxhist'"
		),
		'1.0|1',
		"$database: 1.0 with a packed day");
}

create_old_database($node, 'live');
maintain($node, 'live');
update_live($node, 'live', 'this library over SQL of 1.0');

# days stay days until setup() is called
my $intervals =
  "SELECT string_agg(DISTINCT partition_interval || ' ' || coalesce(pack_after::text, 'never'), ', ') FROM zbxhist.parents";
is( $node->safe_psql('live', $intervals),
	'1 day 1 day, 1 mon 1 day',
	'an update leaves intervals as they are');
maintain($node, 'live');
is( $node->safe_psql(
		'live',
		"SELECT count(*) FROM zbxhist.partitions WHERE to_clock - from_clock < 86400"
	),
	0,
	'... and maintenance goes on with days');
my $rows = rows_of($node, 'live', 'history');
like(
	$node->safe_psql(
		'live',
		"SET ROLE keeper; SELECT detail FROM zbxhist.setup(dry_run => true) WHERE parent = 'history'::regclass"
	),
	qr/^partitions of 01:00:00, 3 days ahead; packed after 01:00:00; .*before: partitions of 1 day, 3 ahead; packed after 1 day/,
	'setup() says that days go over to hours');
$node->safe_psql('live', 'SET ROLE keeper; SELECT * FROM zbxhist.setup()');
is( $node->safe_psql('live', $intervals),
	'01:00:00 01:00:00, 1 mon 1 day',
	'... and has them go');
maintain($node, 'live');
is(rows_of($node, 'live', 'history'), $rows, 'no row is lost');
log_is_clean($node);
$node->stop;

# ---- sessions that have loaded the library of 1.0 ----

SKIP:
{
	skip
	  'no library of 1.0 to try (scripts/test builds it in a git checkout)', 1
	  if !$ENV{ZBXHIST_OLD_LIBRARY};

	# an installation of its own whose library can be exchanged
	my ($prefix) = `pg_config --bindir` =~ m{^(.*)/lib/postgresql/}
	  or die 'pg_config';
	my ($version) = `pg_config --bindir` =~ m{/postgresql/(\d+)/};
	my $copy = PostgreSQL::Test::Utils::tempdir();
	mkdir "$copy/$_" for qw(lib share);
	for (qw(lib share))
	{
		my $from = "$prefix/$_/postgresql/$version";

		# an installation that is not Debian's has all in the first
		next if !-d $from;
		mkdir "$copy/$_/postgresql";
		system('cp', '-a', $from, "$copy/$_/postgresql/") == 0 or die 'cp';
	}
	my $library = "$copy/lib/postgresql/$version/lib/zbxhist.so";
	my $new = "$copy/new.so";
	File::Copy::move($library, $new) or die "move: $!";
	File::Copy::copy($ENV{ZBXHIST_OLD_LIBRARY}, $library) or die "copy: $!";
	chmod 0755, $library;

	my $old = test_server('update_old',
		-install_path => "$copy/lib/postgresql/$version");
	create_old_database($old, 'live');
	is($old->safe_psql('live', 'SELECT zbxhist.version()'),
		'1.0', 'a session has loaded the library of 1.0');
	my $session = $old->background_psql('live', on_error_stop => 0);
	$session->query_safe('SELECT zbxhist.version()');
	unlink $library;
	File::Copy::copy($new, $library) or die "copy: $!";
	chmod 0755, $library;
	is($old->safe_psql('live', 'SELECT zbxhist.version()'),
		$newest, 'a new one loads the new one');
	update_live(
		$old, 'live',
		'SQL of 1.0, updated',
		sub {
			is($session->query('SELECT zbxhist.version()'),
				'1.0', 'the old session still has the library of 1.0');

			for (
				insert_values('history', 4001, 50, day(0)),
				insert_values('history', 4001, 50, day(-1)),
				'UPDATE history SET value = 4 WHERE itemid = 5;',
				'DELETE FROM history WHERE itemid = 7;',
				'SELECT count(*) FROM history;',
				'DROP TABLE IF EXISTS nothing;')
			{
				my $answer = $session->query("$_ SELECT 'went on';");

				like($answer, qr/went on/,
					'the library of 1.0 over new SQL: ' . substr $_,
					0, 40);
			}
			unlike($session->{stderr}, qr/ERROR/, '... without an error');

			# its workers load the new library
			$session->query("SET $_; SELECT 1")
			  for (
				'parallel_setup_cost = 0',
				'parallel_tuple_cost = 0',
				'min_parallel_table_scan_size = 0',
				'parallel_leader_participation = off');
			my $sum =
			  'SELECT count(*), sum(value) FROM history WHERE clock < '
			  . day(0);
			like(
				$session->query(
					"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $sum"),
				qr/Workers Launched: [1-9].*Parallel Foreign Scan/s,
				'... workers of the new library read packed days for it');
			is( $session->query($sum),
				$old->safe_psql('live', $sum),
				'... all rows of all days');
			$session->quit;
		});
	log_is_clean($old);
	$old->stop;
}

done_testing();
