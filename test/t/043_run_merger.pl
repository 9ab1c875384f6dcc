# A worker merges runs while they are stored: nobody preloads a library for it, it
# acts as the owner of the tables, there is one for an owner and few in a server, and
# it keeps nobody waiting.  Without one nothing fails, and maintenance merges.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);
use ZbxhistTest;

my $node = test_server('run_merger', max_worker_processes => 8);
my $clock = 864000;
my $ns = 0;

$node->safe_psql('postgres',
	'CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE writer LOGIN'
);

# Tables with an hour of runs each.
sub make_tables
{
	my ($database, $owner, @tables) = @_;

	$node->safe_psql(
		$database,
		"SET SESSION AUTHORIZATION $owner;" . join '',
		map {
			"SELECT zbxhist.create_parent('$_', '1 hour', retention => '200 years', pack_after => '1 hour', ingest => 'runs');"
			  . "SELECT zbxhist_internal.create_runs('$_', 864000, 867600);"
			  . "GRANT INSERT, SELECT ON $_ TO writer;"
		} @tables);
}

# Stores so many statements of few rows in each table.
sub store
{
	my ($database, $statements, @tables) = @_;
	my $sql = "SET SESSION AUTHORIZATION writer;\n";

	for (1 .. $statements)
	{
		$ns++;
		$sql .=
		  "INSERT INTO $_ (itemid,clock,ns,value) VALUES (1,$clock,$ns,1),(2,$clock,$ns,2);\n"
		  for @tables;
	}
	return $node->safe_psql($database, $sql);
}

# The number of runs of a table.
sub runs
{
	my ($database, $table) = @_;
	my $day = $node->safe_psql($database,
		"SELECT day FROM zbxhist.packed_day WHERE runs AND from_clock = 864000 AND parent = '$table'::regclass"
	);

	return $node->safe_psql($database, "SELECT count(*) FROM $day");
}

my $mergers = "FROM pg_stat_activity WHERE backend_type = 'zbxhist merge'";

# Stores until the runs of all tables have been merged.
sub store_until_merged
{
	my ($database, @tables) = @_;
	my $end = time() + 60;

	while (time() < $end)
	{
		store($database, 100, @tables);
		for (1 .. 20)
		{
			return 1 if !grep { runs($database, $_) >= 64 } @tables;
			sleep 0.1;
		}
	}
	return 0;
}

sub wait_for_worker
{
	my ($database) = @_;

	for (1 .. 100)
	{
		store($database, 20, 'history');
		return 1
		  if $node->safe_psql('postgres',
			"SELECT count(*) $mergers AND datname = '$database'");
		sleep 0.1;
	}
	return 0;
}

# ---- one database ----

create_database($node, 'zabbix', 'alice');
create_zabbix_tables($node, 'zabbix', 'alice');
make_tables('zabbix', 'alice', qw(history history_uint history_str));

# what the owner has set is for his sessions
$node->safe_psql(
	'postgres',
	"ALTER ROLE alice SET default_transaction_read_only = on;
	 ALTER ROLE alice SET default_transaction_isolation = 'serializable';
	 ALTER ROLE alice SET lock_timeout = '1ms'");

# and nobody's code runs there
$node->safe_psql(
	'zabbix', q{
	CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF (SELECT backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid()) <> 'client backend' THEN RAISE 'called'; END IF;
	END $$;
	CREATE EVENT TRIGGER refuse ON ddl_command_start EXECUTE FUNCTION refuse();
});

is( $node->safe_psql(
		'zabbix', "SELECT current_setting('shared_preload_libraries')"),
	'',
	'no library is preloaded');
ok( store_until_merged('zabbix', qw(history history_uint history_str)),
	'runs of three tables are merged while they are stored');
is( $node->safe_psql(
		'postgres', "SELECT count(*), min(usename::text) $mergers"),
	'1|alice',
	'one worker does that, as their owner');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) = count(DISTINCT ns) * 2, count(*) = $ns * 2 FROM history"
	),
	't|t',
	'with all rows, once');

