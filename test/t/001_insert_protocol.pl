# Each way in which a client can send rows stores each row once, and the command tag (PQcmdTuples)
# says how many: simple and extended protocol, prepared statements, pipelines, portals, COPY; with
# the library loaded beforehand, and in the very statement that loads it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('protocol');
create_database($node, 'zabbix');
set_up($node, 'zabbix');

my $day = day(0);
my $item = 1;    # each statement has its own items

# The next so many items.
sub items
{
	my ($count) = @_;
	my $first = $item;

	$item += $count;
	return $first;
}

# All rows with these items, and how many of them are in the parent itself.
sub stored
{
	my ($table, $first, $count) = @_;
	my $where = "itemid >= $first AND itemid < $first + $count";

	return $node->safe_psql('zabbix',
			"SELECT count(*), count(*) FILTER (WHERE tableoid = '$table'::regclass)"
		  . " FROM $table WHERE $where");
}

# ---- simple protocol ----

{
	my $client = PgWire->new($node, 'zabbix');
	my $first = items(500);
	my $result = $client->query(insert_values('history', $first, 500, $day));

	is_deeply($result->{errors}, [], 'first statement of a session: no error');
	is(stored('history', $first, 500), '500|0', 'first statement of a session: all routed');

	$first = items(500);
	$result = $client->query(insert_values('history', $first, 500, $day));
	is_deeply($result->{tags}, ['INSERT 0 500'], 'second statement: tag');

	# many statements in one message are one transaction
	$first = items(30);
	$result = $client->query(
		join ';',
		insert_values('history', $first, 10, $day),
		insert_values('history_uint', $first + 10, 10, $day),
		insert_values('history', $first + 20, 10, $day));
	is_deeply($result->{tags}, [ ('INSERT 0 10') x 3 ], 'three INSERTs in one message: tags');
	is(stored('history', $first, 30), '20|0', '... stored');

	$first = items(20);
	$result = $client->query(
		join ';',
		insert_values('history', $first, 10, $day),
		insert_values('history_uint', $first, 10, $day),
		insert_values('history', $first, 1, $day));
	is_deeply($result->{errors}, ['23505'], 'a duplicate in the third of one message');
	is(stored('history', $first, 20), '0|0', '... undoes the first');
	$client->close;
}

$node->safe_psql('postgres', "ALTER DATABASE zabbix SET session_preload_libraries = 'zbxhist'");
{
	my $client = PgWire->new($node, 'zabbix');
	my $first = items(1000);
	my $result = $client->query(insert_values('history', $first, 1000, $day));

	is_deeply($result->{tags}, ['INSERT 0 1000'],
		'session_preload_libraries: the first tag tells the truth');
	$client->close;
}

# ---- extended protocol ----

my $client = PgWire->new($node, 'zabbix');
my $insert = 'insert into history (itemid,clock,ns,value) values ($1,$2,$3,$4)';
{
	my $first = items(5);

	$client->parse('', $insert);
	$client->bind('', '', $first, $day, 0, 1.5);
	$client->execute('');
	my $result = $client->sync;
	is_deeply($result->{tags}, ['INSERT 0 1'], 'unnamed statement: tag');

	# a portal's row limit does not count for INSERT
	$client->parse(
		'',
		"insert into history (itemid,clock,ns,value)"
		  . " select \$1 + g, $day, 0, 0 from generate_series(1, 4) g",
		20);
	$client->bind('', '', $first);
	$client->execute('', 2);
	$result = $client->sync;
	is_deeply($result->{tags}, ['INSERT 0 4'], 'row limit: tag');
	is(stored('history', $first, 5), '5|0', 'unnamed statements: stored');
}
{
	my $count = 1500;
	my $first = items($count);

	# more rows than a batch, each by its own Execute, one Sync
	$client->parse('one', $insert, 20, 23, 23, 701);
	for my $i (0 .. $count - 1)
	{
		if ($i % 2)
		{
			$client->bind('', 'one', $first + $i, $day - 86400 * ($i % 3), $i, 0.5);
		}
		else
		{
			$client->bind_binary(
				'', 'one',
				pack('q>', $first + $i),
				pack('N', $day),
				pack('N', $i),
				pack('d>', $i / 8));
		}
		$client->execute('');
	}
	my $result = $client->sync;
	is_deeply(
		$result->{tags},
		[ ('INSERT 0 1') x $count ],
		'pipeline of a prepared statement: tags');
	my $early =
	  $node->safe_psql('zabbix', "SELECT count(*) FROM ONLY history WHERE clock < $day - 86400");
	is(stored('history', $first, $count),
		"$count|$early", 'pipeline: stored once, days without a partition in the parent');
}
{
	my $first = items(1000);

	# an error in the middle of a pipeline undoes all of it
	for my $i (0 .. 999)
	{
		$client->bind('', 'one', $first + ($i == 700 ? 3 : $i), $day, 0, 0);
		$client->execute('');
	}
	my $result = $client->sync;
	is_deeply($result->{errors}, ['23505'], 'a duplicate in a pipeline');
	is(scalar @{ $result->{tags} }, 700, '... after 700 statements');
	is(stored('history', $first, 1000), '0|0', '... nothing stored');

	# the session goes on
	$client->bind('', 'one', $first, $day, 0, 0);
	$client->execute('');
	$result = $client->sync;
	is_deeply($result->{tags}, ['INSERT 0 1'], 'the session goes on');
	is(stored('history', $first, 1000), '1|0', '... and stores');
}
{
	my $first = items(3000);

	# two portals of the same prepared statement, in the reverse order
	$client->parse(
		'many',
		'insert into history (itemid,clock,ns,value)'
		  . " select \$1 + g, $day, 0, g from generate_series(0, 1499) g",
		20);
	$client->query('begin');
	$client->bind('a', 'many', $first);
	$client->bind('b', 'many', $first + 1500);
	$client->execute('b');
	$client->execute('a');
	my $result = $client->sync;
	is_deeply($result->{tags}, [ 'INSERT 0 1500', 'INSERT 0 1500' ], 'two portals: tags');
	$result = $client->query(
		"select count(*) from history" . " where itemid >= $first and itemid < $first + 3000");
	is($result->{rows}[0][0], 3000, 'visible to the next statement');
	$client->query('rollback');
	is(stored('history', $first, 3000), '0|0', '... and rolled back');
}
{
	my $first = items(10);

	# RETURNING through a portal that is suspended
	$client->query('begin');
	$client->parse(
		'',
		"insert into history (itemid,clock,ns,value)"
		  . " select \$1 + g, $day, 0, 0 from generate_series(0, 9) g"
		  . ' returning itemid',
		20);
	$client->bind('r', '', $first);
	$client->execute('r', 4);
	my $result = $client->sync;
	is_deeply($result->{messages}, [], 'RETURNING: no error');
	is(scalar @{ $result->{rows} }, 4, 'RETURNING: four rows of a portal');
	$client->execute('r', 0);
	$result = $client->sync;
	is(scalar @{ $result->{rows} }, 6, 'RETURNING: the others');
	$client->query('commit');
	is((split /\|/, stored('history', $first, 10))[0], 10, 'RETURNING: stored once');
}

