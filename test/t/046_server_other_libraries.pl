# The executor hooks work with those of pg_stat_statements and auto_explain,
# loaded before or after, and both see the rows that were stored.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('libraries', shared_preload_libraries => '');
if (!has_extension($node, 'pg_stat_statements'))
{
	$node->stop;
	plan skip_all => 'pg_stat_statements is not installed';
}
create_database($node, 'zabbix');
set_up($node, 'zabbix');
$node->append_conf('postgresql.conf', <<'EOC');
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_buffers = on
auto_explain.log_wal = on
auto_explain.log_nested_statements = on
auto_explain.log_triggers = on
pg_stat_statements.track = all
EOC

my $item = 1;
for my $libraries (
	'pg_stat_statements, auto_explain, zbxhist',
	'zbxhist, auto_explain, pg_stat_statements',
	'pg_stat_statements, auto_explain')
{
	my $preloaded = $libraries =~ /zbxhist/;

	# a library that is loaded earlier sees the tag of COPY before it is corrected
	my $copied = $libraries =~ /^zbxhist/ ? 700 : 0;
	my ($first, $now) = ($item, day(0));

	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'$libraries'");
	$node->restart;
	$node->safe_psql('zabbix',
		'CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()');
	my $client = PgWire->new($node, 'zabbix');

	# without preloading, the first statement loads the library
	$client->query("insert into history_uint (itemid, clock) values ($item, $now)")
	  unless $preloaded;

	my $result = $client->query(insert_values('history', $item, 900, $now));
	is_deeply($result->{tags}, ['INSERT 0 900'], "$libraries: tag of INSERT");
	$item += 900;
	my $data = join '', map { $item + $_ . "\t$now\t0\t1\n" } 0 .. 699;
	$result = $client->copy_in('copy history (itemid,clock,ns,value) from stdin', $data);
	is_deeply($result->{tags}, ['COPY 700'], "$libraries: tag of COPY");
	$item += 700;
	$result = $client->query(
		"with a as (insert into history_uint select i, $now, 0, 0 from generate_series($item, $item + 9) i)"
		  . " insert into history select i, $now, 0, 0 from generate_series($item, $item + 299) i");
	is_deeply($result->{tags}, ['INSERT 0 300'], "$libraries: tag of a WITH");
	$item += 300;
	$result = $client->query(insert_values('history', $first + 899, 20, $now));
	is_deeply($result->{errors}, ['23505'], "$libraries: duplicate");
	$result = $client->query("explain (analyze, costs off, timing off, summary off)"
		  . " insert into history select i, $now, 0, 0 from generate_series($item, $item + 99) i");
	like(
		join("\n", map { $_->[0] } @{ $result->{rows} }),
		qr/Trigger zzz_zbxhist_route: calls=100/,
		"$libraries: EXPLAIN ANALYZE");
	$item += 100;
	$client->close;

	is( rows_of($node, 'zabbix', "history WHERE itemid >= $first"),
		$item - $first,
		"$libraries: each row stored once");
	is(rows_of($node, 'zabbix', 'ONLY history'), 0, "$libraries: all routed");
	is( $node->safe_psql(
			'zabbix',
			"SELECT sum(rows) FROM pg_stat_statements WHERE query ~ '^(insert into history \\(|copy history|with a)'"
		),
		900 + $copied + 300,
		"$libraries: pg_stat_statements counts the rows");
	is( $node->safe_psql(
			'zabbix',
			"SELECT calls, rows, shared_blks_hit > 900, wal_records > 900, wal_bytes > 50000"
			  . " FROM pg_stat_statements WHERE query ~ '^insert into history \\(.* values' AND rows = 900"
		),
		'1|900|t|t|t',
		"$libraries: ... and what a fast insert used");
	like(
		slurp_file($node->logfile),
		qr/Custom Scan \(ZbxhistInsert\) on history[^\n]*\n(?:[^\n]*\n){0,9}[^\n]*Buffers: shared hit=\d+[^\n]*\n[^\n]*WAL: records=9\d\d/,
		"$libraries: auto_explain shows buffers and WAL");
	like(
		slurp_file($node->logfile),
		qr/Custom Scan \(ZbxhistInsert\) on history.*?Rows Routed: 900/s,
		"$libraries: auto_explain shows the plan");
	truncate $node->logfile, 0;
}

log_is_clean($node);
$node->stop;
done_testing();
