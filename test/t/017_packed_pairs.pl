# Each kind of reader beside each act of maintenance on a day: before the
# reader reaches the day, while it reads it, and after it has left it but not
# ended its transaction.  The reader finds the rows of a plain twin, each once.
# A day that is in use is skipped, and done by the next call.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('pairs', autovacuum => 'off', session_preload_libraries => 'zbxhist');
create_database($node, 'zabbix');
my $has_archive = has_extension($node, 'postgres_fdw');
add_archive_server($node, 'zabbix', 'cold') if $has_archive;
$node->append_conf('postgresql.conf', q{zbxhist.maintenance_lock_timeout = '20ms'});
$node->reload;

# A reader comes from the first day to the one that is changed, and on to the last one.
my ($first, $changed, $last, $end) = map { day($_) } -9, -8, -7, -6;
my $date = date(-8);
my @moments = qw(before between after);

# Where a reader of rows stops: at a row for which it looks into a table that is locked.
my @stops = map { $_ + 600 } $first, $changed, $last;

# ... and one that reads all at once: at a day that is locked.
my @locked_days = map { 'zbxhist_packed.' . partition('history', $_) } -9, undef, -7;

$node->safe_psql('zabbix', <<'SQL');
CREATE TABLE gate ();
CREATE FUNCTION passes(itemid bigint, clock integer) RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
BEGIN
	IF itemid = 2 AND clock = current_setting('test.stop')::integer THEN
		PERFORM FROM gate;
	END IF;
	RETURN true;
END $$;
SQL

# ---- the table of readers ----

my $columns = 'itemid, clock, ns, value';
my $parallel = join '', map { "SET LOCAL $_;" } 'parallel_setup_cost = 0',
  'parallel_tuple_cost = 0',
  'min_parallel_table_scan_size = 0', 'max_parallel_workers_per_gather = 1',
  'parallel_leader_participation = off';
my $of_rows = "SELECT $columns FROM history WHERE passes(itemid, clock)";

# query: what is read; twin: the same of the plain table, if that is not found by its name
# fetched: a cursor has that many rows at each moment; otherwise it is one statement
# by_days: where that waits for the lock of a day
# late: before the day there is nothing but the transaction's snapshot
my @readers = (
	{ name => 'SELECT', query => $of_rows },
	{
		name => 'cursor',
		fetched => [ 6, 10, 14 ],
		query => "SELECT $columns FROM history WHERE itemid = 2 ORDER BY clock DESC"
	},
	{
		name => 'REPEATABLE READ',
		level => 'REPEATABLE READ',
		late => 1,
		query => "$of_rows AND itemid IN (1, 2, 3)"
	},
	{
		name => 'SERIALIZABLE',
		level => 'SERIALIZABLE',
		late => 1,
		fetched => [ 0, 5, 99 ],
		query => "SELECT $columns FROM history ORDER BY itemid, clock, ns"
	},
	{
		name => 'function',
		by_days => 1,
		fetched => [ undef, 1, undef ],
		query => "SELECT $columns FROM zbxhist.range(NULL::history, 2, $first, $end + 86400)",
		twin => "SELECT $columns FROM plain WHERE itemid = 2"
	},
	{
		name => 'aggregate',
		by_days => 1,
		fetched => [ undef, 1, undef ],
		query => 'SELECT itemid, count(*), sum(value) FROM history GROUP BY itemid ORDER BY itemid'
	},
	{ name => 'parallel scan', settings => $parallel, query => $of_rows },
	{
		name => 'DELETE',
		query => "DELETE FROM history WHERE itemid = 2 AND passes(itemid, clock) RETURNING $columns"
	});

# ---- the table of acts ----

my $day =
  "(SELECT d FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass AND d.from_clock = $changed)";
my $tables =
  "(SELECT count(*) FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass AND d.from_clock BETWEEN $changed AND $last - 1)";
my $moved = "CASE WHEN $tables = 0 THEN 'd' WHEN ($day).unpacked THEN 'm' ELSE 'h' END";

