# Three sessions store, change, delete and look up the same few keys, each in
# transactions with savepoints that commit, roll back or are prepared, at each isolation
# level, in a random order, while runs are merged: in a table of runs as in a plain
# one, which three other sessions change by the same schedule, every statement waits, fails
# and succeeds alike.
#
# Three differences are none.  Whoever deletes or updates rows of runs locks their runs, so
# that others wait who would not in a plain table; after that the two may go different
# ways.  And at REPEATABLE READ and above a change of a run that was written anew since the
# snapshot is refused (40001), while ON CONFLICT DO NOTHING skips a key that the snapshot
# sees although its row has been changed since, as in partitions.
#
# At last sessions count in the same rows at once.
#
# ZBXHIST_SEED=7 ZBXHIST_SCHEDULES=20000 for others, and more, of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use Test::More;
use Time::HiRes qw(sleep);
use ZbxhistTest;

my $schedules = $ENV{ZBXHIST_SCHEDULES} // 250;
my $seed = $ENV{ZBXHIST_SEED} // 1;
my @sides = qw(plain history);
my @sessions = (0, 1, 2);
my (@faults, %seen);

srand($seed);

my $node = test_server(
	'runs_sessions',
	deadlock_timeout => '20ms',
	max_prepared_transactions => '20',
	max_worker_processes => '16',
	autovacuum_naptime => '1s',
	statement_timeout => '60s');
create_database($node, 'zabbix');
$node->safe_psql(
	'zabbix', q{
	CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
	                      ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
	CREATE TABLE plain (LIKE history INCLUDING ALL);
	SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 hour', ingest => 'runs');
	SELECT zbxhist_internal.create_runs('history', 86400, 90000), zbxhist_internal.create_runs('history', 90000, 93600);
});
my $admin = PgWire->new($node, 'zabbix');
my %client = map {
	my $side = $_;
	$side => [ map { PgWire->new($node, 'zabbix') } @sessions ]
} @sides;
for my $client (map { @$_ } values %client)
{
	$client->query($_) for "LOAD 'zbxhist'", 'SET plan_cache_mode = auto';
}

# ---- a schedule ----

# What there is to know of one.
my ($first_item, $level, $is_changing, $has_batches, @log);

# Whether the two sides have waited differently: they may differ from then on.
my $diverged;

# Of a session: the number of nested transactions, its isolation level, and of
# each side what it waits for and what it was told.
my @session;
my @prepared;
my $stamp = 0;

sub key { return $first_item + int rand 3; }

sub clock { return (86400, 86401, 90000, 93600)[ int rand(5) % 4 ]; }

sub rows
{
	my ($count) = @_;

	$stamp++;
	return join ', ',
	  map { "(${\ key()}, ${\ clock()}, $stamp, 0)" }
	  1 .. ($has_batches ? $count : 1);
}

sub where
{
	return
		'itemid = '
	  . key()
	  . (rand() < 0.5 ? '' : ' AND clock = ' . clock());
}

# A statement of %s, the table, for a session.
sub make_statement
{
	my ($number) = @_;
	my $session = $session[$number];
	my $chance = rand();

	# failed
	if ($session->{depth} > 0 && $session->{status} eq 'E' && $chance < 0.7)
	{
		return 'ROLLBACK TO a' if $session->{depth} > 1;
		$session->{depth} = 0;
		return 'ROLLBACK';
	}
	if ($session->{depth} == 0)
	{
		if (@prepared && $chance < 0.4)
		{
			return any('COMMIT', 'COMMIT', 'ROLLBACK')
			  . " PREPARED '%s_${\ splice(@prepared, rand @prepared, 1)}'";
		}
		if ($chance < 0.75)
		{
			my $isolation = $level
			  // any('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE');

			$session->{depth} = 1;
			return "BEGIN ISOLATION LEVEL $isolation";
		}
	}
	elsif ($chance < 0.3)
	{
		my $what = any(
			qw(COMMIT COMMIT ROLLBACK PREPARE SAVEPOINT SAVEPOINT RELEASE UNDO UNDO)
		);

		if ($what eq 'SAVEPOINT')
		{
			$session->{depth}++;
			return 'SAVEPOINT a';
		}
		if ($what =~ /RELEASE|UNDO/)
		{
			if ($session->{depth} > 1)
			{
				$session->{depth}-- if $what eq 'RELEASE';
				return $what eq 'UNDO' ? 'ROLLBACK TO a' : 'RELEASE a';
			}
			$what = 'COMMIT';
		}
		$session->{depth} = 0;
		return $what if $what ne 'PREPARE';
		push @prepared, ++$stamp;
		return "PREPARE TRANSACTION '%s_$stamp'";
	}

	$chance = rand();
	if ($is_changing)
	{
		return 'DELETE FROM %s WHERE ' . where() if $chance < 0.2;
		return "UPDATE %s SET value = ${\ ++$stamp} WHERE ${\ where()}"
		  if $chance < 0.3;
	}
	return
	  "SELECT * FROM %s WHERE itemid BETWEEN $first_item AND ${\ ($first_item + 2)}"
	  if $chance < 0.4;
	return 'SELECT * FROM %s WHERE ' . where() if $chance < 0.45;
	return "INSERT INTO %s VALUES ${\ rows(1)} ON CONFLICT DO NOTHING"
	  if $chance < 0.5;
	return "INSERT INTO %s VALUES ${\ rows(1)} RETURNING itemid, clock"
	  if $chance < 0.55;
	return "INSERT INTO %s SELECT * FROM (VALUES ${\ rows(2)}) v"
	  if $chance < 0.6;
	return "INSERT INTO %s VALUES ${\ rows(1 + int rand 3)}";
}