# ---- COPY ----

{
	my $count = 2500;
	my $first = items($count);
	my $data = pack('a11NN', "PGCOPY\n\xff\r\n\0", 0, 0);

	$data .= pack('nNq>NNNNNd>', 4, 8, $first + $_, 4, $day - 86400 * ($_ % 2), 4, $_, 8, $_ / 8)
	  for 0 .. $count - 1;
	my $result = $client->copy_in('copy history (itemid,clock,ns,value) from stdin (format binary)',
		$data . pack('n', 0xffff));
	is_deeply($result->{tags}, ["COPY $count"], 'binary COPY: tag');
	is(stored('history', $first, $count), "$count|0", 'binary COPY: stored');

	# out and in again
	my $file = PostgreSQL::Test::Utils::tempdir() . '/history.bin';
	my $moved = items($count);
	my @psql = ($node->installed_command('psql'), '-X', '-d', $node->connstr('zabbix'), '-c');
	my ($out, $err);
	IPC::Run::run(
		[
			@psql,
			"copy (select itemid + $moved - $first, clock, ns, value"
			  . " from history where itemid >= $first"
			  . " and itemid < $first + $count) to stdout (format binary)"
		],
		'>', $file);
	IPC::Run::run([ @psql, 'copy history (itemid,clock,ns,value) from stdin (format binary)' ],
		'<', $file, '>', \$out);
	is($out, "COPY $count\n", 'binary COPY between two sessions: tag');
	is(stored('history', $moved, $count), "$count|0", 'binary COPY between two sessions: stored');
}
{
	my $first = items(2000);
	my $data = join '', map { $first + $_ . "\t$day\t0\t1\n" } 0 .. 1999;
	my $sql = 'copy history (itemid,clock,ns,value) from stdin';
	my $result = $client->copy_in($sql, $data, 'no more');

	is_deeply($result->{errors}, ['57014'], 'COPY given up by the client');
	is(stored('history', $first, 2000), '0|0', '... stores nothing');
	$result = $client->copy_in($sql, $data . "x\n");
	is_deeply($result->{errors}, ['22P02'], 'COPY with a broken line');
	is(stored('history', $first, 2000), '0|0', '... stores nothing');
	$result = $client->copy_in($sql, $data);
	is_deeply($result->{tags}, ['COPY 2000'], 'COPY of the same: tag');
	is(stored('history', $first, 2000), '2000|0', '... stored once');
}
$client->close;

# ---- pgbench's three modes ----

for my $mode (qw(simple extended prepared))
{
	my $first = items(4000);
	my $start = $first - 1;
	my $sequence = "seq_$mode";

	$node->safe_psql('zabbix', "CREATE SEQUENCE $sequence START $first");
	$node->pgbench(
		"--no-vacuum --client=4 --transactions=50 --protocol=$mode",
		0,
		[qr{number of transactions actually processed: 200/200}],
		[qr{^$}],
		"pgbench --protocol=$mode",
		{
			"001_single_$mode" => "insert into history (itemid,clock,ns,value)"
			  . " values (nextval('$sequence'), $day, :client_id, :client_id * 0.5);\n",
			"001_many_$mode" => "begin;\n"
			  . "insert into history_uint (itemid,clock,ns,value) values "
			  . join(',', map { "(nextval('$sequence'), $day - 86400, $_, :client_id)" } 1 .. 10)
			  . ";\ncommit;\n"
		},
		'zabbix');
	my $used = $node->safe_psql('zabbix', "SELECT last_value FROM $sequence") - $start;
	my $single = (split /\|/, stored('history', $first, 4000))[0];
	my $many = (split /\|/, stored('history_uint', $first, 4000))[0];
	is($single + $many, $used, "--protocol=$mode: each row stored once");
	is(stored('history', $first, 4000) . stored('history_uint', $first, 4000),
		"$single|0$many|0", "--protocol=$mode: all routed");
	is($single + $many / 10, 200, "--protocol=$mode: every transaction");
}

log_is_clean($node);
$node->stop;
done_testing();
