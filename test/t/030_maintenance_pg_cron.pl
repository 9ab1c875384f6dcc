# pg_cron calls CALL zbxhist.run_maintenance() as its line in docs/setting-up.md says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use ZbxhistTest;

my $node = test_server('cron');
if (!has_extension($node, 'pg_cron'))
{
	$node->stop;
	plan skip_all => 'pg_cron is not installed';
}

$node->safe_psql('postgres', 'CREATE ROLE zabbix LOGIN');
create_database($node, 'zabbix', 'zabbix');
set_up($node, 'zabbix', 'zabbix');
$node->append_conf('postgresql.conf', <<"EOC");
shared_preload_libraries = 'pg_cron'
cron.database_name = 'zabbix'
cron.host = '${\ $node->host }'
EOC
$node->restart;
$node->safe_psql('zabbix', 'CREATE EXTENSION pg_cron; GRANT USAGE ON SCHEMA cron TO zabbix');

# seconds are understood from 1.5 on
my ($major, $minor) = split /\./,
  $node->safe_psql('zabbix', "SELECT extversion FROM pg_extension WHERE extname = 'pg_cron'");
my $schedule = $major > 1 || $minor >= 5 ? '1 second' : '* * * * *';

$node->safe_psql('zabbix',
		'SET zbxhist.enable_routing = off;'
	  . insert_values('history', 1, 1000, day(0))
	  . "SET SESSION AUTHORIZATION zabbix;"
	  . "SELECT zbxhist.create_partition('history', '${\ date(-40)}');"
	  . "SELECT cron.schedule('zbxhist', '$schedule', 'CALL zbxhist.run_maintenance()')");
ok( $node->poll_query_until(
		'zabbix',
		'SELECT count(*) > 0 FROM cron.job_run_details'
		  . " WHERE status IN ('succeeded', 'failed')"),
	'the job has run');
is( $node->safe_psql(
		'zabbix',
		"SELECT DISTINCT username, status, return_message FROM cron.job_run_details"
		  . " WHERE status IN ('succeeded', 'failed')"),
	'zabbix|succeeded|CALL',
	'... as the database owner, with success');
is(rows_of($node, 'zabbix', 'ONLY history'), 0, 'it has moved rows');
is(rows_of($node, 'zabbix', 'history'), 1000, '... and lost none');
is($node->safe_psql('zabbix', "SELECT to_regclass('" . partition('history', -40) . "') IS NULL"),
	't', 'it has dropped a partition');
is( $node->safe_psql(
		'zabbix', 'SELECT count(*) FROM zbxhist.maintenance_log WHERE sqlstate IS NOT NULL'),
	0,
	'without an error');

log_is_clean($node);
$node->stop;
done_testing();