# ---- carrying it out ----

# What a client was told, as a text.
sub told
{
	my ($answer) = @_;

	return join '; ',
	  join(',', @{ $answer->{errors} }),
	  join(',', @{ $answer->{tags} }),
	  join(' ', sort map { join ',', @$_ } @{ $answer->{rows} });
}

sub is_waiting
{
	my ($session) = @_;

	return grep { $session->{waits}{$_} } @sides;
}

# Reads the answers that are there, of all sessions.
sub read_answers
{
	my $found = 0;

	for my $number (@sessions)
	{
		for my $side (grep { $session[$number]{waits}{$_} } @sides)
		{
			my $client = $client{$side}[$number];

			next unless $client->has_answer;
			$session[$number]{told}{$side} = $client->read_until_ready;
			delete $session[$number]{waits}{$side};
			$found++;
		}
	}
	return $found;
}

# Says whether all who wait do so for somebody who does not, and for long.
sub is_settled
{
	my @waiting = map {
		my $number = $_;
		map { $client{$_}[$number]->pid }
		  grep { $session[$number]{waits}{$_} }
		  @sides
	} @sessions;

	return 1 unless @waiting;
	my %all = map { $_->pid => 1 } map { @$_ } values %client;
	my %blockers = map {
		$_->[0] => [ grep { length } split /,/, $_->[1] ]
	  } @{
		$admin->query(
			"SELECT p, array_to_string(pg_blocking_pids(p), ',') FROM unnest('{"
			  . join(',', @waiting)
			  . "}'::integer[]) p")->{rows}
	  };
	my %is_free = (0 => 1, map { $_ => 1 } grep { !$blockers{$_} } keys %all);
	my $changed = 1;

	# in the way of nobody but those who are not at work; not a cycle, nor a worker
	while ($changed)
	{
		$changed = 0;
		for my $pid (grep { !$is_free{$_} } keys %blockers)
		{
			next unless @{ $blockers{$pid} };
			next if grep { !$is_free{$_} } @{ $blockers{$pid} };
			$is_free{$pid} = $changed = 1;
		}
	}
	return !grep { !$is_free{$_} } @waiting;
}

# Waits until nothing goes on by itself.
sub settle
{
	my $end = time() + 60;

	for (;;)
	{
		my $found = read_answers();

		next if $found;
		return 1 if is_settled() && !read_answers();
		return 0 if time() > $end;
		sleep 0.002;
	}
}

sub describe
{
	return join "\n", "schedule $seen{schedules}, items from $first_item",
	  @log;
}

