# Zabbix's history on two servers by dist/sharding: a row goes to the server of
# its item, queries of an item use one server, and transactions survive the
# kill of a server before, during and between the commits.  The client follows
# the rules of a Zabbix server: it sends a transaction again if its connection
# is lost, looks up rows after 23505, and gives up after any other error.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use ZbxhistTest;

my $sql = "$FindBin::RealBin/../../dist/sharding";
my %node = map { $_ => test_server($_) } qw(node1 node2);
my $main = test_server('coordinator');
plan skip_all => 'postgres_fdw is not installed' unless has_extension($main, 'postgres_fdw');

# ---- as docs/sharding.md says ----

create_database($main, 'zabbix');
create_zabbix_tables($main, 'zabbix');
$main->safe_psql('zabbix', 'CREATE EXTENSION postgres_fdw');
$main->safe_psql('zabbix',
	q{SELECT zbxhist.create_parent('trends', '1 month', '1 year', 1, '1 day')});
my $schema = $main->basedir . '/history.sql';
$main->command_ok(
	[ 'pg_dump', '-s', '-O', '-t', 'history*', '-f', $schema, '-d', $main->connstr('zabbix') ],
	'the tables of history');
for my $name (sort keys %node)
{
	my $server = $node{$name};

	create_database($server, 'zabbix');
	$server->safe_psql('zabbix', slurp_file($schema));
	$server->safe_psql('zabbix', "SELECT * FROM zbxhist.setup(history_retention => '90 days')");
	$server->safe_psql('zabbix', slurp_file("$sql/node.sql"));
	$main->safe_psql('zabbix', <<"SQL");
CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '${\ $server->host}', port '${\ $server->port}', dbname 'zabbix', connect_timeout '5', parallel_commit 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER $name;
SQL
}
$main->command_ok(
	[
		'psql', '-Xq', '-d', $main->connstr('zabbix'),
		'-v', 'servers=node1,node2', '-f', "$sql/coordinator.sql"
	],
	'the tables become foreign ones');
$main->safe_psql('zabbix', <<'SQL');
CREATE TABLE sent (LIKE history_uint);
CREATE VIEW difference AS
    (SELECT 'lost', * FROM sent EXCEPT ALL SELECT 'lost', * FROM history_uint)
    UNION ALL
    (SELECT 'new', * FROM history_uint EXCEPT ALL SELECT 'new', * FROM sent);
SQL

# ---- a Zabbix server ----

my $second = 0;

# So many values of the next second; the commands that store them.
sub next_rows
{
	my $clock = day(0) + ++$second;

	return join ',', map { "($_,$clock,$second,$_)" } 1 .. 1000;
}