# that statements are not counted is said, or they are
my (undef, undef, $said) =
  psql_script($node, 'zabbix', 'SELECT * FROM zbxhist.insert_paths()');
is( $said =~ /NOTICE:  statements are not counted by this server/ ? 1 : 0,
	$node->pg_version < 17 ? 1 : 0,
	'why statements are not counted');

# and what takes longer than ten seconds, but for what is done each hour
(undef, undef, $said) = psql_script($node, 'zabbix', <<'SQL');
SELECT zbxhist_internal.tell_progress('history', 'undo_move', NULL, statement_timestamp() - interval '11 s'),
       zbxhist_internal.tell_progress('history', 'pack', NULL, statement_timestamp() - interval '11 s'),
       zbxhist_internal.tell_progress('history', 'move', NULL, statement_timestamp());
SQL
like(
	$said,
	qr/\A(?:psql:<stdin>:3: )?NOTICE:  \d+ s: moving rows of public\.history\n\z/,
	'what takes long is told');

# fewer than those are merged where few come
sub merges_few
{
	my $stored = q{SELECT count(*) FROM }
	  . $node->safe_psql('zabbix',
		"SELECT day FROM zbxhist.packed_day WHERE runs AND from_clock = 864000 AND parent = 'history'::regclass"
	  ) . ' WHERE batch IS NULL';

	for (1 .. 60)
	{
		store('zabbix', 20, 'history');
		my $before = $node->safe_psql('zabbix', $stored);
		next if $before < 16 || $before >= 48;
		for (1 .. 30)
		{
			return 1 if $node->safe_psql('zabbix', $stored) < 16;
			sleep 0.1;
		}
	}
	return 0;
}
ok(merges_few(), 'few runs are merged, too, some seconds after others');

# ---- VACUUM ----

# Stores until a query says so: a worker that is kept waiting leaves VACUUM to
# autovacuum, and only the next runs have another one started.
sub store_until
{
	my ($query, $rounds) = @_;

	for (1 .. $rounds)
	{
		store('zabbix', 300, 'history');
		for (1 .. 80)
		{
			return 1 if $node->safe_psql('zabbix', "SELECT $query") eq 't';
			sleep 0.1;
		}
	}
	return 0;
}

my $hour = $node->safe_psql('zabbix',
	"SELECT day FROM zbxhist.packed_day WHERE runs AND from_clock = 864000 AND parent = 'history'::regclass"
);
my $is_vacuumed = "pg_stat_get_vacuum_count('$hour'::regclass) > 0";

$node->safe_psql(
	'postgres', q{
	ALTER DATABASE zabbix SET vacuum_cost_delay = '100ms';
	ALTER DATABASE zabbix SET vacuum_cost_limit = 1;
	ALTER DATABASE zabbix SET vacuum_cost_page_hit = 10000});
$node->safe_psql('zabbix',
	"SELECT pg_terminate_backend(pid) $mergers; SELECT pg_stat_reset()");
ok( store_until(
		"$is_vacuumed OR EXISTS (SELECT $mergers AND wait_event = 'VacuumDelay')",
		20),
	'the table is vacuumed');
is($node->safe_psql('zabbix', "SELECT $is_vacuumed"),
	't', 'without a pause, whatever the owner of the database has set');

# who has a page of the index in use keeps VACUUM waiting, but not the worker
my $reader = $node->background_psql('zabbix');
$node->safe_psql('zabbix', 'DELETE FROM history WHERE ns < 300');
$reader->query_safe(
	"SET enable_seqscan = off; SET enable_bitmapscan = off; BEGIN; DECLARE c CURSOR FOR SELECT batch FROM $hour WHERE batch IS NOT NULL ORDER BY batch, last_itemid; FETCH 1 FROM c"
);
note 'VACUUM did not come to wait for a page'
  if !store_until("EXISTS (SELECT $mergers AND wait_event = 'BufferPin')", 2);
store('zabbix', 300, 'history');
ok(store_until_merged('zabbix', qw(history history_uint)),
	'runs are merged all the same');
