# Days are packed, merged into, repacked, compacted, unpacked and dropped
# without end, while late rows arrive, rows are deleted and updated, and
# readers at each isolation level compare the whole table with a plain one that
# the same transactions write: they are equal in every snapshot.  A key that
# exists is a duplicate at any time, and the only other error is that a
# transaction must be repeated: at READ COMMITTED, only after a deadlock.
# ZBXHIST_SECONDS=600 for more.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);
use ZbxhistTest;

my $seconds = $ENV{ZBXHIST_SECONDS} // 10;
my $seed = $ENV{ZBXHIST_SEED} // 1;

my $node = test_server(
	'packed_stress',
	statement_timeout => '10min',
	deadlock_timeout => '100ms',
	autovacuum_naptime => '1s');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');

# rows of items up to 20 are never deleted
$node->safe_psql(
	'zabbix', q{
	SELECT zbxhist.create_parent('history', retention => '200 years');
	SELECT zbxhist.create_partition('history', date '1970-01-01' + d) FROM generate_series(1, 3) d;
	INSERT INTO history SELECT i, c * 86400 + j * 97, i * j, j
	  FROM generate_series(1, 60) i, generate_series(1, 2) c, generate_series(0, 150) j;
	-- days of four parts, before 1970
	SELECT zbxhist_internal.create_range('history', c, c + 21600) FROM generate_series(-20 * 86400, -1, 21600) c;
	INSERT INTO history SELECT i, c * 86400 + j * 2100, i * j, j
	  FROM generate_series(1, 60) i, generate_series(-20, -1) c, generate_series(0, 40) j;
	CREATE TABLE plain (LIKE history INCLUDING ALL);
	INSERT INTO plain SELECT * FROM history;
	CREATE PROCEDURE pack_parts() LANGUAGE plpgsql AS $$
	DECLARE
		p regclass;
	BEGIN
		FOR p IN SELECT l.partition FROM zbxhist.list_partitions('history') l WHERE l.to_clock <= 0 LOOP
			CALL zbxhist_internal.repeat_by_hand('history', 'pack', ARRAY[p]);
		END LOOP;
	END $$;
	CALL pack_parts();
});

# what is dropped is not compared
my $END = 259200;

# A transaction; returns the rows of its last query if it went well.
sub run
{
	my ($client, $errors, @statements) = @_;
	my $result;

	for my $sql (@statements)
	{
		$result = $client->query($sql);
		next unless @{ $result->{errors} };
		$errors->{$_}++ for @{ $result->{errors} };
		$client->query('ROLLBACK') if $statements[0] =~ /^BEGIN/;
		return;
	}
	return $result->{rows};
}

# ---- readers ----

my $checksum = 'SELECT count(*) || \' \' || sum(hashtextextended(h::text, 0)::numeric)';
my %readings = (
	whole => "SELECT ($checksum FROM history h WHERE clock < $END), ($checksum FROM plain h)",
	parallel =>
	  "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0;"
	  . "SELECT ($checksum FROM history h WHERE clock < $END), ($checksum FROM plain h)",
	items =>
	  "SELECT ($checksum FROM history h WHERE itemid IN (7, 30, 33, 70) AND clock BETWEEN 100000 AND 200000),"
	  . " ($checksum FROM plain h WHERE itemid IN (7, 30, 33, 70) AND clock BETWEEN 100000 AND 200000)",
	range =>
	  "SELECT ($checksum FROM zbxhist.range(NULL::history, 30, -2000000, $END) h), ($checksum FROM plain h WHERE itemid = 30)",
	newest =>
	  "SELECT (SELECT string_agg(s::text, ',') FROM (SELECT clock, ns, value FROM history WHERE itemid = 31 AND clock < $END ORDER BY clock DESC, ns DESC LIMIT 3) s),"
	  . " (SELECT string_agg(s::text, ',') FROM (SELECT clock, ns, value FROM plain WHERE itemid = 31 ORDER BY clock DESC, ns DESC LIMIT 3) s)"
);