# packed: how many packed tables the day is in; made: what is called before the reader begins
# call: what is done; steps: its steps, without the time for which it waits for others
# state: how far that is: d done, h held, m moved: new snapshots find the rows at another place
# expected: what the first call comes to beside each reader, at the three moments; s: the reader
# could not be serialized
#
# A partition is held from the beginning of a statement that is planned for all of them.  A day is
# held by who is at it, by who waits for the next one, by a transaction at REPEATABLE READ that has
# been at it, and by a DELETE that will come to it.  What reads the day before is kept from it by
# the strongest lock, which also keeps maintenance from looking for what is to be archived.
my @acts = (
	{
		name => 'pack',
		call => "CALL zbxhist_internal.do_step('history', 'pack', NULL)",
		state => "CASE $tables WHEN 1 THEN 'd' ELSE 'h' END",
		expected => 'hhh hhh dhh dhh dhh hhh hhh hhh'
	},
	{
		name => 'repack',
		packed => 1,
		call => "CALL zbxhist.repack('history', '$date')",
		state => "CASE WHEN ($day).repacked_at IS NULL THEN 'h' ELSE 'd' END",
		expected => 'dhd dhd dhh dhh ddh ddh dhd hhh'
	},
	{
		name => 'compact',
		packed => 2,
		call => "CALL zbxhist_internal.do_step('history', 'compact', NULL)",
		state => "CASE $tables WHEN 1 THEN 'd' ELSE 'h' END",
		expected => 'dhd dhd dhh dhh ddh ddh dhd hhh'
	},
	{
		name => 'drop',
		packed => 1,
		call => "CALL zbxhist.drop_day('history', '$date', accept_deletion => true)",
		state => "CASE $tables WHEN 0 THEN 'd' ELSE 'h' END",
		expected => 'dhd dhd dhh dhh ddh ddh dhd hhh'
	},
	{
		name => 'archive',
		packed => 1,
		call => "CALL zbxhist_internal.do_step('history', 'archive', NULL)",
		made =>
		  "SELECT zbxhist.alter_parent('history', archive_server => 'cold', archive_after => '7 days')",
		state => "CASE WHEN ($day).archive_copy IS NULL THEN 'h' ELSE 'd' END",
		expected => 'dhd dhd dhh dhh ddh ddh dhd hhh'
	},
	{
		name => 'unarchive',
		packed => 1,
		call => "CALL zbxhist.unarchive('history', '$date')",
		made =>
		  "SELECT zbxhist.alter_parent('history', archive_server => 'cold'); CALL zbxhist.archive('history', '$date')",
		state => "CASE WHEN ($day).archive_copy IS NULL THEN 'd' ELSE 'h' END",
		expected => 'dhd dhd dhh dhh ddh ddh dhd hhh'
	},
	{
		name => 'unpack',
		packed => 1,
		call => "CALL zbxhist.unpack('history', '$date')",
		steps => ['unpack'],
		made => "SELECT zbxhist_internal.run_by_hand('history', 'unpack', ($day).day)",
		state => $moved,
		expected => 'mmm mmm mmm sss mmm mmm mmm hhh'
	},
	{
		name => 'undo',
		packed => 1,
		call => "CALL zbxhist.undo('history')",
		steps => [qw(unpack undo_move undo_settle undo_drop undo_end)],
		made => "SELECT zbxhist_internal.run_step('history', 'undo_begin')",
		state => $moved,
		expected => 'mmm mmm mmm sss mmm mmm mmm hhh'
	});
@acts = grep { $_->{name} !~ /archive/ } @acts unless $has_archive;

# ---- a trial ----

# the reader; who keeps it from going on; who has begun before it
my ($session, $keeper, $older, $maintenance) = map { PgWire->new($node, 'zabbix') } 1 .. 4;

# Rows in some order, of a statement that must succeed.
sub rows
{
	my ($client, $sql) = @_;
	my $result = $client->query($sql);

	die "$sql: @{ $result->{messages} }" if @{ $result->{errors} };
	return texts($result);
}

