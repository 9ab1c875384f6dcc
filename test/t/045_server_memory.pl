# A session's memory does not grow with the number of statements, whatever they
# are and however they end.  ZBXHIST_MEMORY_CYCLES asks for more of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use ZbxhistTest;

my $CYCLES = $ENV{ZBXHIST_MEMORY_CYCLES} || 40;
my $ROWS = 100;
my $TOLERANCE = 8192;    # bytes

my $node = test_server(
	'memory',
	max_prepared_transactions => 2,
	shared_buffers => '128MB',
	autovacuum => 'off');
create_database($node, 'zabbix');
set_up($node, 'zabbix');
$node->safe_psql('zabbix', <<'SQL');
CREATE FUNCTION nested(item bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history_uint (itemid, clock) VALUES (item, extract(epoch FROM now())::int);
    RETURN item;
END $$;
CREATE FUNCTION caught(item bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history_uint (itemid, clock)
    SELECT item + i, extract(epoch FROM now())::int FROM generate_series(1, 50) i;
    BEGIN
        INSERT INTO history_uint (itemid, clock)
        SELECT item + i % 30, extract(epoch FROM now())::int + 1 FROM generate_series(1, 50) i;
    EXCEPTION WHEN unique_violation THEN
        NULL;
    END;
END $$;
SQL

my ($now, $item) = (day(0), 1);

# One item more than the last so many.
sub items
{
	my ($count) = @_;
	my $first = $item;

	$item += $count;
	return $first;
}

my $columns = '(itemid,clock,ns,value)';

# name => SQL of one cycle
my %kinds = (
	'multi-row INSERT' => sub { insert_values('history', items($ROWS), $ROWS, $now) },
	'single-row INSERT' => sub {
		join '', map { insert_values('history', items(1), 1, $now) } 1 .. 20;
	},
	'INSERT ... SELECT' => sub {
		my $first = items(3000);
		"INSERT INTO history SELECT i, $now, 0, 0 FROM generate_series($first, $first + 2999) i;\n";
	},
	'COPY' => sub {
		my $first = items($ROWS);
		"COPY history $columns FROM stdin;\n"
		  . join('', map { $first + $_ . "\t$now\t0\t1\n" } 1 .. $ROWS - 1) . "\\.\n";
	},
	'COPY that fails' => sub {
		my $first = items($ROWS);
		"COPY history $columns FROM stdin;\n"
		  . join('', map { $first + $_ . "\t$now\t0\t1\n" } 1 .. $ROWS - 1)
		  . "x\n\\.\n";
	},
	'duplicate' => sub {
		my $first = items($ROWS);
		"INSERT INTO history $columns VALUES "
		  . value_rows($first, $ROWS - 1, $now) . ','
		  . value_rows($first, 1, $now) . ";\n";
	},
	'error in the midst' => sub {
		my $first = items(2000);
		"INSERT INTO history SELECT i, $now, 1 / (i - $first - 1500), 0"
		  . " FROM generate_series($first, $first + 1999) i;\n";
	},
	'rolled back' => sub {
		"BEGIN;\n" . insert_values('history', items($ROWS), $ROWS, $now) . "ROLLBACK;\n";
	},
	'savepoints' => sub {
		join '', "BEGIN;\n", insert_values('history', items($ROWS), $ROWS, $now), "SAVEPOINT a;\n",
		  insert_values('history', items($ROWS), $ROWS, $now), "SAVEPOINT b;\n",
		  insert_values('history', items(10), 10, $now), "ROLLBACK TO a;\nRELEASE a;\nCOMMIT;\n";
	},
	'RETURNING' => sub {
		"WITH i AS (INSERT INTO history $columns VALUES "
		  . value_rows(items($ROWS), $ROWS, $now)
		  . " RETURNING 1) SELECT count(*) FROM i;\n";
	},
	'ON CONFLICT DO NOTHING' => sub {
		my $first = items($ROWS);
		(       "INSERT INTO history $columns VALUES "
			  . value_rows($first, $ROWS, $now)
			  . " ON CONFLICT DO NOTHING;\n") x 2;
	},
	'ON CONFLICT DO UPDATE' => sub {
		"INSERT INTO history $columns VALUES "
		  . value_rows(items($ROWS), $ROWS, $now)
		  . " ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = excluded.value;\n";
	},
	'rows kept' => sub { insert_values('history', items($ROWS), $ROWS, day(-9)) },
	'kept row by row' => sub {
		join '', map { insert_values('history', items(1), 1, day(-9)) } 1 .. 20;
	},
	'two tables' => sub {
		my $first = items($ROWS);
		"WITH a AS (INSERT INTO history_uint SELECT i, $now, 0, 0"
		  . " FROM generate_series($first, $first + $ROWS) i)"
		  . " INSERT INTO history SELECT i, $now, 0, 0 FROM generate_series($first, $first + $ROWS) i;\n";
	},
	'functions' => sub {
		my $first = items(100);
		"INSERT INTO history SELECT nested(i), $now, 0, 0 FROM generate_series($first, $first + 49) i;\n"
		  . 'SELECT caught('
		  . items(200) . ");\n";
	},
	'EXECUTE' => sub {
		join '', map { 'EXECUTE one (' . items(1) . ");\n" } 1 .. 20;
	},
	'without batches' => sub {
		"SET zbxhist.enable_batching = off;\n"
		  . insert_values('history', items($ROWS), $ROWS, $now)
		  . "RESET zbxhist.enable_batching;\n";
	},
	'two-phase commit' => sub {
		"BEGIN;\n"
		  . insert_values('history', items($ROWS), $ROWS, $now)
		  . "PREPARE TRANSACTION 'a';\nCOMMIT PREPARED 'a';\n";
	},
	'cache rebuilt' => sub {
		"SELECT zbxhist_internal.invalidate('history');\n"
		  . insert_values('history', items(10), 10, $now);
	},
	'other row type' => sub {
		"INSERT INTO history_log (itemid, clock, value, ns) SELECT i, $now, repeat('x', 1000), 0"
		  . ' FROM generate_series('
		  . items($ROWS) . ', '
		  . ($item - 1)
		  . ") i;\n";
	},
	'functions of maintenance' => sub {
		my $first = items(50);
		my $partition = partition('history_text', 0);

		"SET zbxhist.enable_routing = off;\n"
		  . insert_values('history_text', $first, 50, $now + 86400)
		  . "RESET zbxhist.enable_routing;\n"
		  . "SELECT (zbxhist_internal.move_rows('history_text', '$partition', $now, $now + 86400, NULL, 1000)).moved,"
		  . " (SELECT count(*) FROM zbxhist.list_partitions('history')),"
		  . " zbxhist.partition_bounds('$partition'),"
		  . " (SELECT count(*) FROM zbxhist.insert_paths());\n";
	});

# the first measurement warms up itself
my $measure =
  "SELECT 'memory', sum(total_bytes), sum(used_bytes) FROM pg_backend_memory_contexts;\n";
my $prepare =
  "SET client_min_messages = error;\nPREPARE one (bigint) AS INSERT INTO history VALUES (\$1, $now, 0, 0);\n";

# Total and used bytes at each measurement.
sub run_session
{
	my ($sql) = @_;
	my ($code, $out) = psql_script($node, 'zabbix', $sql, '-q');

	return map { [ split /\|/, $_ ] } $out =~ /^memory\|(\d+\|\d+)$/mg;
}

# each has a session of its own, and the last one mixes them all
for my $name (sort(keys %kinds), 'all')
{
	my $cycle = $kinds{$name} // sub {
		join '', map { $kinds{$_}->() } sort keys %kinds;
	};
	my $few = $name eq 'all' ? 12 : 10;
	my $many = $name eq 'all' ? $CYCLES / 5 : $CYCLES;
	my ($warm, $before, $after) = run_session(join '', $prepare, (map { $cycle->() } 1 .. $few),
		$measure, $measure, (map { $cycle->() } 1 .. $many), $measure);

	BAIL_OUT("$name: no measurement") unless $after;
	cmp_ok($after->[0] - $before->[0], '<=', $TOLERANCE, "$name: total memory");
	cmp_ok($after->[1] - $before->[1], '<=', $TOLERANCE, "$name: used memory");
}

log_is_clean($node);
$node->stop;
done_testing();
