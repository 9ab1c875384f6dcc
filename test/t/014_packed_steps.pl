# Packing, unpacking, merging, repacking and compacting are interrupted at each
# of their steps: by a cancel, by the end of the session, by a crash of the
# server.  Then the day is complete, as an ordinary partition or packed, in
# parts or as a whole; and the next try succeeds.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('packed_steps', full_page_writes => 'on');
create_database($node, 'zabbix');
set_up($node, 'zabbix');
$node->safe_psql('zabbix', "SELECT zbxhist.alter_parent('history', never_pack => true)");

my $day = date(-1);
my $partition = partition('history', -1);
my $late = 500;

# rows of many items and clocks, in that order
sub fill
{
	$node->safe_psql('zabbix',
			'INSERT INTO history SELECT i, '
		  . day(-1)
		  . ' + c * 60, i / 8.0 + c, i * c FROM generate_series(1, 100) i,'
		  . ' generate_series(0, 99) c');
}

# rows that come late, with keys of their own
sub fill_late
{
	$node->safe_psql('zabbix',
			'INSERT INTO history SELECT i, '
		  . day(-1)
		  . " + 30000 + i, i, $late FROM generate_series(50, 250) i");
	$late++;
}

# The session that holds the locks is older than the step, but would know what it is asked for.
sub settle
{
	$node->safe_psql('zabbix', "UPDATE zbxhist.packed_day SET settling = '{}'");
}

sub day_state
{
	return $node->safe_psql('zabbix',
			"SELECT string_agg(kind || ' ' || state, ', ' ORDER BY kind)"
		  . " FROM zbxhist.partitions WHERE parent = 'history'::regclass"
		  . ' AND from_clock = '
		  . day(-1));
}

# What a session does, in the order in which it comes to locks: name, state before, what it calls,
# and the tables, each locked against its writing, at which it waits.
my $unpack = "SELECT zbxhist_internal.step_unpack('history', d.day)"
  . " FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass";
my @steps = (
	{
		name => 'pack',
		call => "CALL zbxhist.pack('history', '$day')",
		before => 'heap open',
		after => 'packed packed',
		points => [qw(parent_state packed_day maintenance_log)]
	},
	{
		name => 'merge',
		prepare => \&fill_late,
		call => "SELECT zbxhist_internal.run_step('history', 'merge', d.day)"
		  . " FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass",
		before => 'packed packed',
		after => 'packed packed',
		points => [qw(parent_state packed_day maintenance_log)]
	},
	{
		name => 'repack',
		call => "CALL zbxhist.repack('history', '$day')",
		before => 'packed packed',
		after => 'packed packed',
		points => [qw(parent_state packed_day maintenance_log)]
	},
	{
		name => 'first step of unpack',
		call => $unpack,
		before => 'packed packed',
		after => 'heap open, packed packed',
		points => [qw(packed_day)]
	},
	{
		name => 'second step of unpack',
		prepare => \&settle,
		call => $unpack,
		before => 'heap open, packed packed',
		after => 'heap open, packed packed',
		points => [qw(packed_day maintenance_log)]
	},
	{
		name => 'third step of unpack',
		prepare => \&settle,
		call => $unpack,
		before => 'heap open, packed packed',
		after => 'heap open',
		points => [qw(packed_day maintenance_log)]
	});

# Breaks the call off while it waits for a lock on a table.
sub break_off
{
	my ($step, $table, $how) = @_;
	my $locker = $node->background_psql('zabbix');
	my $file = PostgreSQL::Test::Utils::tempdir() . '/out';

	$locker->query_safe("BEGIN; LOCK TABLE zbxhist.$table IN SHARE MODE");
	my $process = start_psql(
		$node, 'zabbix', $file,
		sub {
			my ($psql) = @_;

			print $psql "load 'zbxhist';\n", "set zbxhist.maintenance_lock_timeout = '60s';\n",
			  "$step->{call};\n";
		});
	$node->poll_query_until('zabbix',
			"SELECT count(*) = 1 FROM pg_locks WHERE NOT granted"
		  . " AND relation = 'zbxhist.$table'::regclass")
	  or die "$step->{name} does not come to $table";
	my $pid = $node->safe_psql('zabbix',
			'SELECT pid FROM pg_locks WHERE NOT granted'
		  . " AND relation = 'zbxhist.$table'::regclass");

	if ($how eq 'crash')
	{
		kill_server($node);
		wait_for_end($process);
		eval { $locker->quit };
		start_after_crash($node);
		return;
	}
	$node->safe_psql('zabbix',
		$how eq 'cancel' ? "SELECT pg_cancel_backend($pid)" : "SELECT pg_terminate_backend($pid)");
	wait_for_end($process);
	$locker->query_safe('COMMIT');
	$locker->quit;
	$node->poll_query_until('zabbix', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
}

fill();

# the foreign table comes first, and is known to all
$node->safe_psql('zabbix', "SELECT zbxhist_internal.pack_partition('history', '$partition')");
is( $node->safe_psql(
		'zabbix',
		"SELECT zbxhist_internal.packed_table_settled('history', zbxhist_internal.packed_table('history'))"
	),
	't',
	'the foreign table is there');
for my $step (@steps)
{
	$step->{prepare}->() if $step->{prepare};
	my $totals = totals($node, 'zabbix', 'history');
	is(day_state(), $step->{before}, "before $step->{name}");

	for my $table (@{ $step->{points} })
	{
		for my $how (qw(cancel terminate crash))
		{
			my $name = "$step->{name}: $how at $table";

			break_off($step, $table, $how);
			is(day_state(), $step->{before}, "$name: nothing is done");
			is(totals($node, 'zabbix', 'history'), $totals, "$name: every row is there");
		}
	}
	$node->safe_psql('zabbix', $step->{call});
	is(day_state(), $step->{after}, "$step->{name} succeeds");
	is(totals($node, 'zabbix', 'history'), $totals, "after $step->{name} every row is there");
}
is(rows_of($node, 'zabbix', $partition), 10201, 'in the end all rows are in the partition');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM zbxhist.maintenance_log WHERE action = 'repack' AND sqlstate IS NULL"
	),
	1,
	'the day was repacked once');