$reader->query_safe('COMMIT');
$reader->quit;

# ---- what it must not keep waiting ----

ok(wait_for_worker('zabbix'), 'a worker is there');
$node->safe_psql('zabbix',
	"SET SESSION AUTHORIZATION alice; SET default_transaction_read_only = off; SET lock_timeout = 0; SET zbxhist.allow_packed_drop = on; DROP TABLE history_str CASCADE"
);
ok( $node->safe_psql(
		'postgres', "SELECT bool_and(pg_terminate_backend(pid)) $mergers"),
	'it can be ended');
ok( $node->poll_query_until(
		'postgres', "SELECT NOT EXISTS (SELECT $mergers)"),
	'and ends');
ok(store_until_merged('zabbix', qw(history history_uint)),
	'another one takes its place');
ok(wait_for_worker('zabbix'), 'a worker is there');
my $began = time();
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE zabbix');
cmp_ok(time() - $began, '<', 60, 'the database can be copied');
is($node->safe_psql('copy', 'SELECT count(*) > 0 FROM history'),
	't', 'and the copy is whole');
ok(wait_for_worker('zabbix'), 'a worker is there');
$node->safe_psql('postgres', 'DROP DATABASE zabbix');
$node->safe_psql('postgres', 'DROP DATABASE copy');

# ---- many databases and owners ----

my @databases = ([ 'one', 'alice' ], [ 'two', 'bob' ], [ 'three', 'alice' ]);
for (@databases)
{
	my ($database, $owner) = @$_;

	create_database($node, $database, $owner);
	$node->safe_psql('postgres', "ALTER ROLE $owner RESET ALL");
	create_zabbix_tables($node, $database, $owner);
	make_tables($database, $owner, 'history');
}
my $most = 0;
my $end = time() + $PostgreSQL::Test::Utils::timeout_default;
my %left = map { $_->[0] => 1 } @databases;
while (%left && time() < $end)
{
	for (sort keys %left)
	{
		store($_, 70, 'history');
		my $now = $node->safe_psql('postgres', "SELECT count(*) $mergers");
		$most = $now if $now > $most;
		delete $left{$_} if runs($_, 'history') < 64;
	}
}
is(join(' ', sort keys %left), '', 'in each database runs are merged');
cmp_ok($most, '<=', 2, 'by two workers at most');

# ---- none ----

$node->stop;
$node->adjust_conf('postgresql.conf', 'max_worker_processes', '0');
$node->start;
store('one', 300, 'history');
cmp_ok(runs('one', 'history'), '>=', 64, 'without workers runs are stored');
$node->safe_psql('one',
	"SELECT zbxhist_internal.step_merge_runs('history', day) FROM zbxhist.packed_day WHERE runs AND from_clock = 864000 AND parent = 'history'::regclass"
);
cmp_ok(runs('one', 'history'), '<', 64, 'and maintenance merges them');

# until it has, check() tells, with a command for it
my $found =
  "FROM zbxhist.check() WHERE code = 'runs_not_merged' AND object ~ 'history_p19700111_0000'";
store('one', 300, 'history');
like(
	$node->safe_psql('one', "SELECT message $found"),
	qr/^[23]\d\d runs .* no worker process left for it \(max_worker_processes is 0\)$/,
	'check() tells why they are not merged');
$node->safe_psql('one', $node->safe_psql('one', "SELECT hint $found"));
is($node->safe_psql('one', "SELECT count(*) $found"),
	0, 'nothing is to be told when its hint has been run');
is( $node->safe_psql('one', 'SELECT count(DISTINCT ns) FROM history'),
	$node->safe_psql('one', 'SELECT count(*) / 2 FROM history'),
	'and nothing is lost');

is( join(
		"\n",
		grep {
			/ERROR|merge/
			  && !/terminating background worker|exited with exit code 1/
		  }
		  split(/\n/, slurp_file($node->logfile))),
	'',
	'the log has no errors');
log_is_clean($node);
$node->stop;
done_testing();
