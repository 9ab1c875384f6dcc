# A standby with hot_standby_feedback reports the needs of its queries only
# every ten seconds.  Unpacking waits for that once for many days, not for
# each, and does not give up.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use Test::More;
use ZbxhistTest;

my $primary = test_server('undone', -allows_streaming => 1, autovacuum => 'off');
create_database($primary, 'zabbix');
create_zabbix_tables($primary, 'zabbix');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('follower');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'hot_standby_feedback = on');
$standby->start;
$primary->poll_query_until('zabbix',
	'SELECT count(*) = 1 FROM pg_stat_replication WHERE backend_xmin IS NOT NULL');

# ---- hours of two days, packed ----

my $clock = day(-3);
my ($first, $second) = (date(-3), date(-2));
$primary->safe_psql('zabbix', <<"SQL");
SELECT zbxhist.create_parent('history', '1 hour', retention => '10 days', pack_after => '1 hour');
SELECT zbxhist_internal.create_range('history', c, c + 3600) FROM generate_series($clock, $clock + 2 * 86400 - 3600, 3600) c;
CREATE TABLE plain_history (LIKE history INCLUDING ALL);
INSERT INTO plain_history (itemid, clock, value) SELECT i, $clock + c, i + c FROM generate_series(1, 20) i, generate_series(0, 172799, 600) c;
INSERT INTO history SELECT * FROM plain_history;
SQL
for my $date ($first, $second)
{
	$primary->safe_psql('zabbix', "CALL zbxhist.pack('history', '$date')");
}

# Are these entries of the log all of one kind, and then all of the other?
sub order_of_steps
{
	return $primary->safe_psql('zabbix', <<'SQL');
SELECT count(*) FILTER (WHERE action = 'unpack'), count(*) FILTER (WHERE action = 'unpack_drop'),
       max(id) FILTER (WHERE action = 'unpack') < min(id) FILTER (WHERE action = 'unpack_drop')
  FROM zbxhist.maintenance_log
SQL
}

# ---- a day by hand ----

$primary->safe_psql('zabbix', "CALL zbxhist.unpack('history', '$first')");
is(order_of_steps(), '24|24|t', 'the hours of a day wait together');
is( totals($primary, 'zabbix', 'history'),
	totals($primary, 'zabbix', 'plain_history'),
	'... and every row is there once');

# ---- all of them ----

$primary->safe_psql('zabbix',
	'DELETE FROM zbxhist.maintenance_log; CALL zbxhist.undo(\'history\')');
is(order_of_steps(), '24|24|t', 'undo: hours wait together');
is($primary->safe_psql('zabbix', 'SELECT count(*) FROM zbxhist.parents'),
	0, '... and one call brings it to its end');
is( totals($primary, 'zabbix', 'ONLY history'),
	totals($primary, 'zabbix', 'plain_history'),
	'... with every row in the table itself');
$primary->wait_for_catchup($standby);
is( totals($standby, 'zabbix', 'history'),
	totals($primary, 'zabbix', 'plain_history'),
	'... of the standby, too');
log_is_clean($_) for $primary, $standby;
done_testing();
