# pg_upgrade brings a managed database along, with the library preloaded.  From
# the server of the environment variable "oldinstall" (its directory, with
# zbxhist installed in it), else from the tested version to itself.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

# the same on both sides, whatever the defaults of a version are
my @initdb = ('--locale', 'C', '--encoding', 'UTF8');
my $old = test_server(
	'old',
	$ENV{oldinstall} ? (-install_path => $ENV{oldinstall}) : (),
	-extra => [@initdb],
	shared_preload_libraries => 'zbxhist');
create_database($old, 'zabbix');
set_up($old, 'zabbix');
my $now = day(0);
$old->safe_psql('zabbix',
		insert_values('history', 1, 1000, $now)
	  . insert_values('history', 2001, 500, day(-5))
	  . "SELECT zbxhist.alter_parent('history', premake => 4)");
$old->safe_psql('zabbix', 'CALL zbxhist.pack(\'history\', \''
	  . POSIX::strftime('%Y-%m-%d', gmtime(day(-1)))
	  . '\')');

my $state = join ';',
  'SET timezone = UTC',
  'SELECT count(*), sum(hashtextextended(h::text, 0)::numeric) FROM history h',
  'SELECT tableoid::regclass, count(*) FROM history GROUP BY 1 ORDER BY 1',
  'SELECT * FROM zbxhist.parent_config ORDER BY parent::text',
  'SELECT parent, action, relation FROM zbxhist.maintenance_log ORDER BY id',
  'SELECT parent, partition, from_clock, to_clock FROM zbxhist.partitions',
  'SELECT tgrelid::regclass, tgname, tgtype, tgenabled FROM pg_trigger'
  . ' WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname';
my $before = $old->safe_psql('zabbix', $state);
$old->stop;

my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(
	extra => [
		@initdb,
		$new->pg_version >= 18
		  && $old->pg_version < 18 ? '--no-data-checksums' : ()
	]);
$new->append_conf('postgresql.conf', "shared_preload_libraries = 'zbxhist'");

my $bin = $new->config_data('--bindir');
chdir ${PostgreSQL::Test::Utils::tmp_check};
command_ok(
	[
		'pg_upgrade', '--no-sync',
		'-d', $old->data_dir,
		'-D', $new->data_dir,
		'-b', $old->config_data('--bindir'),
		'-B', $bin,
		'-s', $new->host,
		'-p', $old->port,
		'-P', $new->port
	],
	'pg_upgrade from ' . $old->pg_version . ' to ' . $new->pg_version);

$new->start;
is($new->safe_psql('zabbix', $state), $before, 'everything is there');
$new->safe_psql('zabbix', insert_values('history', 3001, 1000, $now));
is( rows_of(
		$new, 'zabbix',
		"ONLY history WHERE itemid > 3000 AND clock >= $now"),
	0,
	'new rows are routed');
$new->safe_psql('zabbix',
	"SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - 5);"
	  . "SELECT zbxhist.alter_parent('history', premake => 6)");
maintain($new, 'zabbix');
is(rows_of($new, 'zabbix', 'ONLY history WHERE clock >= ' . day(-5)),
	0, 'maintenance moves');
is( $new->safe_psql(
		'zabbix',
		"SELECT to_regclass('" . partition('history', 6) . "') IS NOT NULL"),
	't',
	'... and premakes');
is(rows_of($new, 'zabbix', 'history'), 2500, 'all rows are there');
is( $new->safe_psql(
		'zabbix',
		"SELECT nrows FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND to_clock = $now"
	),
	666,
	'... some of them packed');
is($new->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
	0, '... as they were');
unlike(
	slurp_file($new->logfile),
	qr/launcher.*exited with exit code/,
	'no worker has failed');

log_is_clean($new);
$new->stop;
done_testing();
