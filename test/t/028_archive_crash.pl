# kill -9 of the server and of its archive server while days are archived,
# brought back, merged and dropped: the table equals its twin, and unneeded
# copies are removed.  ZBXHIST_CRASH_ROUNDS asks for more than four rounds.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $ROUNDS = $ENV{ZBXHIST_CRASH_ROUNDS} || 4;
my $directory = PostgreSQL::Test::Utils::tempdir();
my $node = test_server('here', autovacuum => 'off');
plan skip_all => 'postgres_fdw is not installed' unless has_extension($node, 'postgres_fdw');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
my $cold = add_archive_server($node, 'zabbix', 'cold');
create_packed_history($node, 'zabbix',
	'i, :from + j * 60, i * j, j FROM generate_series(1, 30) i, generate_series(0, 1439) j',
	9, 8, 7, 6);
$node->safe_psql('zabbix', "SELECT zbxhist.alter_parent('history', archive_server => 'cold')");

# Days go there and come back, get late values, which are merged, and lose some, without end.
sub work_without_end
{
	my ($psql) = @_;

	print $psql "\\set ON_ERROR_STOP off\n";
	for (my $n = 1;; $n++)
	{
		my $ago = 6 + $n % 4;
		my $call = $n % 3 ? 'archive' : 'unarchive';
		my $row = sprintf('(%d, %d, %d, 7)', 1 + $n % 30, day(-$ago), $$ * 1000 + $n);

		print $psql "CALL zbxhist.$call('history', '${\ date(-$ago)}');\n",
		  "BEGIN; INSERT INTO history VALUES $row; INSERT INTO plain VALUES $row; COMMIT;\n",
		  "BEGIN; DELETE FROM history WHERE itemid = ${\ (1 + $n % 30)} AND clock = ${\ day(-$ago)} + $n * 60;"
		  . " DELETE FROM plain WHERE itemid = ${\ (1 + $n % 30)} AND clock = ${\ day(-$ago)} + $n * 60; COMMIT;\n",
		  "CALL zbxhist.run_maintenance('history');\n\\echo $n\n"
		  or die 'psql has ended';
	}
}

for my $round (1 .. $ROUNDS)
{
	my $worker = start_psql($node, 'zabbix', "$directory/worker$round", \&work_without_end);
	my $killed = $round % 2 ? $node : $cold;

	Time::HiRes::sleep(2 + rand(4));
	kill_server($killed);
	Time::HiRes::sleep(0.5) if $killed == $cold;
	kill 'TERM', $worker;
	kill_server($node) if $killed == $cold;
	wait_for_end($worker);
	start_after_crash($cold) if $killed == $cold;
	start_after_crash($node);
	is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'),
		0, "round $round: all is there once");
	maintain($node, 'zabbix');
	is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'),
		0, '... and after maintenance');
	is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
		0, '... and whole');
}

# retention, and what is left there
$node->safe_psql('zabbix', "CALL zbxhist.archive('history', '${\ date(-$_)}')") for 9, 6;
$node->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.alter_parent('history', retention => '7 days', accept_deletion => true);
	CALL zbxhist.run_maintenance();
	UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days', begun_at = begun_at - interval '2 hours';
	CALL zbxhist.run_maintenance();
	UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days';
	CALL zbxhist.run_maintenance();
});

# late values of the oldest day may have been past retention before they were merged
is($node->safe_psql('zabbix', "SELECT count(*) FROM difference WHERE clock >= ${\ day(-6)}"),
	0, 'what retention leaves is there');
is($node->safe_psql('zabbix', "SELECT count(*) FROM history WHERE clock < ${\ day(-7)}"),
	0, '... and nothing else');
is( $cold->safe_psql(
		'cold', 'SELECT count(DISTINCT copy) FROM zbxhist_archive.packed_group WHERE number > 0'),
	$node->safe_psql(
		'zabbix', 'SELECT count(*) FROM zbxhist.packed_day WHERE archive_copy IS NOT NULL'),
	'... and on the archive server nothing else');
is( $node->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.check() WHERE code = 'archive_of_another'"),
	0,
	'the mark there is this database\'s');
log_is_clean($node);

done_testing();