# Stores values as Zabbix does, with further commands the first time.  Returns
# what came of it, and how often it was sent.
sub flush_values
{
	my ($rows, $further) = @_;
	my ($client, $times, $looked) = (undef, 0, 0);

	for (;;)
	{
		my @errors;
		my $lived = eval {
			$client //= PgWire->new($main, 'zabbix');
			for my $command (
				'BEGIN',
				"INSERT INTO history_uint (itemid,clock,ns,value) VALUES $rows",
				$times++ ? () : @{ $further // [] }, 'COMMIT')
			{
				last if @errors;
				@errors = @{ $client->query($command)->{errors} };
			}
			$client->query('ROLLBACK') if @errors;
			1;
		};
		if (!$lived)
		{
			$client = undef;
			sleep 0.2;
			die 'it goes on for ever' if $times > 500;
		}
		elsif (!@errors) { return "stored after $times" }
		elsif ($errors[0] eq '23505' && !$looked++)
		{
			# as DBmass_add_history: which of them are there?
			my $keys = join ' OR ',
			  map { "(itemid=$1 AND clock=$2 AND ns=$3)" if /(\d+),(\d+),(\d+)/ } split /\),\(/,
			  $rows;
			my %found = map { ("$_->[0],$_->[1],$_->[2]" => 1) }
			  @{ $client->query("SELECT itemid,clock,ns FROM history_uint WHERE $keys")->{rows} };

			$rows = join ',', map { "($_)" } grep { !$found{s/,\d+\z//r} } split /\),\(/,
			  $rows =~ s/^\(|\)$//gr;
			return sprintf 'stored after %d, all there', $times if !$rows;
			note(sprintf '%d rows were there', scalar keys %found);
		}
		else { return "given up: $errors[0]" }
	}
}

# The same in another process, whose answer await() returns.
my $answer_file = $main->basedir . '/answer';

sub begin_flush
{
	my ($rows, $further) = @_;
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	unlink $answer_file;
	append_to_file($answer_file, eval { flush_values($rows, $further) } // "died: $@");
	POSIX::_exit(0);
}

sub await
{
	wait_for_end($_[0]);
	return slurp_file($answer_file);
}

sub rows_on
{
	my ($name) = @_;

	return $node{$name}
	  ->safe_psql('zabbix', "SELECT count(*) FROM history_uint WHERE ns = $second");
}

sub is_complete
{
	my ($rows, $name) = @_;

	$main->safe_psql('zabbix', "INSERT INTO sent (itemid,clock,ns,value) VALUES $rows") if $rows;
	is($main->safe_psql('zabbix', 'SELECT * FROM difference'), '', $name);
}

# ---- when all is well ----

my $rows = next_rows();
is(flush_values($rows), 'stored after 1', 'values are stored');
is_complete($rows, '... every one, once');
for my $name (sort keys %node)
{
	cmp_ok(rows_on($name), '>', 300, "... about half on $name");
}
is(rows_on('node1') + rows_on('node2'), 1000, '... together all');
is(flush_values($rows), 'stored after 1, all there', 'a second time');
is_complete('', '... every one is there once');

# an item of some weeks
$main->safe_psql('zabbix', <<"SQL");
INSERT INTO sent SELECT 7, ${\ day(-20)} + i * 60, i, 0 FROM generate_series(1, 28799) i;
INSERT INTO history_uint SELECT * FROM sent WHERE clock < ${\ day(0)};
SQL
$_->safe_psql('zabbix', 'ANALYZE') for values %node;
is_complete('', 'rows of an INSERT ... SELECT');

# A group may hold as many hours as rows, as far as the planner knows, so that fetching the rows of a
# graph may cost as much: only what a node can do is looked at.
my %plans = (
	'SELECT * FROM history_uint WHERE itemid = 7 AND clock > 1 ORDER BY clock DESC LIMIT 2' =>
	  [ 1, 'newest values of an item' ],
	'SELECT itemid, count(*), avg(value), max(clock) FROM history_uint WHERE itemid = 7 AND clock > 1 GROUP BY itemid, clock / 3600'
	  => [ 1, 'a graph' ],
	'SELECT itemid, avg(value) FROM history_uint GROUP BY itemid' => [ 2, 'GROUP BY itemid' ]);
for my $query (sort keys %plans)
{
	my ($nodes, $name) = @{ $plans{$query} };
	my $settings = $name eq 'a graph' ? 'SET enable_hashagg = off; SET enable_sort = off;' : '';
	my $plan = $main->safe_psql('zabbix', "$settings EXPLAIN (VERBOSE, COSTS off) $query");
	my $asked = () = $plan =~ /Remote SQL/g;

	is($asked, $nodes, "$name: $nodes asked");
	like($plan, qr/Remote SQL: .*(?:GROUP|ORDER) BY/, "$name: does the work") or diag($plan);
}
unlike(
	$main->safe_psql('zabbix', 'EXPLAIN (VERBOSE, COSTS off) SELECT avg(value) FROM history_uint'),
	qr/Remote SQL: .*avg/,
	'an average of all fetches the rows');
$_->safe_psql('postgres', 'ALTER DATABASE zabbix RESET session_preload_libraries') for values %node;
is( $main->safe_psql('zabbix', 'SELECT node, code FROM zbxhist_sharding.findings ORDER BY 1'),
	"node1|not_preloaded\nnode2|not_preloaded",
	'check() of each node');
like(
	(   psql_script(
			$main, 'zabbix',
			"BEGIN; INSERT INTO history_uint VALUES (1, 1, 1, 1); PREPARE TRANSACTION 'x'"))[2],
	qr/cannot PREPARE a transaction that has operated on postgres_fdw foreign tables/,
	'no common commit');

# ---- a node is away ----

$rows = next_rows();
$node{node2}->stop('immediate');
my $offset = -s $main->logfile;
my $flush = begin_flush($rows);
$main->wait_for_log(qr/could not connect to server "node2"/, $offset);
is($node{node1}->safe_psql('zabbix', "SELECT count(*) FROM history_uint WHERE ns = $second"),
	0, 'while a node is away nothing is stored');
$node{node2}->start;
like(await($flush), qr/^stored after \d+$/, '... Zabbix sends it again until the node is back');
is_complete($rows, '... then every value is there, once');

# ---- it dies between the commits of the two ----

for my $name (sort keys %node)
{
	$node{$name}->safe_psql('zabbix', <<'SQL');
CREATE TABLE pause (i integer);
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON pause DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait();
SQL
	$main->safe_psql('zabbix',
		"CREATE FOREIGN TABLE pause_$name (i integer) SERVER $name OPTIONS (table_name 'pause')");
}
$rows = next_rows();
my %holder = map { $_ => $node{$_}->background_psql('zabbix') } keys %node;
$holder{$_}->query_safe('SELECT pg_advisory_lock(1)') for keys %holder;
$flush = begin_flush($rows, [ map { "INSERT INTO pause_$_ VALUES (1)" } sort keys %node ]);
$node{$_}->poll_query_until('zabbix',
	"SELECT count(*) = 1 FROM pg_stat_activity WHERE query = 'COMMIT TRANSACTION' AND wait_event = 'advisory'"
) for sort keys %node;
kill_server($node{node2});
$holder{node1}->quit;
$node{node1}
  ->poll_query_until('zabbix', "SELECT count(*) > 0 FROM history_uint WHERE ns = $second");
my $half = rows_on('node1');
cmp_ok($half, '<', 700, "node1 has committed its $half values when node2 is killed");
start_after_crash($node{node2});
like(
	await($flush),
	qr/^stored after (?:[2-9]|\d\d+)$/,
	'... Zabbix loses its connection, sends all again, and looks up what is there');
is(rows_on('node1'), $half, '... that half stays as it is');
is(rows_on('node1') + rows_on('node2'), 1000, '... the other one comes');
is_complete($rows, '... every value is there, once');
eval { $holder{node2}->quit };

# ---- it dies amid an INSERT ----

$rows = next_rows();
my $locker = $node{node2}->background_psql('zabbix');
$locker->query_safe('BEGIN; LOCK TABLE history_uint IN ACCESS EXCLUSIVE MODE');
$flush = begin_flush($rows);
$node{node2}->poll_query_until('zabbix',
	"SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO public.history_uint%' AND wait_event_type = 'Lock'"
);
kill_server($node{node2});
my $answer = await($flush);
start_after_crash($node{node2});
like($answer, qr/^given up: 08/, 'killed amid an INSERT: Zabbix gives these values up');
is_complete('', '... nothing of them is stored');
eval { $locker->quit };
$rows = next_rows();
like(flush_values($rows), qr/^stored after \d+$/, '... the next ones are');
is_complete($rows, '... every value is there, once');

log_is_clean($_) for $main, values %node;
$_->stop for $main, values %node;
done_testing();
