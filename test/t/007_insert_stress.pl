# Sessions store the same keys at the same time, in every way, while partitions
# are created and dropped and rows are moved: each acknowledged row is in the
# table once, no key is stored twice, and the only errors are that a key exists
# or that a transaction must be repeated.  ZBXHIST_SECONDS=600 for more.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);
use ZbxhistTest;

my $seconds = $ENV{ZBXHIST_SECONDS} // 8;
my $seed = $ENV{ZBXHIST_SEED} // 1;

my $node = test_server('stress', statement_timeout => '10min', deadlock_timeout => '100ms');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');

# what has been acknowledged, written by the same transactions
$node->safe_psql(
	'zabbix', q{
	INSERT INTO history SELECT i, 1000, 0, 0 FROM generate_series(1, 1000) i;
	SELECT zbxhist.create_parent('history', retention => '200 years');
	SELECT zbxhist.create_partition('history', '1970-01-02');
	SELECT zbxhist.create_partition('history', '1970-01-03');
	CREATE TABLE acknowledged AS SELECT itemid, clock, ns, value FROM history;
	CREATE INDEX ON acknowledged (itemid, clock, ns);
});

# Keys that everybody uses are of these days, whose partitions stay; the others
# have a partition now and then.
my @days = (86400, 172800);
my @other_days = (259200, 345600);

# One statement; returns its result if it went well.
sub try
{
	my ($client, $errors, $sql) = @_;
	my $result = $client->query($sql);

	return $result unless @{ $result->{errors} };
	$errors->{$_}++ for @{ $result->{errors} };
	return;
}

# ---- writers ----

my $counter = 0;

# Rows of keys that nobody else has, and of some that others have at about the same time.
sub some_rows
{
	my ($writer) = @_;
	my @rows =
	  map { [ 1000 * $writer + rand 50, any(@days, @other_days), ++$counter ] } 1 .. any(1, 3, 30);

	push @rows, [ any(1 .. 3), any(@days), int(time() * 40) % 1000000 ] for 1 .. any(0, 1, 2);
	@rows = sort { rand() <=> 0.5 } @rows;
	return map { sprintf('(%d,%d,%d,%d)', @$_, $writer) } @rows;
}

sub acknowledge
{
	my ($values) = @_;

	return "INSERT INTO acknowledged (itemid, clock, ns, value) VALUES $values";
}

sub insert
{
	my ($client, $errors, $values) = @_;
	my $insert = "INSERT INTO history (itemid, clock, ns, value) VALUES $values";
	my $kind = int rand 8;

	return try($client, $errors,
			"WITH i AS ($insert ON CONFLICT DO NOTHING RETURNING itemid, clock, ns, value)"
		  . ' INSERT INTO acknowledged (itemid, clock, ns, value) SELECT * FROM i')
	  if $kind == 0;
	return try($client, $errors, "$insert RETURNING 1")
	  && try($client, $errors, acknowledge($values))
	  if $kind == 1;
	return try($client, $errors, "SET LOCAL zbxhist.enable_routing = off; $insert")
	  && try($client, $errors, acknowledge($values))
	  if $kind == 2;
	return try($client, $errors, "SET LOCAL zbxhist.enable_batching = off; $insert")
	  && try($client, $errors, acknowledge($values))
	  if $kind == 3;
	return try($client, $errors,
			'INSERT INTO history (itemid, clock, ns, value) SELECT * FROM (VALUES '
		  . "$values) v; "
		  . acknowledge($values))
	  if $kind == 4;
	return try($client, $errors, $insert) && try($client, $errors, acknowledge($values));
}

sub delete_some
{
	my ($client, $errors) = @_;
	my $result = try($client, $errors,
			'DELETE FROM history WHERE '
		  . any('', "clock = $days[0] AND ")
		  . 'itemid = '
		  . any(1 .. 3, 1000 .. 1050)
		  . ' AND ns % 7 = '
		  . int(rand 7)
		  . ' RETURNING itemid, clock, ns');

	return unless $result;
	return 1 unless @{ $result->{rows} };
	return try($client, $errors,
			'DELETE FROM acknowledged WHERE (itemid, clock, ns) IN ('
		  . join(',', map { '(' . join(',', @$_) . ')' } @{ $result->{rows} })
		  . ')');
}