sub read_rows
{
	my ($level, $client, $errors) = @_;
	my @readings = map { $readings{ any(sort keys %readings) } } 1 .. any(1, 2, 3);

	run($client, $errors, "BEGIN ISOLATION LEVEL $level") or return;
	for my $reading (@readings)
	{
		my $rows = run($client, $errors, $reading) // last;
		my ($history, $plain) = @{ $rows->[0] };

		$errors->{ "DIFFERENT at $level: $reading: "
			  . ($history // 'null') . ' for '
			  . ($plain // 'null') }++
		  if ($history // '') ne ($plain // '');
		sleep(rand(0.02));
	}
	$client->query('ROLLBACK');
	sleep(rand(0.2));
}

# ---- writers ----

my $counter = 0;

# the whole days, or those of parts
sub any_clock
{
	return any(86400 + int rand 172800, -int rand 20 * 86400);
}

sub insert_late
{
	my ($client, $errors) = @_;
	my $rows = join ',',
	  map { sprintf('(%d,%d,%d,%d)', any(21 .. 80), any_clock(), ++$counter * 10 + $$ % 10, $$) }
	  1 .. any(1, 5, 40);

	sleep(rand(0.03));
	run($client,
		$errors,
		'BEGIN',
		"INSERT INTO history (itemid, clock, ns, value) VALUES $rows"
		  . any('', '', ' RETURNING itemid', ' ON CONFLICT DO NOTHING'),
		"INSERT INTO plain (itemid, clock, ns, value) VALUES $rows",
		'COMMIT');
}

sub delete_or_update
{
	my ($client, $errors) = @_;
	my $item = any(21 .. 80);
	my $from = any_clock();
	my $where = "itemid = $item AND clock BETWEEN $from AND $from + " . any(100, 5000);
	my $change = any('delete', 'delete', 'update');

	sleep(rand(0.3));

	# what comes between the two statements is left alone by both
	my $rows = run($client, $errors, "SELECT ns FROM plain WHERE $where") // [];
	return unless @$rows;
	$where .= ' AND ns IN (' . join(',', map { $_->[0] } @$rows) . ')';
	my $may = run($client, $errors, 'SELECT pg_try_advisory_lock_shared(1)');
	return unless $may && $may->[0][0] eq 't';
	run($client, $errors, 'BEGIN',
		map ({ $change eq 'delete'
				  ? "DELETE FROM $_ WHERE $where"
				  : "UPDATE $_ SET value = value + 1 WHERE $where" } 'history',
			'plain'),
		'COMMIT');
	$client->query('SELECT pg_advisory_unlock_all()');
}

# a key that is there is always found
sub insert_duplicate
{
	my ($client, $errors) = @_;
	my $number = int rand 151;
	my $row = sprintf('(%d, %d, %d, 0)', any(1 .. 20), any(1, 2) * 86400 + $number * 97, $number);
	$row =
	  sprintf('(%d, %d, %d, 0)', any(1 .. 20), any(-20 .. -1) * 86400 + $number * 2100, $number)
	  if $number <= 40 && any(0, 1);
	my $result = $client->query("INSERT INTO history (itemid, clock, ns, value) VALUES $row"
		  . any('', '', ' RETURNING itemid'));
	my $error = $result->{errors}[0] // 'STORED TWICE';

	$errors->{$error}++ if $error ne '23505';
}

# ---- maintenance ----

my $merge =
  "SELECT zbxhist_internal.run_step('history', 'merge', d.day) FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass";
my $repack =
  "SELECT zbxhist_internal.run_by_hand('history', 'repack', d.day) FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass";
my @work = (
	map ({ (    "CALL zbxhist.pack('history', '1970-01-0$_')",
				$merge, $repack, $repack, "CALL zbxhist.unpack('history', '1970-01-0$_')") } 2,
		3),
	($merge) x 6,
	"CALL zbxhist_internal.move_waiting('history', NULL)",
	"SELECT zbxhist.create_partition('history', '1970-01-04')",
	"INSERT INTO history SELECT i, 259200 + i, i, 0 FROM generate_series(1, 1000) i ON CONFLICT DO NOTHING",
	"CALL zbxhist.pack('history', '1970-01-04')",
	"SELECT zbxhist_internal.drop_packed_day('history', d.day) FROM zbxhist.packed_day d WHERE d.from_clock = 259200 AND d.parent = 'history'::regclass AND d.partition IS NULL"
);

my $compacted = 0;

sub maintain_days
{
	my ($client, $errors) = @_;
	my $day = sprintf('1969-12-%02d', 12 + $compacted++ % 20);

	$client->query("SET zbxhist.maintenance_lock_timeout = '1s'");
	for my $sql (@work, $merge, "CALL zbxhist.compact('history', '$day')", $merge)
	{
		my ($error, $tries) = (undef, 0);

		# a statement that waits to change the day keeps its latest rows from
		# being the same for all, so it is left alone but for the first try
		do
		{
			$client->query('SELECT pg_advisory_lock(1)') if $tries > 0;
			$error = $client->query($sql)->{errors}[0];
			$client->query('SELECT pg_advisory_unlock_all()');
		} while (defined $error && $sql =~ /zbxhist\.(?:pack|compact)/ && ++$tries < 3);

		# not now, or not so
		if (defined $error)
		{
			$error = "did not: $error" if $error =~ /^(?:55000|55006|55P03|40P01|42P01)$/;
			$errors->{$error}++;
		}
		$errors->{ 'did ' . $1 }++
		  if !defined $error
		  && $sql =~ /zbxhist(?:_internal)?\.(pack|compact|unpack|run_step|drop_packed_day)/;
	}
}

# ---- all of it ----

my %workers = (
	(   map {
			my $level = $_;
			('read ' . lc($level) => sub { read_rows($level, @_) })
		} 'READ COMMITTED',
		'REPEATABLE READ',
		'SERIALIZABLE'),
	'late 1' => \&insert_late,
	'late 2' => \&insert_late,
	'change' => \&delete_or_update,
	'duplicate' => \&insert_duplicate,
	'maintain' => \&maintain_days);
my @done = qw(pack compact unpack run_step drop_packed_day);
my %is_enough = (
	maintain => sub {
		my ($counts, $rounds) = @_;
		return $rounds > 2 && !grep { !$counts->{"did $_"} } @done;
	});
my @pids = map { in_background($node, 'zabbix', $_, $seconds, $seed, $workers{$_}, $is_enough{$_}) }
  sort keys %workers;
waitpid($_, 0) for @pids;

for my $name (sort keys %workers)
{
	my $outcome = outcome_of($node, $name);
	my ($rounds) = $outcome =~ /^rounds (\d+)$/m;
	my $repeated = $name =~ /repeatable|serializable/ ? '40001|40P01' : '40P01';
	my @trouble = grep { !/^(?:rounds|did) |^(?:$repeated) \d+$/ } split /\n/, $outcome;

	diag("$name: $outcome") if $ENV{ZBXHIST_SECONDS};
	is(join("\n", @trouble), '', "$name: nothing unexpected");
	cmp_ok($rounds, '>', 2, "$name: $rounds rounds");
	next unless $name eq 'maintain';
	like($outcome, qr/^did $_ \d+$/m, "$name: it did $_") for @done;
}

# in the end
is( $node->safe_psql('zabbix', "$checksum FROM history h WHERE clock < $END"),
	$node->safe_psql('zabbix', "$checksum FROM plain h"),
	'both tables are the same in the end');
$node->safe_psql('zabbix',
	"SELECT zbxhist.alter_parent('history', pack_after => '1 day'); UPDATE zbxhist.packed_day SET merged_at = NULL"
);
maintain($node, 'zabbix');
maintain($node, 'zabbix');
is( $node->safe_psql('zabbix', "$checksum FROM history h WHERE clock < $END"),
	$node->safe_psql('zabbix', "$checksum FROM plain h"),
	'... and when all is packed');
$node->safe_psql('zabbix', "CALL zbxhist.repack('history', '1970-01-0$_')") for 2, 3;
is( $node->safe_psql('zabbix', "$checksum FROM history h WHERE clock < $END"),
	$node->safe_psql('zabbix', "$checksum FROM plain h"),
	'... and repacked');

# (an autovacuum may have an older snapshot)
my $parts =
  "SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock < 0";
for (1 .. 50)
{
	last if $node->safe_psql('zabbix', $parts) == 20;
	maintain($node, 'zabbix');
}
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*), count(*) FILTER (WHERE to_clock - from_clock = 86400) FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock < 0"
	),
	'20|20',
	'maintenance has made the parts one in each day');
is(rows_of($node, 'zabbix', "ONLY history WHERE clock < $END"), 0, 'no row waits');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM zbxhist.partitions WHERE parent = 'history'::regclass AND kind = 'heap' AND to_clock <= $END"
	),
	0,
	'no day is left');
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
	0, 'all segments are whole');
is( $node->safe_psql(
		'zabbix', "SELECT duplicates FROM zbxhist.parent_state WHERE parent = 'history'::regclass"),
	0,
	'no key is there twice');

log_is_clean($node);
$node->stop;
done_testing();
