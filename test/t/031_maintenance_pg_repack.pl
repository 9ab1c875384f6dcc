# pg_repack beside maintenance and changes: a packed day is refused, and of history
# itself, or of a partition, no value is lost, none comes back, and no trigger stays behind.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my ($directory) =
  run_command([ $ENV{PG_CONFIG} // 'pg_config', '--sharedir' ]);
plan skip_all => 'pg_repack is not installed'
  if !-e "$directory/extension/pg_repack.control";

my $node = test_server('repacked');
my $day = partition('history', -3);
my $from = day(-3);

create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
$node->safe_psql('zabbix', <<"SQL");
CREATE EXTENSION pg_repack;
CREATE TABLE plain (LIKE history);
SELECT zbxhist.create_parent('history', pack_after => '1 day');
SELECT zbxhist.create_partition('history', to_timestamp($from)::date);
INSERT INTO plain SELECT i, $from + s * 60, i * s, 0 FROM generate_series(1, 10) i, generate_series(0, 1439) s;
INSERT INTO history TABLE plain;
SQL
my $minute = 0;

# What both tables get.
sub write_both
{
	my ($sql) = @_;

	$node->safe_psql('zabbix', join ';',
		map { $sql =~ s/\bhistory\b/$_/gr } qw(history plain));
	return;
}

# Late values of ten items, a change and a deletion, and maintenance that merges them.
sub change
{
	$minute++;
	write_both(
		"INSERT INTO history SELECT i, $from + 30 + $minute * 60, -i, 0 FROM generate_series(1, 10) i;"
		  . "UPDATE history SET value = -1 WHERE itemid = 2 AND clock = $from + $minute * 60;"
		  . "DELETE FROM history WHERE itemid = 3 AND clock = $from + $minute * 60"
	);
	$node->safe_psql('zabbix',
		'UPDATE zbxhist.packed_day SET merged_at = NULL');
	maintain($node, 'zabbix');
	return;
}

sub is_like_plain
{
	my ($name) = @_;

	is( totals($node, 'zabbix', 'history'),
		totals($node, 'zabbix', 'plain'),
		"$name: every value is there once");
	is( $node->safe_psql('zabbix', "SELECT * FROM zbxhist.verify('history')"),
		'',
		"$name: verified");
	return;
}

# pg_repack of a table, beside changes: while a transaction of before it is open, it waits.
# Its exit code, and what it said.
sub repack_beside
{
	my ($table, $changes) = @_;
	my $old = $node->background_psql('zabbix');
	my $said = '';

	$old->query_safe('BEGIN');
	$old->query_safe('SELECT txid_current()');
	my $run = IPC::Run::start(
		[
			'pg_repack', '-h', $node->host, '-p',
			$node->port, '-d', 'zabbix', '-t',
			$table, '-D', '--wait-timeout=60'
		],
		'>&',
		\$said);
	$node->poll_query_until('zabbix',
		"SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'repack_trigger' AND tgrelid = '$table'::regclass)"
		  . " OR NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'pg_repack')"
	) or BAIL_OUT("pg_repack of $table: $said");
	$changes->();
	$old->query_safe('COMMIT');
	$old->quit;
	$run->finish;
	note $said;
	return ($run->full_result(0), $said);
}

# ---- the parent, with values that wait in it ----

$node->safe_psql('zabbix',
	'ALTER TABLE history DISABLE TRIGGER zzz_zbxhist_route');
write_both(
	"INSERT INTO history SELECT i, $from + 15 + s * 60, s, 0 FROM generate_series(1, 10) i, generate_series(0, 99) s"
);
$node->safe_psql('zabbix',
	'ALTER TABLE history ENABLE TRIGGER zzz_zbxhist_route');
$node->safe_psql('zabbix',
	"SELECT zbxhist.alter_parent('history', never_pack => true)");
my ($code) = repack_beside('history', \&change);
is($code, 0, 'pg_repack of history');
is_like_plain('history repacked');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM pg_trigger WHERE tgname = 'repack_trigger'"),
	0,
	'maintenance has given its trigger to no partition');
change();
is_like_plain('and maintained');

# ---- a partition ----

$node->safe_psql('zabbix',
	'ALTER TABLE history DISABLE TRIGGER zzz_zbxhist_route');
write_both(
	"INSERT INTO history SELECT i, $from + 16 + s * 60, s, 0 FROM generate_series(1, 10) i, generate_series(0, 99) s"
);
$node->safe_psql('zabbix',
	'ALTER TABLE history ENABLE TRIGGER zzz_zbxhist_route');
($code) = repack_beside($day, \&change);
is($code, 0, 'pg_repack of a partition');
is_like_plain('a partition repacked');
change();
is_like_plain('and maintained');
is(rows_of($node, 'zabbix', 'ONLY history'), 0, 'no value waits any more');

# ---- a packed day ----

$node->safe_psql('zabbix',
	"SELECT zbxhist.alter_parent('history', pack_after => '1 day')");
maintain($node, 'zabbix');
my $packed = $node->safe_psql('zabbix',
	"SELECT day FROM zbxhist.packed_day WHERE from_clock = $from");
($code, my $said) = repack_beside($packed, \&change);
isnt($code, 0, 'pg_repack of a packed day is refused');
like($said, qr/is the table of a packed day/, '... and told why');
like($said, qr/Leave out the schema "zbxhist_packed"/, '... and what to do');
change();
is_like_plain('a packed day');

$node->command_ok(
	[
		'pg_repack', '-h', $node->host, '-p', $node->port, '-d',
		'zabbix', '-c', 'public'
	],
	'pg_repack of the other schema');
is_like_plain('that repacked');
is( $node->safe_psql(
		'zabbix', "SELECT code FROM zbxhist.check() WHERE severity = 'error'"
	),
	'',
	'check() is content');
$node->stop;
done_testing();