# A transaction of one to three parts, some of them behind a savepoint.
sub write_something
{
	my ($writer, $client, $all_errors) = @_;
	my $begin = any('BEGIN', 'BEGIN', 'BEGIN', 'BEGIN ISOLATION LEVEL REPEATABLE READ');
	my $errors = {};
	my $ok = $client->query($begin);

	for (1 .. any(1, 1, 2, 3))
	{
		my $is_inner = rand() < 0.5;

		$client->query('SAVEPOINT a') if $is_inner;
		$ok =
		  rand() < 0.1
		  ? delete_some($client, $errors)
		  : insert($client, $errors, join(',', some_rows($writer)));
		next if $ok && !($is_inner && rand() < 0.2);
		last unless $is_inner;
		$client->query('ROLLBACK TO a');
	}
	$client->query(rand() < 0.1 ? 'ROLLBACK' : 'COMMIT');

	# of ON CONFLICT DO NOTHING
	delete $errors->{'0A000'} if $begin ne 'BEGIN';

	# on a plain table, too, but not in READ COMMITTED
	$errors->{'40001 in REPEATABLE READ'} = delete $errors->{'40001'}
	  if $errors->{'40001'} && $begin ne 'BEGIN';
	$all_errors->{$_} += $errors->{$_} for keys %$errors;
}

# ---- those who disturb ----

sub quietly
{
	my ($client, @statements) = @_;

	$client->query("SET lock_timeout = '100ms'; SET client_min_messages = error");
	$client->query($_) for @statements;
}

sub move_something
{
	my ($client) = @_;
	my @names = qw(history_p19700102 history_p19700103 history_p19700104);
	my $partition = any(@names);
	my @pair = any([ 'history', $partition ], [ $partition, 'history' ]);

	quietly($client,
		"SELECT zbxhist_internal.move_rows('$pair[0][0]', '$pair[0][1]', b.from_clock, b.to_clock,"
		  . ' NULL, '
		  . int(rand 3000)
		  . ") FROM zbxhist.partition_bounds('$partition') b");
	sleep rand 0.02;
}

# A partition that is empty is dropped, with a check under the lock.
my $drop = q{
	DO $$ BEGIN
		LOCK TABLE ONLY history_p19700104 IN ACCESS EXCLUSIVE MODE;
		IF NOT EXISTS (SELECT FROM ONLY history_p19700104) THEN
			DROP TABLE history_p19700104;
		END IF;
	END $$};

sub maintain_something
{
	my ($client) = @_;
	my $routing =
	  q{UPDATE zbxhist.parent_config SET routing = NOT routing WHERE parent = 'history'::regclass; SELECT zbxhist_internal.invalidate('history')};

	quietly(
		$client,
		@{
			any([q{SELECT zbxhist.create_partition('history', '1970-01-04')}],
				[q{SELECT zbxhist.create_partition('history', '1970-01-05')}],
				[
					q{SELECT zbxhist_internal.move_rows('history_p19700104', 'history', 259200, 345600, NULL, 1000000)},
					$drop
				],
				[q{SELECT zbxhist_internal.run_step('history', 'verify')}],
				[q{SELECT zbxhist_internal.run_step('history', 'move', 'history_p19700102')}],
				[ $routing, 'SELECT pg_sleep(0.05)', $routing ],
				[
					'BEGIN; LOCK TABLE ONLY history_p19700103 IN SHARE MODE; SELECT pg_sleep(0.03); COMMIT'
				],
				['REINDEX TABLE history_p19700102'],
				['VACUUM history'])
		});
	sleep rand 0.02;
}

# ---- the run ----