# what is left is finished by maintenance
$node->safe_psql('zabbix', "CALL zbxhist.pack('history', '$day')");
$node->safe_psql('zabbix', $unpack);
my $totals = totals($node, 'zabbix', 'history');
maintain($node, 'zabbix');
is(day_state(), 'heap open', 'maintenance brings it to its end');
is(totals($node, 'zabbix', 'history'), $totals, '... with every row');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM pg_class WHERE relnamespace = 'zbxhist_packed'::regnamespace"
		  . " AND relkind = 'r'"),
	0,
	'no table of a day is left');

# ---- parts of a day ----

$node->safe_psql('zabbix', <<'SQL');
CREATE TABLE parts (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('parts', '6 hours', retention => '100 years', pack_after => '1 hour');
SELECT zbxhist.alter_parent('parts', never_pack => true);
SELECT zbxhist_internal.create_range('parts', c, c + 21600) FROM generate_series(86400, 172799, 21600) c;
INSERT INTO parts SELECT i, 86400 + c * 600, i + c FROM generate_series(1, 100) i, generate_series(0, 143) c;
CREATE PROCEDURE pack_parts() LANGUAGE plpgsql AS $$
DECLARE
    p regclass;
BEGIN
    FOR p IN SELECT l.partition FROM zbxhist.list_partitions('parts') l WHERE l.to_clock < 1000000 LOOP
        CALL zbxhist_internal.repeat_by_hand('parts', 'pack', ARRAY[p]);
    END LOOP;
END $$;
CALL pack_parts();
SQL
my $state_of_parts =
  "SELECT count(*), sum(nrows), (SELECT count(*) FROM pg_class k WHERE k.relkind = 'r' AND k.relname ~ '^parts_p'"
  . " AND k.relnamespace = 'zbxhist_packed'::regnamespace) FROM zbxhist.packed_day d WHERE d.parent = 'parts'::regclass";
my $parts = totals($node, 'zabbix', 'parts');
my $compact = { name => 'compact', call => "CALL zbxhist.compact('parts', '1970-01-02')" };

for my $table (qw(parent_state packed_day maintenance_log))
{
	for my $how (qw(cancel terminate crash))
	{
		break_off($compact, $table, $how);
		is($node->safe_psql('zabbix', $state_of_parts),
			'4|14400|4', "compact: $how at $table: nothing is done");
		is(totals($node, 'zabbix', 'parts'), $parts, '... every row is there');
	}
}
$node->safe_psql('zabbix', $compact->{call});
is($node->safe_psql('zabbix', $state_of_parts), '1|14400|1', 'compact succeeds');
is(totals($node, 'zabbix', 'parts'), $parts, '... with every row');

# the next day is made one in the moment of an insert, below
$node->safe_psql('zabbix', <<'SQL');
SELECT zbxhist_internal.create_range('parts', c, c + 21600) FROM generate_series(172800, 259199, 21600) c;
INSERT INTO parts SELECT itemid, clock + 86400, value FROM parts WHERE clock < 172800;
CALL pack_parts();
SQL

# An insert that has to look for its key in the moment of the swap: it waits,
# and finds it.  Returns what it says.
sub insert_in_swap
{
	my ($call, $conflict, $row) = @_;
	my $locker = $node->background_psql('zabbix');
	my $packer = $node->background_psql('zabbix');
	my $writer = $node->background_psql('zabbix', on_error_stop => 0);

	$locker->query_safe('BEGIN; LOCK TABLE zbxhist.maintenance_log IN SHARE MODE');
	$packer->query_safe("LOAD 'zbxhist'; SET zbxhist.maintenance_lock_timeout = '60s'");
	$packer->query_until(qr/began/, "\\echo began\n$call;\n");
	$node->poll_query_until('zabbix',
			"SELECT count(*) = 1 FROM pg_locks WHERE NOT granted"
		  . " AND relation = 'zbxhist.maintenance_log'::regclass");
	$writer->query_safe("LOAD 'zbxhist'");
	$writer->query_until(qr/began/,
			"\\echo began\nINSERT INTO "
		  . ($row // 'history VALUES (1, ' . day(-1) . ', 0, 0)')
		  . "$conflict;\n");
	ok( $node->poll_query_until(
			'zabbix',
			"SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ '^INSERT' AND wait_event_type IN ('Lock', 'Extension')"
		),
		"$call: an insert waits for the swap");
	$locker->query_safe('COMMIT');
	my $answer = $writer->query('SELECT 1');
	$answer = $writer->{stderr} . ($answer // '');
	$packer->query_safe('SELECT 1');
	is(day_state(), 'packed packed', '... which succeeds');
	is(totals($node, 'zabbix', 'history'), $totals, '... with every row');
	$_->quit for $locker, $packer, $writer;
	return $answer;
}

my $duplicate = qr/duplicate key value violates unique constraint/;
like(insert_in_swap("CALL zbxhist.pack('history', '$day')", ''),
	$duplicate, '... and its key is found in the packed day');
like(insert_in_swap("CALL zbxhist.repack('history', '$day')", ''),
	$duplicate, '... and in the new one');
unlike(insert_in_swap("CALL zbxhist.repack('history', '$day')", ' ON CONFLICT DO NOTHING'),
	qr/ERROR/, '... or passed over');
like(
	insert_in_swap(
		"CALL zbxhist.compact('parts', '1970-01-03')",
		'',
		'parts VALUES (1, 259199, 1), (2, 216000, 0)'),
	$duplicate,
	'... or in the day that takes the place of its parts');
is($node->safe_psql('zabbix', $state_of_parts), '2|28800|2', '... which is one then');
is( $node->safe_psql(
		'zabbix',
		"CALL zbxhist.unpack('parts', '1970-01-03'); SELECT count(*) FROM parts WHERE clock >= 172800"
	),
	14400,
	'... and gets no row');

# ---- how far it has come ----

$node->safe_psql('zabbix', <<"SQL");
CREATE TABLE many (itemid bigint NOT NULL, clock integer NOT NULL, value double precision);
SELECT zbxhist.create_parent('many'), zbxhist.create_partition('many', '$day');
INSERT INTO many SELECT i % 1000, ${\ day(-1) } + i / 100, i FROM generate_series(1, 1000000) i;
ANALYZE many;
SELECT zbxhist_internal.create_range('many', ${\ day(-2) } + c, ${\ day(-2) } + c + 43200) FROM (VALUES (0), (43200)) v (c);
INSERT INTO many SELECT i % 1000, ${\ day(-2) } + i / 8, i FROM generate_series(1, 600000) i;
CREATE PROCEDURE pack_many() LANGUAGE plpgsql AS \$\$
DECLARE
    p regclass;
BEGIN
    FOR p IN SELECT l.partition FROM zbxhist.list_partitions('many') l WHERE l.to_clock <= ${\ day(-1) } LOOP
        CALL zbxhist_internal.repeat_by_hand('many', 'pack', ARRAY[p]);
    END LOOP;
END \$\$;
CALL pack_many();
SQL
my $watcher = PgWire->new($node, 'zabbix');

# What is seen of an action as it goes on; says whether it succeeded.
sub watch
{
	my ($action, $percent) = @_;
	my $which = $action eq 'compact' ? date(-2) : $day;
	my $pid = start_psql(
		$node, 'zabbix',
		"$PostgreSQL::Test::Utils::tmp_check/$action.out",
		sub {
			print { $_[0] } $action eq 'verify'
			  ? "SELECT * FROM zbxhist.verify('many');\n"
			  : "CALL zbxhist.$action('many', '$which');\n";
		});

	while (waitpid($pid, POSIX::WNOHANG()) == 0)
	{
		my $answer = $watcher->query('SELECT percent FROM zbxhist.progress'
			  . " WHERE action = '$action' AND partition ~ 'many_p' AND percent IS NOT NULL");

		push @$percent, map { $_->[0] } @{ $answer->{rows} };
	}
	return $? == 0;
}

for my $action (qw(pack repack compact verify unpack))
{
	# on a busy machine a look may come too late; these two can be done again
	my $tries = $action =~ /repack|verify/ ? 10 : 1;
	my @percent;

	while ($tries-- > 0 && !grep { $_ > 0 && $_ < 100 } @percent)
	{
		ok(watch($action, \@percent), "a day is watched: $action");
	}
	ok(@percent > 0, '... its progress has been seen');
	ok(!(grep { $_ < 0 || $_ > 100 } @percent), '... from 0 to 100 per cent at most');
	ok((grep { $_ > 0 && $_ < 100 } @percent) > 0, '... and in between');
}
$watcher->close;

log_is_clean($node);
$node->stop;
done_testing();
