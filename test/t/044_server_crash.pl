# kill -9 of the whole server under load: each acknowledged row is there
# exactly once, no transaction is there in part, and maintenance, if killed
# midway, completes in its next run.  ZBXHIST_CRASH_ROUNDS asks for more than
# two rounds.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $ROUNDS = $ENV{ZBXHIST_CRASH_ROUNDS} || 2;
my $WRITERS = 3;
my $ROWS = 1000;    # of a statement

my $directory = PostgreSQL::Test::Utils::tempdir();
my $node = test_server(
	'crash',
	autovacuum_naptime => '1s',
	checkpoint_timeout => '30s',
	full_page_writes => 'on');
create_database($node, 'zabbix');
set_up($node, 'zabbix');

# Number of the first item of a transaction.
sub first_item
{
	my ($round, $writer, $number) = @_;

	return (($round * 10 + $writer) * 10000 + $number) * $ROWS;
}

# Writes like Zabbix without end: a transaction with a statement for each of
# two tables, then a line with its number.  The third writer does not route,
# so maintenance has rows to move; some days have no partition.
sub write_values
{
	my ($psql, $round, $writer) = @_;

	print $psql "set zbxhist.enable_routing = off;\n" if $writer == 3;
	for (my $number = 1;; $number++)
	{
		my $first = first_item($round, $writer, $number);
		my $clock = day(0 - $number % 3);

		print $psql "begin;\n", insert_values('history', $first, $ROWS, $clock),
		  insert_values('history_uint', $first, $ROWS / 10, $clock), "commit;\n\\echo $first\n"
		  or die 'psql has ended';
	}
}

# Maintenance without end: each round has a partition to make, rows to move and a partition to drop.
sub maintain_without_end
{
	my ($psql) = @_;

	print $psql "load 'zbxhist'; set zbxhist.maintenance_lock_timeout = '50ms';\n";
	for (my $n = 1;; $n++)
	{
		print $psql 'drop table if exists ' . partition('history', 3) . ";\n",
		  "select zbxhist.create_partition('history', '${\ date(-40)}');\n",
		  "call zbxhist.run_maintenance('history');\n\\echo $n\n"
		  or die 'psql has ended';
	}
}

# The numbers that a session has printed.
sub acknowledged
{
	my ($file) = @_;

	return grep { /^\d+$/ } split(/\n/, slurp_file($file));
}

my $expected = 0;
for my $round (1 .. $ROUNDS)
{
	my %writers;
	my $keeper = start_psql($node, 'zabbix', "$directory/keeper", \&maintain_without_end);

	for my $writer (1 .. $WRITERS)
	{
		my $file = "$directory/writer$round-$writer";

		$writers{$file} =
		  start_psql($node, 'zabbix', $file, sub { write_values($_[0], $round, $writer) });
	}

	# as long as a slow machine needs, and a little longer
	for (1 .. 1800)
	{
		last unless grep { !-e || acknowledged($_) < 5 } keys %writers;
		Time::HiRes::sleep(0.1);
	}
	Time::HiRes::sleep(rand(1.5));
	kill_server($node);
	wait_for_end($_) for $keeper, values %writers;
	start_after_crash($node);

	# what each table has of every transaction
	my %stored = map { split /\|/, $_, 2 } split /\n/,
	  $node->safe_psql('zabbix',
			"SELECT first, string_agg(format('%s/%s', n, items), ' ' ORDER BY t)"
		  . ' FROM (SELECT t, itemid / 1000 * 1000 AS first, count(*) AS n,'
		  . ' count(DISTINCT itemid) AS items'
		  . ' FROM (SELECT 1 AS t, itemid FROM history'
		  . ' UNION ALL SELECT 2, itemid FROM history_uint) AS u'
		  . ' GROUP BY 1, 2) AS s GROUP BY 1');
	my @acknowledged = map { acknowledged($_) } sort keys %writers;
	my $moves = acknowledged("$directory/keeper");
	my $whole = "$ROWS/$ROWS " . $ROWS / 10 . '/' . $ROWS / 10;

	cmp_ok(scalar @acknowledged, '>', 10,
			"round $round: there was something to lose: "
		  . @acknowledged
		  . " transactions, $moves runs of maintenance");
	is(join(' ', grep { ($stored{$_} // '') ne $whole } @acknowledged),
		'', "round $round: all that was acknowledged is there once");
	is(join(' ', grep { $stored{$_} ne $whole } sort keys %stored),
		'', "round $round: no transaction is there in part");
	cmp_ok(
		keys(%stored), '<=',
		$expected + @acknowledged + $WRITERS,
		"round $round: nothing else is there");
	$expected = keys %stored;

	# maintenance finds its way
	my $before = totals($node, 'zabbix', 'history');
	$node->safe_psql('zabbix', "SELECT zbxhist.create_partition('history', '${\ date(-2)}')");
	maintain($node, 'zabbix');
	is(totals($node, 'zabbix', 'history'),
		$before, "round $round: maintenance leaves every row as it was");

	# (those of a packed day are merged once in an hour)
	is(rows_of($node, 'zabbix', 'ONLY history WHERE clock >= ' . day(-1)),
		0, "round $round: ... and moves those that have a partition");
	is( $node->safe_psql(
			'zabbix', "SELECT count(*) FROM zbxhist.maintenance_log WHERE sqlstate <> '55P03'"),
		0,
		"round $round: ... without an error");
	is( $node->safe_psql(
			'zabbix', "SELECT to_regclass('" . partition('history', -40) . "') IS NULL"),
		't',
		"round $round: ... and drops what is past retention");
}

SKIP:
{
	skip 'amcheck is not installed', 1 unless has_extension($node, 'amcheck');
	$node->safe_psql('zabbix', 'CREATE EXTENSION amcheck');
	is( $node->safe_psql(
			'zabbix',
			"SELECT count(bt_index_check(i.indexrelid, true)::text) > 3"
			  . ' FROM pg_inherits h JOIN pg_index i ON i.indrelid = h.inhrelid'),
		't',
		'the indexes have every row');
}

log_is_clean($node);
$node->stop;
done_testing();
