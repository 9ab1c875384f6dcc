# pglogical beside zbxhist: a subscriber gets each value of a partition, also
# those inserted in batches.  Packed days are in no replication set, and a
# partition in one is packed after it was removed from it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my ($directory) = run_command([ $ENV{PG_CONFIG} // 'pg_config', '--sharedir' ]);
plan skip_all => 'pglogical is not installed' if !-e "$directory/extension/pglogical.control";

my $node = test_server(
	'pglogical',
	-allows_streaming => 'logical',
	autovacuum => 'off',
	shared_preload_libraries => 'pglogical',
	max_worker_processes => 12);

# newer minor versions decode for trusted libraries only
if ($node->safe_psql(
		'postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'}))
{
	$node->append_conf('postgresql.conf', q{output_plugin_libraries = 'pglogical_output'});
	$node->reload;
}
my $day = partition('history', -2);

create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
create_packed_history(
	$node,
	'zabbix',
	'i, :from + c * 60, i / 8.0 + c, i * c FROM generate_series(1, 20) i, generate_series(0, 99) c',
	3);
$node->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.create_partition('history', '${\ date(-2)}');
	CREATE EXTENSION pglogical;
	SELECT pglogical.create_node('zabbix', \$dsn\$${\ $node->connstr('zabbix')}\$dsn\$);
	SELECT pglogical.replication_set_add_table('default', 'zbxhist_partitions.$day');
});

# The second day, as it is now.
sub kind
{
	return $node->safe_psql('zabbix',
		"SELECT kind FROM zbxhist.partitions WHERE parent = 'history'::regclass AND from_clock = "
		  . day(-2));
}

# ---- a subscriber ----

$node->safe_psql('postgres', 'CREATE DATABASE subscriber');
$node->safe_psql(
	'subscriber', qq{
	CREATE SCHEMA zbxhist_partitions;
	CREATE TABLE zbxhist_partitions.$day (itemid bigint, clock integer, value double precision, ns integer, PRIMARY KEY (itemid, clock, ns));
	CREATE EXTENSION pglogical;
	SELECT pglogical.create_node('subscriber', \$dsn\$${\ $node->connstr('subscriber')}\$dsn\$);
	SELECT pglogical.create_subscription('s', \$dsn\$${\ $node->connstr('zabbix')}\$dsn\$);
	SELECT pglogical.wait_for_subscription_sync_complete('s');
});
$node->safe_psql('zabbix', $_)
  for "INSERT INTO history VALUES ("
  . join('), (', map { "$_, ${\ day(-2)} + $_, $_, 1" } 1 .. 500) . ')',
  "INSERT INTO history SELECT i, ${\ day(-2)} + i, i, 2 FROM generate_series(1, 300) i",
  "DELETE FROM history WHERE itemid = 7 AND clock >= ${\ day(-2)}",
  "UPDATE history SET value = -1 WHERE itemid = 9 AND clock >= ${\ day(-2)}",
  'SELECT pglogical.wait_slot_confirm_lsn(NULL, NULL)';
is( totals($node, 'subscriber', $day),
	totals($node, 'zabbix', $day),
	'a subscriber has the rows of batches, and changes');
is(rows_of($node, 'subscriber', $day), 798, '... all of them');

# ---- packing ----

maintain($node, 'zabbix');
is(kind(), 'heap', 'a partition in a replication set is not packed');
like(
	$node->safe_psql(
		'zabbix', q{SELECT array_agg(concat(object, ' ', message)) FROM zbxhist.check()}),
	qr/$day .*membership in replication set/,
	'... and check() says why');
$node->safe_psql('zabbix',
	"SELECT pglogical.replication_set_remove_table('default', 'zbxhist_partitions.$day')");
maintain($node, 'zabbix');
is(kind(), 'packed', '... but when it has left it');
my ($status) = $node->psql('zabbix',
	"SELECT pglogical.replication_set_add_table('default', day) FROM zbxhist.packed_day");
is($status, 3, 'a packed day is refused');
is( $node->safe_psql(
		'zabbix', "SELECT count(*), sum(value) FROM history WHERE clock >= ${\ day(-2)}"),
	$node->safe_psql('subscriber', "SELECT count(*), sum(value) FROM zbxhist_partitions.$day"),
	'packed it has the same rows');
$node->safe_psql('subscriber', "SELECT pglogical.drop_subscription('s')");
log_is_clean($node, undef, qr/pglogical|packed_day/);
$node->stop;
done_testing();
