# A base backup and archived WAL restore any moment before, during and after
# the packing, merging, repacking and unpacking of a day.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use Test::More;
use ZbxhistTest;

my $primary = test_server('archiver', -has_archiving => 1, -allows_streaming => 1);
create_database($primary, 'zabbix');
set_up($primary, 'zabbix');
$primary->safe_psql('zabbix', insert_values('history', 1, 3000, day(0) + $_)) for 1 .. 3;
$primary->backup('base');

my $day = date(-1);
my $state = join ';', 'SELECT count(*), sum(hashtextextended(h::text, 0)::numeric) FROM history h',
  'SELECT * FROM zbxhist.range(NULL::history, 6, 0, 2147483647)',
  "SELECT partition, kind FROM zbxhist.partitions WHERE parent = 'history'::regclass",
  "SELECT count(*) FROM zbxhist.verify('history')";
my %expected;
for (
	[ 'loaded', 'SELECT 1' ],
	[ 'packed', "CALL zbxhist.pack('history', '$day')" ],
	[ 'late', insert_values('history', 5001, 600, day(0)) ],
	[ 'merged', 'CALL zbxhist.run_maintenance()' ],
	[ 'deleted', 'DELETE FROM history WHERE itemid < 100' ],
	[ 'repacked', "CALL zbxhist.repack('history', '$day')" ],
	[ 'unpacked', "CALL zbxhist.unpack('history', '$day')" ])
{
	my ($name, $sql) = @$_;

	$primary->safe_psql('zabbix', $sql);
	$expected{$name} = $primary->safe_psql('zabbix', $state);
	$primary->safe_psql('zabbix', "SELECT pg_create_restore_point('$name')");
}
$primary->safe_psql('zabbix', 'SELECT pg_switch_wal()');
$primary->stop;

for my $name (sort keys %expected)
{
	my $node = PostgreSQL::Test::Cluster->new("to_$name");

	$node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
	$node->append_conf('postgresql.conf',
			"recovery_target_name = '$name'\nrecovery_target_action = 'promote'\n"
		  . "recovery_target_timeline = 1\narchive_mode = off");
	$node->start;
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
	is($node->safe_psql('zabbix', $state), $expected{$name}, "restored to \"$name\"");
	log_is_clean($node, "$name: nothing unusual in the log");
	$node->stop;
}
done_testing();
