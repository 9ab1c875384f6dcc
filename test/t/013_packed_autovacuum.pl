# Packing a day waits instead of failing while autovacuum works on it, or while
# the snapshot of an autovacuum elsewhere may not see all its rows.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('autovacuum', autovacuum_naptime => 1);
create_database($node, 'zabbix');
set_up($node, 'zabbix');
$node->safe_psql('zabbix',
	'CREATE TABLE other WITH (autovacuum_enabled = off) AS SELECT i, i AS j FROM generate_series(1, 50000) i'
);

# of a table at which autovacuum gets on so slowly that it is still there
my $slow = 'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1';
my $partition = partition('history', -1);
my $day = date(-1);

# Whether an autovacuum of the table is at work, before long.
sub is_at_work
{
	my ($command, $table) = @_;

	return $node->poll_query_until('zabbix',
		"SELECT count(*) > 0 FROM pg_stat_progress_$command WHERE relid = '$table'::regclass");
}

$node->safe_psql('zabbix',
	"INSERT INTO history SELECT i, ${\ day(-1)} + c, i, c FROM generate_series(1, 1000) i, generate_series(1, 30) c"
);
$node->safe_psql('zabbix',
	"ALTER TABLE $partition SET ($slow); UPDATE history SET value = 7 WHERE ns < 20");
ok(is_at_work('vacuum', $partition), 'autovacuum is at the partition');
my ($code, $out, $err) = psql_script($node, 'zabbix', "CALL zbxhist.pack('history', '$day');");
is($err, '', 'it is packed all the same');
is(rows_of($node, 'zabbix', 'history_packed'), 30000, 'with all rows');

$node->safe_psql('zabbix',
	"ALTER TABLE other SET (autovacuum_enabled = on, autovacuum_vacuum_threshold = 1000000, autovacuum_vacuum_insert_threshold = -1, $slow);"
	  . 'UPDATE other SET j = 7');
ok(is_at_work('analyze', 'other'), 'autovacuum reads another table');
$node->safe_psql('zabbix', "CALL zbxhist.unpack('history', '$day')");
my $pid = start_psql(
	$node, 'zabbix',
	$node->basedir . '/pack.out',
	sub { print { $_[0] } "CALL zbxhist.pack('history', '$day');\n" });
ok( $node->poll_query_until(
		'zabbix', "SELECT count(*) > 0 FROM zbxhist.progress WHERE action = 'pack'"),
	'packing is tried');
sleep 1;
$node->safe_psql('zabbix',
	"SELECT pg_terminate_backend(pid) FROM pg_stat_progress_analyze WHERE relid = 'other'::regclass;"
	  . 'ALTER TABLE other SET (autovacuum_enabled = off)');
is(wait_for_end($pid), 0, 'it is packed once that has ended');
is(slurp_file($node->basedir . '/pack.out'), '', 'without an error');
is(rows_of($node, 'zabbix', 'history_packed'), 30000, 'with all rows again');

log_is_clean($node, 'nothing unusual in the log', qr/autovacuum|administrator command/);
$node->stop;
done_testing();