my %workers = (
	(   map {
			my $n = $_;
			("writer$n" => sub { write_something($n, @_) })
		} 1 .. 4),
	mover => \&move_something,
	maintainer => \&maintain_something);
my @processes = map {
	in_background($node, 'zabbix', $_, $seconds, $seed, $workers{$_}, sub { $_[1] > 5 * $seconds })
} sort keys %workers;
waitpid($_, 0) for @processes;

my %errors;
my $rounds = 0;
for my $n (1 .. 4)
{
	for (split /\n/, outcome_of($node, "writer$n"))
	{
		my ($what, $times) = /^(.*) (\d+)$/;
		if ($what eq 'rounds') { $rounds += $times; }
		else { $errors{$what} += $times; }
	}
}
note("$rounds transactions; " . join(', ', map { "$_ $errors{$_} times" } sort keys %errors));

# 25P02: statements after an error of their transaction
is(join(' ', grep { !/^(23505|40P01|40001 in REPEATABLE READ|25P02)$/ } sort keys %errors),
	'', 'only errors that concurrency explains');
cmp_ok($errors{23505} // 0, '>', 0, 'keys collided');
cmp_ok($rounds, '>', 20 * $seconds, 'work was done');

sub all_is_well
{
	my ($when) = @_;

	is( $node->safe_psql(
			'zabbix',
			'SELECT itemid, clock, ns, array_agg(tableoid::regclass) FROM history GROUP BY 1, 2, 3 HAVING count(*) > 1 LIMIT 5'
		),
		'',
		"$when: no key twice");
	is( $node->safe_psql(
			'zabbix',
			'(SELECT itemid, clock, ns, value FROM acknowledged EXCEPT ALL SELECT itemid, clock, ns, value FROM history) LIMIT 5'
		),
		'',
		"$when: nothing lost");
	is( $node->safe_psql(
			'zabbix',
			'(SELECT itemid, clock, ns, value FROM history EXCEPT ALL SELECT itemid, clock, ns, value FROM acknowledged) LIMIT 5'
		),
		'',
		"$when: nothing that was not acknowledged");
}
all_is_well('after the run');

$node->safe_psql('zabbix',
		"UPDATE zbxhist.parent_config SET routing = true WHERE parent = 'history'::regclass;"
	  . " SELECT zbxhist_internal.invalidate('history');");
$node->safe_psql('zabbix', "CALL zbxhist.run_maintenance('history')");
all_is_well('after maintenance');
$node->safe_psql('zabbix', "CALL zbxhist.undo('history')");
all_is_well('after undo');
is( $node->safe_psql(
		'zabbix', "SELECT count(*) FROM pg_inherits WHERE inhparent = 'history'::regclass"),
	'0',
	'a plain table again');

# ---- each cache entry thrown away at once, where the server can do that ----

SKIP:
{
	skip 'the server has no debug_discard_caches',
	  1
	  unless $node->safe_psql('postgres',
		"SELECT max_val::integer > 0 FROM pg_settings WHERE name = 'debug_discard_caches'") eq 't';
	$node->safe_psql(
		'zabbix', q{
		SELECT zbxhist.create_parent('history_uint', retention => '200 years');
		SELECT zbxhist.create_partition('history_uint', '1970-01-02');});
	is( $node->safe_psql(
			'zabbix', q{
		SET statement_timeout = 0;
		SET debug_discard_caches = 1;
		INSERT INTO history_uint VALUES (1, 86400, 1, 0), (1, 5, 1, 0), (2, 86400, 1, 0);
		INSERT INTO history_uint SELECT i, 86400 + i, 1, 0 FROM generate_series(3, 150) i;
		UPDATE history_uint SET value = 2 WHERE clock = 86400 AND itemid = 2;
		RESET debug_discard_caches;
		SELECT count(*), sum(value), count(*) FILTER (WHERE tableoid = 'history_uint'::regclass) FROM history_uint;}
		),
		'151|152|1',
		'without caches');
}
log_is_clean($node);

done_testing();
