# pg_repack, and REPACK of PostgreSQL 19, beside maintenance and changes:
# packed days are refused if the tool would follow changes.  Of history itself,
# or of a partition, no value is lost, none comes back, and no trigger is left
# behind.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my ($directory) = run_command([ $ENV{PG_CONFIG} // 'pg_config', '--sharedir' ]);
my ($version) = run_command([ $ENV{PG_CONFIG} // 'pg_config', '--version' ]);
my @tools = (
	-e "$directory/extension/pg_repack.control" ? 'pg_repack' : (),
	$version =~ /(\d+)/ && $1 >= 19 ? 'REPACK' : ());
plan skip_all => 'there is neither pg_repack nor REPACK' if !@tools;

my $node = test_server('repacked', wal_level => 'replica', max_wal_senders => 4);
my $day = partition('history', -3);
my $from = day(-3);
my ($tool, $database, $minute);

# The database of a tool, with a day of history, and what it must be.
sub begin
{
	($tool) = @_;
	$database = lc "with_$tool";
	$minute = 0;
	create_database($node, $database);
	create_zabbix_tables($node, $database);
	$node->safe_psql($database, 'CREATE EXTENSION pg_repack') if $tool eq 'pg_repack';
	$node->safe_psql($database, <<"SQL");
CREATE TABLE plain (LIKE history);
SELECT zbxhist.create_parent('history', pack_after => '1 day');
SELECT zbxhist.create_partition('history', to_timestamp($from)::date);
INSERT INTO plain SELECT i, $from + s * 60, i * s, 0 FROM generate_series(1, 10) i, generate_series(0, 1439) s;
INSERT INTO history TABLE plain;
SQL
	return;
}

# What both tables get.
sub write_both
{
	my ($sql) = @_;

	$node->safe_psql($database, join ';', map { $sql =~ s/\bhistory\b/$_/gr } qw(history plain));
	return;
}

# Values that wait in the parent, at a second of each minute.
sub store_in_parent
{
	my ($second) = @_;

	$node->safe_psql($database, 'ALTER TABLE history DISABLE TRIGGER zzz_zbxhist_route');
	write_both(
		"INSERT INTO history SELECT i, $from + $second + s * 60, s, 0 FROM generate_series(1, 10) i, generate_series(0, 99) s"
	);
	$node->safe_psql($database, 'ALTER TABLE history ENABLE TRIGGER zzz_zbxhist_route');
	return;
}

# Late values of ten items, a change and a deletion, and maintenance that merges them.
sub change
{
	$minute++;
	write_both(
		"INSERT INTO history SELECT i, $from + 30 + $minute * 60, -i, 0 FROM generate_series(1, 10) i;"
		  . "UPDATE history SET value = -1 WHERE itemid = 2 AND clock = $from + $minute * 60;"
		  . "DELETE FROM history WHERE itemid = 3 AND clock = $from + $minute * 60");
	$node->safe_psql($database, 'UPDATE zbxhist.packed_day SET merged_at = NULL');
	maintain($node, $database);
	return;
}

sub is_like_plain
{
	my ($name) = @_;

	is( totals($node, $database, 'history'),
		totals($node, $database, 'plain'),
		"$tool, $name: every value is there once");
	is($node->safe_psql($database, "SELECT * FROM zbxhist.verify('history')"),
		'', "$tool, $name: verified");
	return;
}

# The tool at work on a table, beside changes: while a transaction of before it is open, it
# waits.  Its exit code, and what it said.
sub repack_beside_changes
{
	my ($table) = @_;
	my $old = $node->background_psql($database);
	my $said = '';
	my @command =
	  $tool eq 'REPACK'
	  ? ('psql', '-X', '-c', "REPACK (CONCURRENTLY) $table")
	  : (
		'pg_repack', '-t', $table =~ /\A\w+_p\d+\z/ ? "zbxhist_partitions.$table" : $table,
		'-D', '--wait-timeout=60');
	my $is_waiting =
	  $tool eq 'REPACK'
	  ? 'EXISTS (SELECT FROM pg_replication_slots)'
	  : "EXISTS (SELECT FROM pg_trigger WHERE tgname = 'repack_trigger' AND tgrelid = '$table'::regclass)";

	$old->query_safe('BEGIN');
	$old->query_safe('SELECT txid_current()');
	my $run = IPC::Run::start([ @command, '-h', $node->host, '-p', $node->port, '-d', $database ],
		'>&', \$said);
	until (!$run->pumpable || $node->safe_psql($database, "SELECT $is_waiting") eq 't')
	{
		$run->pump_nb;
		Time::HiRes::sleep(0.1);
	}
	change();
	$old->query_safe('COMMIT');
	$old->quit;

	# those that REPACK follows while it copies
	while ($tool eq 'REPACK' && $run->pumpable && $minute < 60)
	{
		change();
		$run->pump_nb;
	}
	$run->finish;
	note $said;
	return ($run->full_result(0), $said);
}

# ---- the parent and a partition, with values that wait in the parent ----

sub check_tables
{
	$node->safe_psql($database, "SELECT zbxhist.alter_parent('history', never_pack => true)");
	for my $table ('history', $day)
	{
		store_in_parent($table eq $day ? 16 : 15);
		my ($code) = repack_beside_changes($table);
		is($code, 0, "$tool of $table");
		is_like_plain("$table repacked");
		is( $node->safe_psql(
				$database, "SELECT count(*) FROM pg_trigger WHERE tgname = 'repack_trigger'"),
			0,
			'maintenance has given its trigger to no partition');
		change();
		is_like_plain("$table maintained");
	}
	is(rows_of($node, $database, 'ONLY history'), 0, 'no value waits any more');
	return;
}

# ---- a packed day ----

sub check_packed_day
{
	$node->safe_psql($database, "SELECT zbxhist.alter_parent('history', pack_after => '1 day')");
	maintain($node, $database);
	my $packed =
	  $node->safe_psql($database, "SELECT day FROM zbxhist.packed_day WHERE from_clock = $from");
	my ($code, $said) = repack_beside_changes($packed);
	isnt($code, 0, "$tool of a packed day is refused");
	if ($tool eq 'REPACK')
	{
		like($said, qr/REPLICA IDENTITY NOTHING/, '... and told why');
		$node->safe_psql($database, "REPACK $packed");
		is_like_plain('a packed day under lock');
	}
	else
	{
		like($said, qr/is the table of a packed day/, '... and told why');
		like($said, qr/Leave out the schema "zbxhist_packed"/, '... and what to do');
	}
	change();
	is_like_plain('a packed day');
	return;
}

for (@tools)
{
	begin($_);
	check_tables();
	check_packed_day();
	if ($tool eq 'pg_repack')
	{
		$node->command_ok(
			[ 'pg_repack', '-h', $node->host, '-p', $node->port, '-d', $database, '-c', 'public' ],
			'pg_repack of the other schema');
	}
	else
	{
		$node->safe_psql($database, 'REPACK');
	}
	is_like_plain('all that may be');
	is($node->safe_psql($database, "SELECT code FROM zbxhist.check() WHERE severity = 'error'"),
		'', 'check() is content');
}
$node->stop;
done_testing();