sub texts
{
	return [
		sort map {
			join ' ',
			  map { $_ // '' }
			  @$_
		} @{ $_[0]->{rows} }
	];
}

# The table, with four values an item and day, and its twin.
sub create_tables
{
	my ($act) = @_;
	my $packed = $act->{packed} // 0;
	my $middle = $packed == 2 ? "($changed), ($changed + 3600)" : "($changed)";

	rows($keeper, $_) for split /;\n/, <<"SQL";
SET client_min_messages = error; SET zbxhist.allow_packed_drop = on; DROP TABLE IF EXISTS history, plain CASCADE;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 day');
SELECT zbxhist_internal.create_range('history', c, lead(c) OVER (ORDER BY c)) FROM (VALUES ($first), $middle, ($last), ($end), ($end + 86400)) v (c) ORDER BY c LIMIT 4 + ${\ ($packed == 2 ? 1 : 0) };
INSERT INTO plain SELECT i, d + h * 3600 + s, i * (h + s), 0 FROM generate_series(1, 3) i, generate_series($first, $end, 86400) d, generate_series(0, 1) h, generate_series(0, 600, 600) s;
INSERT INTO history TABLE plain
SQL
	rows($maintenance, $_)
	  for 'SET client_min_messages = error',
	  map { "CALL zbxhist.pack('history', '${\ date($_)}')" } $packed ? -8 : (), -9, -7;
	rows($maintenance, $_) for split /; /, $act->{made} // '';
	return;
}

# Begins, and comes to the place of the moment; the statement that gives the rest, if not the one under way.
sub begin
{
	my ($reader, $moment) = @_;
	my $fetched = ($reader->{fetched} // [])->[$moment];
	my $lock = $reader->{by_days} ? $locked_days[$moment] : 'gate';

	rows($session,
		"BEGIN ISOLATION LEVEL ${\ ($reader->{level} // 'READ COMMITTED') }; SELECT FROM pg_class LIMIT 1;"
		  . ($reader->{settings} // ''));
	rows($session, "SET LOCAL test.stop = $stops[$moment]");
	return $reader->{query} =~ s/passes[^)]*\)/true/r if $reader->{late} && $moment == 0;
	if (defined $fetched)
	{
		rows($session, "DECLARE c CURSOR FOR $reader->{query}");
		return 'FETCH ALL FROM c', rows($session, "FETCH $fetched FROM c");
	}
	rows($keeper, "BEGIN; LOCK TABLE $lock");
	$session->send_message('Q', "$reader->{query}\0");
	for (my $waits = 0; !$waits;)
	{
		die "it does not come to $lock" if $session->has_answer;
		$waits =
		  @{ rows($older, "SELECT FROM pg_locks WHERE relation = '$lock'::regclass AND NOT granted")
		  };
	}
	return;
}

# What maintenance does with a day, each step until it cannot go on.
sub go_on
{
	my ($act) = @_;

	return $maintenance->query($act->{call}) if !$act->{steps};
	for my $step (@{ $act->{steps} })
	{
		for my $relation (
			@{
				rows($maintenance,
					"SELECT coalesce(r::text, 'NULL') FROM unnest(zbxhist_internal.work_list('history', '$step')) r"
				)
			})
		{
			my $target = $relation eq 'NULL' ? 'NULL' : "'$relation'";

			1 while rows($maintenance,
				"SELECT zbxhist_internal.run_step('history', '$step', $target)")->[0] eq 'more';
		}
	}
	return;
}

# Runs a reader beside an act; how far that came.
sub trial
{
	my ($reader, $act, $moment) = @_;
	my $name = "$act->{name} $moments[$moment] $reader->{name}";
	my $twin = $reader->{twin} // $reader->{query} =~ s/history/plain/r =~ s/passes[^)]*\)/true/r;
	my $in_day = "clock BETWEEN $changed AND $last - 1";

	create_tables($act);
	if ($act->{steps})
	{
		rows($older, 'BEGIN; SELECT FROM pg_class LIMIT 1');
		go_on($act);
	}
	my ($rest, $begun) = begin($reader, $moment);
	rows($older, 'COMMIT') if $act->{steps};
	go_on($act);
	my $state = rows($maintenance, "SELECT $act->{state}")->[0];
	rows($keeper, 'COMMIT');
	my $result = defined $rest ? $session->query($rest) : $session->read_until_ready;
	my $is_dropped = $act->{name} eq 'drop' && $state eq 'd';
	rows($keeper, "DELETE FROM plain WHERE $in_day") if $is_dropped && $moment == 0;
	my $errors = "@{ $result->{errors} }";
	is_deeply(
		[ sort @{ $begun // [] }, @{ texts($result) } ],
		rows($keeper, $twin),
		"$name: its rows") if $errors ne '40001';
	rows($keeper, "DELETE FROM plain WHERE $in_day") if $is_dropped;
	$result = $session->query('TABLE history') if !$errors;
	$errors = "@{ $result->{errors} }";
	is_deeply(texts($result), rows($keeper, 'TABLE plain'), "$name: all rows in its transaction")
	  if $errors ne '40001';
	rows($session, 'COMMIT');
	rows($maintenance, $act->{call}) if $state ne 'd';
	rows($keeper, "DELETE FROM plain WHERE $in_day") if $act->{name} eq 'drop';
	is(rows($maintenance, "SELECT $act->{state}")->[0], 'd', "$name: done by the next call");
	is_deeply(
		rows($session, 'TABLE history'),
		rows($keeper, 'TABLE plain'),
		"$name: what is there then");
	return $errors ? 's' : $state;
}

for my $act (@acts)
{
	my $found = join ' ', map {
		my $reader = $_;
		join '', map { trial($reader, $act, $_) } 0 .. 2
	} @readers;

	is($found, $act->{expected}, "$act->{name} beside " . join ', ', map { $_->{name} } @readers);
}

# an undo does not try one partition after the other where a DELETE keeps rows of all from being moved
create_tables({});
rows($session, 'BEGIN; DELETE FROM history WHERE itemid = 2');
rows($maintenance, $_)
  for 'TRUNCATE zbxhist.maintenance_log',
  "SELECT zbxhist_internal.run_step('history', 'undo_begin')",
  "CALL zbxhist_internal.do_step('history', 'undo_move', NULL)";
is_deeply(
	rows(
		$maintenance,
		"SELECT count(DISTINCT relation), count(*) FROM zbxhist.maintenance_log WHERE sqlstate = '55P03'"
	),
	['1 3'],
	'an undo tries to move rows of one partition beside a DELETE');

log_is_clean($node);
$node->stop;
done_testing();
