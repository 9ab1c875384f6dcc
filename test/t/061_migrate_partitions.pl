# Natively partitioned tables, created by hand or managed by pg_partman, are
# taken over as they are while values are written, also after interruptions.
# No row is lost or stored twice.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $node = test_server('adopt', max_locks_per_transaction => 128);
my $has_partman = has_extension($node, 'pg_partman');
my $adopt = 'CALL zbxhist.adopt_partitions';

$node->safe_psql('postgres', 'CREATE ROLE zabbix LOGIN; CREATE ROLE grafana LOGIN');
create_database($node, 'zabbix', 'zabbix');
$node->safe_psql('zabbix', 'SET ROLE zabbix; CREATE EXTENSION zbxhist_migrate');

# As the owner of the tables, who is no superuser.
sub sql { return sql_as($node, 'zabbix', 'zabbix', @_) }
sub messages_of { return messages_as($node, 'zabbix', 'zabbix', @_) }

# A table like Zabbix's, partitioned, and one that is not, for comparison.
sub create_native
{
	my ($table, $type) = @_;
	my $columns =
		"(itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL,"
	  . " value $type DEFAULT 0 NOT NULL, ns integer DEFAULT 0 NOT NULL,"
	  . ' PRIMARY KEY (itemid, clock, ns))';

	sql(    "CREATE TABLE $table $columns PARTITION BY RANGE (clock);"
		  . "GRANT SELECT ON $table TO grafana;"
		  . "CREATE TABLE plain_$table $columns");
}