# The answers to a session's statement are the same, or need not be; returns
# false if the schedule ends with that.
sub is_alike
{
	my ($number, $raced) = @_;
	my $session = $session[$number];
	my %answer = map { $_ => told($session->{told}{$_}) } @sides;
	my ($error) = @{ $session->{told}{history}{errors} };

	push @log, "    s$number: $answer{plain}"
	  . ($answer{plain} eq $answer{history} ? '' : " <> $answer{history}");
	$seen{ $session->{told}{plain}{errors}[0] // 'success' }++;
	return 1 if $answer{plain} eq $answer{history};
	my $why =
	  ($error // '') eq '40001'
	  && $session->{statement} =~ /^(?:DELETE|UPDATE)/ ? '40001'
	  : $session->{statement} =~ /DO NOTHING/
	  && $is_changing && $answer{plain} =~ /^40001/ ? 'skipped'
	  : $diverged ? 'diverged'
	  : $raced ? 'raced'
	  : "$answer{plain}$answer{history}" =~ /40001/
	  && ($level // 'SERIALIZABLE') eq 'SERIALIZABLE' ? 'serializable'
	  : 'different';
	$seen{"end: $why"}++;
	push @faults, describe() if $why eq 'different';
	return 0;
}

# Says whether of sessions some may wait on one side only.  A statement's rows are not
# stored one after the other: of several, another one may be the first that has
# to wait, or is a duplicate.
sub may_differ
{
	my @busy = @session[@_];

	return
		 $is_changing
	  || grep({ $_->{statement} =~ /\), \(/ } @busy)
	  || grep({ ($_->{errors}[0] // '') eq '40001' }
		map { values %{ $_->{told} } } @busy);
}

# Lets a free session do something on both sides; returns false if the schedule
# ends with that.
sub take_step
{
	my @free = grep { !is_waiting($session[$_]) } @sessions;

	unless (@free)
	{
		$seen{'end: all wait'}++;
		return 0;
	}
	my $number = any(@free);
	my $session = $session[$number];
	my $statement = $session->{statement} = make_statement($number);
	my @others = grep { is_waiting($session[$_]) } @sessions;

	push @log, "s$number: $statement";
	$session->{told} = {};
	for my $side (@sides)
	{
		$client{$side}[$number]
		  ->send_message('Q', ($statement =~ s/%s/$side/gr) . "\0");
		$session->{waits}{$side} = 1;
	}
	unless (settle())
	{
		push @faults, "hangs: ${\ describe()}";
		return 0;
	}

	# of several in a cycle the two may choose different ones
	if (grep { ($_->{errors}[0] // '') eq '40P01' }
		map { values %{ $_->{told} } } @session)
	{
		$seen{'end: 40P01'}++;
		return 0;
	}
	my @uneven;
	for my $each (@sessions)
	{
		my @waits = is_waiting($session[$each]);

		push @log, "    s$each waits: @waits" if @waits;
		push @uneven, $each if @waits == 1;
	}

	# of several that waited for one, either may be the first
	if (@uneven && !$diverged && @others > 1)
	{
		$seen{'end: raced'}++;
		return 0;
	}
	if (@uneven && !$diverged)
	{
		$diverged = 1;
		$seen{'waits differ'}++;
		unless (may_differ($number, @others, @uneven))
		{
			push @faults, "waits: ${\ describe()}";
			return 0;
		}
	}
	my @done = grep { $session[$_]{told}{plain} && !is_waiting($session[$_]) }
	  ($number, @others);
	for my $each (@done)
	{
		return 0 unless is_alike($each, @others > 1);
		$session[$each]{status} = $session[$each]{told}{plain}{status};
		$session[$each]{told} = {};
	}
	return 1;
}

# Merges, or has the space of merged runs used again.
sub maintain_runs
{
	my $do = any('merge', 'merge', 'merge', 'vacuum');

	push @log, $do;
	$admin->query(
		$do eq 'merge'
		? 'SELECT zbxhist_internal.merge_runs(d.day, 2) FROM zbxhist.packed_day d WHERE d.runs AND d.from_clock < 100000'
		: 'VACUUM (SKIP_LOCKED, TRUNCATE false) zbxhist_packed.'
		  . any(
			map { $_->[0] } @{
				$admin->query(
					'SELECT c.relname FROM pg_class c JOIN zbxhist.packed_day d ON d.day = c.oid WHERE d.from_clock < 100000'
				)->{rows}
			}));
	return;
}

# Ends all transactions; returns the errors.
sub end_all
{
	my ($what) = @_;
	my @errors;

	for my $side (@sides)
	{
		while (my @waiting = grep { $session[$_]{waits}{$side} } @sessions)
		{
			$admin->query(
				'SELECT pg_cancel_backend(' . $client{$side}[$_]->pid . ')')
			  for @waiting;
			sleep 0.005;
			read_answers();
		}
		push @errors, @{ $_->query($what)->{errors} } for @{ $client{$side} };
		$admin->query("$what PREPARED '$_->[0]'")
		  for @{
			$admin->query(
				"SELECT gid FROM pg_prepared_xacts WHERE gid LIKE '${side}_%'"
			)->{rows}
		  };
	}
	return @errors;
}

sub contents
{
	my ($side) = @_;

	return told(
		$admin->query(
			"SELECT * FROM $side WHERE itemid BETWEEN $first_item AND ${\ ($first_item + 2)}"
		));
}

for my $schedule (1 .. $schedules)
{
	$seen{schedules}++;
	$first_item = 10 * $schedule;
	$level = any(
		'READ COMMITTED',
		'READ COMMITTED',
		'REPEATABLE READ',
		'SERIALIZABLE', undef);
	$is_changing = rand() < 0.5;
	$has_batches = rand() < 0.7;
	$diverged = 0;
	@log = ();
	@prepared = ();
	@session = map { { depth => 0, status => 'I', waits => {}, told => {} } }
	  @sessions;

	if (rand() < 0.7)
	{
		my $rows = join ', ',
		  map { "($_, ${\ clock()}, 0, 0)" } map { $first_item + $_ } 0 .. 2;

		$admin->query("INSERT INTO $_ VALUES $rows") for @sides;
		push @log, $rows;
	}
	my $is_whole = 1;
	for (1 .. 25)
	{
		maintain_runs() if rand() < 0.1;
		last unless $is_whole = take_step();
	}

	# those who wait could go on, in any order
	$is_whole &&= !grep { is_waiting($_) } @session;
	my @errors = end_all($is_whole ? 'COMMIT' : 'ROLLBACK');
	my ($plain, $history) = map { contents($_) } @sides;
	push @faults, "in the end $plain, $history: ${\ describe()}"
	  if $is_whole && !$diverged && !@errors && $plain ne $history;
	$seen{whole}++ if $is_whole;
	my $double =
	  $admin->query('SELECT itemid, clock FROM history WHERE itemid BETWEEN '
		  . "$first_item AND ${\ ($first_item + 2)} GROUP BY 1, 2 HAVING count(*) > 1"
	  );
	push @faults, "doubled: ${\ describe()}" if @{ $double->{rows} };
	last if @faults > 5;
}

is(scalar @faults, 0, join ', ', map { "$_ $seen{$_}" } sort keys %seen)
  or diag(join "\n----\n", @faults);
cmp_ok($seen{whole}, '>', $schedules / 5, 'to their end');
cmp_ok($seen{23505}, '>', $schedules / 5, 'with duplicates');

# ---- counters ----

# Sessions count in rows of a run, of a packed hour and of a plain table, the same ones
# and neighbours, by locking them first or at once: no count is lost.
my $rounds = 100;

$admin->query($_)
  for q{SELECT zbxhist_internal.create_range('history', 82800, 86400)},
  map (
	{ "INSERT INTO $_ VALUES (1, 82801, 0, 0), (1, 86401, 0, 0), (2, 82801, 0, 0), (2, 86401, 0, 0)"
	} @sides),
  q{CALL zbxhist_internal.repeat_by_hand('history', 'pack', '{history_p19700101_2300}')};
is( $admin->query('SELECT count(*) FROM history_packed WHERE itemid = 1')
	  ->{rows}[0][0],
	2, 'a row is in a run, another one in a packed hour');

my @counters = map { PgWire->new($node, 'zabbix') } @sessions;
$_->send_message(
	'Q', qq{DO \$\$
DECLARE
	is_first boolean;
	item int;
	c int;
	side text;
	was float8;
BEGIN
	FOR round IN 1 .. $rounds LOOP
		FOR c IN VALUES (82801), (86401) LOOP
			is_first := random() < 0.5;
			item := 1 + (random() < 0.5)::int;
			-- who has one table's row would be alone in the other
			FOREACH side IN ARRAY ARRAY['history', 'plain'] LOOP
				IF is_first THEN
					EXECUTE format('SELECT value FROM %I WHERE itemid = %s AND clock = %s FOR UPDATE', side, item, c) INTO was;
					EXECUTE format('UPDATE %I SET value = %s + 1 WHERE itemid = %s AND clock = %s', side, was, item, c);
				ELSE
					EXECUTE format('UPDATE %I SET value = value + 1 WHERE itemid = %s AND clock = %s', side, item, c);
				END IF;
			END LOOP;
			COMMIT;
		END LOOP;
	END LOOP;
END \$\$\0}) for @counters;
is_deeply($_->read_until_ready->{messages}, [], 'counts') for @counters;
for my $side (@sides)
{
	is_deeply(
		$admin->query(
			"SELECT clock, sum(value) FROM $side WHERE itemid < 3 GROUP BY 1 ORDER BY 1"
		)->{rows},
		[ map { [ $_, $rounds * @counters ] } 82801, 86401 ],
		"$side: no count is lost");
}
is( $admin->query(
		'SELECT count(*) FROM (TABLE plain EXCEPT TABLE history) h WHERE itemid < 3'
	)->{rows}[0][0],
	0,
	'of each as many');
is( $node->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
	0,
	'the table is whole');
log_is_clean($node);
done_testing();
