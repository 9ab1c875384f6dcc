# scripts/extension-image makes the image that CloudNativePG mounts, and
# PostgreSQL 18 loads the extension from it: control file, scripts and library.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $top = "$FindBin::RealBin/../..";
my $node = test_server('image');
my $image = PostgreSQL::Test::Utils::tempdir() . '/image';
my $output = `"$top/scripts/extension-image" "$image" "$ENV{PG_CONFIG}" 2>&1`;

is($?, 0, 'scripts/extension-image') or diag($output);
ok(-e "$image/$_", "it has $_")
  for 'Containerfile', 'lib/zbxhist.so', 'licenses/zbxhist',
  map { "share/extension/zbxhist$_" } '.control', '--1.0.sql', '_migrate.control',
  '_migrate--1.0.sql';
$output = `"$top/scripts/extension-image" "$image" "$ENV{PG_CONFIG}" 2>&1`;
isnt($?, 0, 'not into a directory that has files');
like($output, qr/is not empty/, '... and it says so');

SKIP:
{
	skip 'extension_control_path came with PostgreSQL 18', 5 if $node->pg_version < 18;
	$node->append_conf('postgresql.conf',
			"extension_control_path = '$image/share:\$system'\n"
		  . "dynamic_library_path = '$image/lib:\$libdir'\n");
	$node->restart;
	create_database($node, 'zabbix');
	set_up($node, 'zabbix');
	$node->safe_psql('zabbix', "ALTER DATABASE zabbix SET session_preload_libraries = 'zbxhist'");
	my $session = $node->background_psql('zabbix');
	my $maps = $session->query(
		"INSERT INTO history (itemid, clock, value) VALUES (1, extract(epoch FROM now())::integer, 1);"
		  . " SELECT pg_read_file('/proc/self/maps')");
	like($maps, qr{\Q$image\E/lib/zbxhist\.so}, 'its library is loaded');
	unlike($maps, qr{(?<!\Q$image/lib\E)/zbxhist\.so}, '... and no other');
	$session->quit;
	is($node->safe_psql('zabbix', "SELECT tableoid <> 'history'::regclass FROM history"),
		't', 'a value goes to a partition');
	maintain($node, 'zabbix');
	is( $node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.check() WHERE severity = 'error'"),
		0,
		'check() has no error');
	is($node->safe_psql('zabbix', 'SELECT zbxhist.version()'), '1.0', 'the version');
	log_is_clean($node);
}

$node->stop;
done_testing();