# A stream of values of the last three days, which goes to the table and to the
# other one; whoever reads both in one statement must find the same.  Ends some
# rounds after the file is there.
sub stream
{
	my ($name, $table, $enough) = @_;
	my ($item, $seed) = (1000000 * (1 + length $name), 0);

	return in_background(
		$node, 'zabbix', $name, 0, 7,
		sub {
			my ($client, $counts) = @_;
			my $rows = value_rows($item, 100, time() - 3600 * int rand 24);

			$item += 100;
			my $result =
			  $client->query("begin; insert into $table (itemid,clock,ns,value) values $rows;"
				  . " insert into plain_$table (itemid,clock,ns,value) values $rows;"
				  . ' commit');
			$counts->{"error $_"}++ for @{ $result->{errors} };
			$client->query('rollback') if @{ $result->{errors} };
			$result = $client->query(
				"select (select count(*) from $table) - (select count(*) from plain_$table)");
			$counts->{"error $_"}++ for @{ $result->{errors} };
			$counts->{ 'difference ' . ($result->{rows}[0][0] // 'none') }++;
		},
		rounds_after(20, $enough));
}

sub files_of
{
	my ($table) = @_;

	return sql("SELECT inhrelid::regclass, pg_relation_filenode(inhrelid)"
		  . " FROM pg_inherits WHERE inhparent = '$table'::regclass"
		  . ' AND inhrelid::regclass::text ~ \'_p\' ORDER BY inhrelid::regclass::text');
}

# Whether all is as in the plain table, also with every key once more.
sub is_like_plain
{
	my ($table, $name) = @_;

	is( totals($node, 'zabbix', $table),
		totals($node, 'zabbix', "plain_$table"),
		"$name: every row is there once");
	is( sql(    "WITH again AS (SELECT * FROM $table LIMIT 500)"
			  . " SELECT count(*) FROM again JOIN plain_$table USING (itemid, clock, ns, value)"),
		500,
		"$name: with its value");
	my $messages =
	  messages_of("INSERT INTO $table SELECT * FROM plain_$table ORDER BY random() LIMIT 1");
	like($messages, qr/duplicate key value/, "$name: keys are unique");
}

# ---- partitions made by hand ----

create_native('history_uint', 'numeric(20)');
my $from = day(-6);
sql(join '',
	map {
		my ($start, $end) = (day($_) + 3600 * 5, day($_ + 1) + 3600 * 5);
		"CREATE TABLE history_uint_pd"
		  . ($_ + 100)
		  . " PARTITION OF history_uint FOR VALUES FROM ($start) TO ($end);"
	} -6 .. 4);
sql("CREATE TABLE history_uint_pold PARTITION OF history_uint FOR VALUES FROM (MINVALUE) TO ($from + 18000)"
);
sql("INSERT INTO $_ SELECT i % 700, $from + i * 20, i, i FROM generate_series(1, 20000) i")
  for 'history_uint', 'plain_history_uint';

my $plan = messages_of("$adopt('history_uint', dry_run => true)");
like(
	$plan,
	qr/would take over 12 partitions of table public\.history_uint, .*12 of them get the constraint/,
	'a dry run says what there is');
like($plan, qr/policy: partitions of 01:00:00/, '... and which policy it would get');
unlike($plan, qr/default partition/, '... and nothing else');
is(sql("SELECT relkind FROM pg_class WHERE oid = 'history_uint'::regclass"),
	'p', '... and does nothing');

my $files = files_of('history_uint');
my $enough = $node->basedir . '/enough';
my $stream = stream('values by hand', 'history_uint', $enough);

# who holds on to a partition keeps it from its constraint: the call ends
my $holder = PgWire->new($node, 'zabbix');
$holder->query('begin; lock table history_uint_pd99 in row share mode');
my $messages = messages_of("SET zbxhist.maintenance_lock_timeout = '50ms'; $adopt('history_uint')");
like(
	$messages,
	qr/could not lock table public\.history_uint_pd99 within 50 ms/,
	'who cannot lock a partition says so');
is(sql("SELECT count(*) FROM pg_constraint WHERE conname = 'zbxhist_clock' AND convalidated"),
	6, '... with the partitions before it done');

# and when all have theirs, who reads keeps it from the exchange
$holder->query('commit; begin; select count(*) from history_uint_pd96');
my $pid = fork() // die "fork: $!";
if (!$pid)
{
	my $errors =
	  eval { PgWire->new($node, 'zabbix', 'zabbix')->query("$adopt('history_uint')")->{errors}; };
	POSIX::_exit(($errors->[0] // '') eq '57014' ? 7 : 8);
}
ok( $node->poll_query_until(
		'zabbix',
		"SELECT count(*) = 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
		  . " WHERE a.query LIKE 'CALL zbxhist.adopt%' AND NOT l.granted"
		  . " AND l.mode = 'AccessExclusiveLock' AND a.pid <> pg_backend_pid()"
		  . " AND (SELECT count(*) FROM pg_constraint WHERE conname = 'zbxhist_clock') >= 11"),
	'it waits for a reader');
sql(    "SELECT count(*) FROM (SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
	  . " WHERE query LIKE 'CALL zbxhist.adopt%' AND pid <> pg_backend_pid()) c");
waitpid($pid, 0);
is($? >> 8, 7, '... and can be cancelled');
is(sql("SELECT relkind FROM pg_class WHERE oid = 'history_uint'::regclass"),
	'p', '... with the table as it was');
$holder->query('commit');
$messages = messages_of("$adopt('history_uint')");
like(
	$messages,
	qr/table public\.history_uint is managed by zbxhist now, with its \d+ partitions/,
	'the next call goes on');
is(files_of('history_uint') =~ s/^history_uint_p(?!d|old).*\n?//gmr =~ s/\n\z//r,
	$files, 'no partition was rewritten');
append_to_file($enough, '');
wait_for_end($stream);
my $outcome = outcome_of($node, 'values by hand');
unlike($outcome, qr/error|lost/, 'no INSERT has failed meanwhile');
unlike($outcome, qr/difference (?!0)/, '... and all have been seen at once');
is_like_plain('history_uint', 'by hand');
maintain($node, 'zabbix', 'zabbix');
is_like_plain('history_uint', 'by hand, packed');
cmp_ok(sql("SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history_uint'::regclass"),
	'>=', 6, 'days that are over are packed');
is(sql("SELECT string_agg(code, ' ') FROM zbxhist.check() WHERE severity = 'error'"),
	'', 'nothing is wrong');
is(sql("SELECT relname FROM pg_class WHERE relname = 'history_uint_pkey'"),
	'history_uint_pkey', 'the key has its name');
is($node->safe_psql('zabbix', 'SET ROLE grafana; SELECT count(*) > 0 FROM history_uint'),
	't', '... and others their privileges');
sql("CALL zbxhist.undo('history_uint')");
is_like_plain('history_uint', 'by hand, undone');

# ---- the server is killed in the midst of it ----

create_native('history_bin', 'bigint');
sql(join '',
	map {
		my ($start, $end) = (day(0) + 3600 * $_, day(0) + 3600 * ($_ + 1));
		"CREATE TABLE history_bin_p"
		  . ($_ + 100)
		  . " PARTITION OF history_bin FOR VALUES FROM ($start) TO ($end);"
	} -50 .. 26);
sql("INSERT INTO $_ SELECT i % 70, ${\ day(0)} - i * 20, i, i FROM generate_series(1, 9000) i")
  for 'history_bin', 'plain_history_bin';
$files = files_of('history_bin');
for my $wanted (15, 60)
{
	my $killed = start_psql(
		$node, 'zabbix',
		$node->basedir . '/killed.out',
		sub { print { $_[0] } "$adopt('history_bin');\n" });

	$node->poll_query_until('zabbix',
			"SELECT count(*) >= $wanted FROM pg_constraint WHERE conname = 'zbxhist_clock'"
		  . " AND conrelid::regclass::text ~ 'history_bin'");
	kill_server($node);
	wait_for_end($killed);
	start_after_crash($node);
	is( totals($node, 'zabbix', 'history_bin'),
		totals($node, 'zabbix', 'plain_history_bin'),
		"killed with $wanted partitions done: no row is lost");
}
like(
	messages_of("$adopt('history_bin')"),
	qr/managed by zbxhist now|manages it already/,
	'the call after that comes to its end');
is_like_plain('history_bin', 'after a crash');
is(join("\n", grep { /_p\d{2,3}\|/ } split /\n/, files_of('history_bin')),
	$files, '... as it was on the disk');

# ---- pg_partman ----

SKIP:
{
	skip 'pg_partman is not installed', 1 if !$has_partman;
	$node->safe_psql('zabbix', <<'SQL');
CREATE SCHEMA partman;
CREATE EXTENSION pg_partman SCHEMA partman;
GRANT ALL ON SCHEMA partman TO zabbix;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA partman TO zabbix;
GRANT EXECUTE ON ALL PROCEDURES IN SCHEMA partman TO zabbix;
GRANT TEMPORARY ON DATABASE zabbix TO zabbix;
SQL
	my ($major) = split /\./,
	  $node->safe_psql('zabbix',
		"SELECT extversion FROM pg_extension WHERE extname = 'pg_partman'");
	my $arguments = $major < 5 ? "'clock', 'native', 'daily'" : "'clock', '1 day'";

	create_native('history', 'double precision');
	create_native('history_str', 'varchar(255)');
	$node->safe_psql('zabbix', 'GRANT ALL ON ALL TABLES IN SCHEMA partman TO zabbix');
	sql(    "SELECT partman.create_parent('public.$_', $arguments, p_epoch => 'seconds',"
		  . " p_premake => 4, p_start_partition => (now() - interval '5 days')::text)")
	  for 'history', 'history_str';

	# rows for which pg_partman has no partition are in its default one
	sql("INSERT INTO $_ SELECT i % 700, ${\ day(0)} + 7 * 86400 - i * 60, i, i FROM generate_series(1, 20000) i"
	) for 'history', 'plain_history';
	ok(rows_of($node, 'zabbix', 'history_default') > 500, 'rows are in the default partition');

	like(
		messages_of("SELECT zbxhist.create_parent('history')"),
		qr/HINT:  CALL zbxhist\.adopt_partitions\('public\.history'\);/,
		'create_parent says what to call');
	like(
		messages_of("$adopt('history')"),
		qr/it is managed by pg_partman.*\nHINT:  DELETE FROM partman\.part_config WHERE parent_table = 'public\.history';/s,
		'pg_partman has to let go of it first');
	sql("DELETE FROM partman.part_config WHERE parent_table = 'public.history'");
	like(
		messages_of("$adopt('history', dry_run => true)"),
		qr/default partition public\.history_default has rows\nHINT:  ALTER TABLE public\.history DETACH PARTITION public\.history_default;/,
		'a default partition that has rows is told of');
	sql('ALTER TABLE history DETACH PARTITION history_default');
	sql(    'DELETE FROM plain_history p USING history_default d'
		  . ' WHERE (p.itemid, p.clock, p.ns) = (d.itemid, d.clock, d.ns)');

	$files = files_of('history');
	$enough .= '_of_partman';
	$stream = stream('values of partman', 'history', $enough);

	# pg_partman at work, in a loop
	my $partman = in_background(
		$node, 'zabbix',
		'partman',
		0, 1,
		sub {
			my ($client, $counts) = @_;
			my $result = $client->query('select partman.run_maintenance()');
			$counts->{"error $_"}++ for @{ $result->{errors} };
			Time::HiRes::sleep(0.2);
		},
		rounds_after(5, $enough));
	Time::HiRes::sleep(2);
	like(
		messages_of("$adopt('history')"),
		qr/table public\.history is managed by zbxhist now/,
		'it is taken over');
	is(files_of('history') =~ s/^history_p\d{8}_.*\n?//gmr =~ s/\n\z//r,
		$files, 'no partition was rewritten');
	append_to_file($enough, '');
	wait_for_end($stream);
	wait_for_end($partman);
	$outcome = outcome_of($node, 'values of partman');
	unlike($outcome, qr/error|lost/, 'no INSERT has failed meanwhile');
	unlike($outcome, qr/difference (?!0)/, '... and all have been seen at once');
	is( sql("SELECT count(*) FROM pg_constraint WHERE conname LIKE 'history_p2%_partition_check'"),
		0, 'the constraints of pg_partman are gone');
	is_like_plain('history', 'partman');
	sql('INSERT INTO plain_history SELECT * FROM history_default');
	sql("CALL zbxhist.import('history_default', 'history')");
	is_like_plain('history', 'partman, with what was in the default partition');
	sql("CALL zbxhist.run_maintenance('history')") for 1 .. 2;
	is_like_plain('history', 'partman, packed');
	is( sql("SELECT string_agg(code, ' ') FROM zbxhist.check() WHERE severity = 'error' OR code = 'own_constraint'"
		),
		'',
		'nothing is wrong');
	my $others = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'history_str'::regclass";
	my $before = sql($others);
	sql("UPDATE partman.part_config SET premake = premake + 2, infinite_time_partitions = true WHERE parent_table = 'public.history_str'"
	);
	sql('SELECT partman.run_maintenance()');
	cmp_ok(sql($others), '>=', $before + 2, 'pg_partman looks after its other tables');

	# what Zabbix's period would delete, nobody has agreed to
	sql(<<"SQL");
CREATE TABLE config (configid bigint PRIMARY KEY, hk_history_mode integer NOT NULL, hk_history_global integer NOT NULL,
    hk_history varchar(32) NOT NULL, hk_trends_mode integer NOT NULL, hk_trends_global integer NOT NULL, hk_trends varchar(32) NOT NULL);
INSERT INTO config VALUES (1, 0, 1, '2d', 0, 1, '365d');
DELETE FROM partman.part_config;
INSERT INTO history_str SELECT i, ${\ day(0)} - i * 3600, 'x', 0 FROM generate_series(1, 90) i;
SQL
	$messages = messages_of("$adopt('history_str')");
	like(
		$messages,
		qr/values that are kept now would be deleted.*older than 2 days.*\nHINT:  To have them deleted, repeat the call with accept_deletion => true\./s,
		'what would be deleted has to be agreed to');
	like(
		messages_of("$adopt('history_str', accept_deletion => true)"),
		qr/the next maintenance deletes what is older than 2 days.*is managed by zbxhist now/s,
		'... and is told then, too');
}
log_is_clean($node);
$node->stop;

done_testing();
