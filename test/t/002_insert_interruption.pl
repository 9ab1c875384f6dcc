# A statement that is cancelled, times out, fails or loses its connection half-way stores nothing,
# and the session goes on; buffered rows are part of a prepared transaction, also over a crash.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use Test::More;
use ZbxhistTest;

my $node = test_server('interruption', max_prepared_transactions => 5);
create_database($node, 'zabbix');
set_up($node, 'zabbix');

$node->safe_psql('postgres', "ALTER DATABASE zabbix SET session_preload_libraries = 'zbxhist'");

my ($now, $client) = (day(0), PgWire->new($node, 'zabbix'));
my $forever = "insert into history select i, $now - 86400 * (i % 4), 0, 0"
  . ' from generate_series(%d, 2000000000) i';

# Neither the tables nor the session know anything of the statement.
sub stored_nothing
{
	my ($name, $first) = @_;

	is(rows_of($node, 'zabbix', "history WHERE itemid >= $first"), 0, "$name: nothing is stored");
	my $result = $client->query(insert_values('history', $first, 1000, $now));
	is_deeply($result->{tags}, ['INSERT 0 1000'], "$name: the session goes on");
	is(rows_of($node, 'zabbix', "history WHERE itemid >= $first"),
		1000, "$name: ... and stores each row once");
}

# Waits until a session is at work on an INSERT ... SELECT.
sub wait_for_statement
{
	my ($pid) = @_;

	$node->poll_query_until('postgres',
		"SELECT state = 'active' AND query ~* '^insert into history select' FROM pg_stat_activity WHERE pid = $pid"
	) or die 'the statement does not begin';
	return;
}

# ---- timeouts and cancels ----

# sooner and later: in the midst of a buffer, of a flush
my $item = 1000000;
for my $time (3, 20, 77, 250)
{
	$client->query("set statement_timeout = $time");
	my $result = $client->query(sprintf $forever, $item);
	$client->query('reset statement_timeout');
	is_deeply($result->{errors}, ['57014'], "statement_timeout $time ms");
	stored_nothing("statement_timeout $time ms", $item);
	$item += 100000000;
}

for my $statement ('', 'begin; savepoint a;')
{
	my $name = $statement ? 'cancel in a savepoint' : 'cancel';
	my $pid = $client->query('select pg_backend_pid()')->{rows}[0][0];

	$client->query($statement) if $statement;
	$client->send_message('Q', sprintf("$forever\0", $item));
	wait_for_statement($pid);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	my $result = $client->read_until_ready;
	is_deeply($result->{errors}, ['57014'], $name);
	if ($statement)
	{
		is($result->{status}, 'E', "$name: the transaction has failed");
		$result =
		  $client->query("rollback to a; select count(*) from history where itemid >= $item");
		is($result->{rows}[0][0], 0, "$name: after ROLLBACK TO none of it is visible");
		$client->query('commit');
	}
	stored_nothing($name, $item);
	$item += 100000000;
}

# ---- the connection or the session is gone ----

for my $how ('client', 'administrator')
{
	my $lost = PgWire->new($node, 'zabbix');
	my $pid = $lost->query('select pg_backend_pid()')->{rows}[0][0];

	$lost->query('begin');
	$lost->query(insert_values('history', $item, 500, $now));
	$client->query('select pg_advisory_lock(1)');
	$lost->send_message(
		'Q',
		sprintf(
			"insert into history select i, $now, 1, 0 from generate_series(%d, %d) i, pg_advisory_xact_lock(1)\0",
			$item, $item + 999));
	wait_for_statement($pid);
	if ($how eq 'client') { close $lost->{socket}; }
	else
	{
		$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	}
	$client->query('select pg_advisory_unlock(1)');
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
	stored_nothing("connection ended by the $how", $item);
	$item += 100000000;
}

# ---- errors one after the other in one session ----

my @errors = (
	[
		'23505', insert_values('history', $item, 1, $now) . insert_values('history', $item, 1, $now)
	],
	[ '23505', "insert into history select i % 700, $now, 0, 0 from generate_series(1, 1000) i" ],
	[
		'22012',
		"insert into history select i, $now, 1 / (i - 900), 0 from generate_series(1, 1000) i"
	],
	[ '23502', "insert into history select i, $now, null, 0 from generate_series(1, 10) i" ],
	[ '22003', "insert into history select i, 2147483648, 0, 0 from generate_series(1, 10) i" ],
	[ '42703', 'insert into history (itemid, no_such_column) values (1, 2)' ],
	[ '25P02', "begin; select 1/0;", insert_values('history', 1, 10, $now) ],
	[
		'P0001',
		"do \$\$ begin insert into history select i, $now, 0, 0 from generate_series(1, 300) i; raise 'no'; end \$\$"
	]);
for (1 .. 2)
{
	for (@errors)
	{
		my ($state, @statements) = @$_;
		my $result;

		$result = $client->query($_) for @statements;
		is(join(' ', @{ $result->{errors} }), $state, "error $state");
		$client->query('rollback');
		is(rows_of($node, 'zabbix', "history WHERE itemid < 100000 OR itemid >= $item"),
			0, '... nothing is stored');
	}
}
stored_nothing('after all these', $item);
$item += 100000000;

# ---- two-phase commit ----

my $before = totals($node, 'zabbix', 'history');
$client->query('begin');
$client->query(insert_values('history', $item, 1000, $now));
$client->query(insert_values('history', $item, 3, day(-9)));
my $result = $client->query("prepare transaction 'one'");
is_deeply($result->{tags}, ['PREPARE TRANSACTION'], 'PREPARE TRANSACTION');
is(totals($node, 'zabbix', 'history'), $before, 'a prepared transaction is not seen');
$result = $client->query(insert_values('history', $item + 5000, 1000, $now));
is_deeply($result->{tags}, ['INSERT 0 1000'], 'the session goes on');

# its locks hold maintenance off, not for long
$node->safe_psql('zabbix', "SELECT zbxhist.alter_parent('history', premake => 5)");
maintain($node, 'zabbix');
is( $node->safe_psql('zabbix', "SELECT to_regclass('" . partition('history', 5) . "') IS NOT NULL"),
	't',
	'maintenance goes on beside it');
$client->query('begin');
$client->query(insert_values('history', $item + 10000, 1000, $now));
$client->query("prepare transaction 'two'");

kill_server($node);
start_after_crash($node);
$client = PgWire->new($node, 'zabbix');
is(rows_of($node, 'zabbix', "history WHERE itemid >= $item"),
	1000, 'after a crash the prepared ones are still not seen');
$client->query("rollback prepared 'two'");
$result = $client->query("commit prepared 'one'");
is_deeply($result->{tags}, ['COMMIT PREPARED'], 'COMMIT PREPARED');
is(rows_of($node, 'zabbix', "history WHERE itemid >= $item AND itemid < $item + 5000"),
	1003, 'its rows are there once');
is(rows_of($node, 'zabbix', "history WHERE itemid >= $item + 10000"),
	0, 'those of the one rolled back are not');

# a key in a prepared transaction that did not know the partition
my $clock = day(20);
$client->query('begin');
$client->query("insert into history values (7, $clock, 1, 0)");
$client->query("prepare transaction 'early'");
$node->safe_psql('zabbix',
	"SELECT zbxhist.create_partition('history', to_timestamp($clock)::date)");
maintain($node, 'zabbix') for 1 .. 2;
$client->query("commit prepared 'early'");
$result = $client->query("insert into history values (7, $clock, 2, 0)");
is_deeply($result->{errors}, ['23505'], 'its key is found when it is committed');

log_is_clean($node);
$node->stop;
done_testing();
