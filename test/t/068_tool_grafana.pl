# Every query of the Grafana dashboard runs, and returns something, for a role
# that only monitors; so do those that Grafana's Zabbix plugin sends to history
# and trends by a direct database connection, for a role that may only read.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $top = "$FindBin::RealBin/../..";
my $node = test_server('grafana');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
$node->safe_psql('zabbix', <<"SQL");
SELECT * FROM zbxhist.setup('public', '90 days', '1 year');
SELECT zbxhist.create_partition(t, (now() AT TIME ZONE 'UTC')::date - d) FROM unnest('{history,history_uint}'::regclass[]) t, generate_series(1, 4) d;
INSERT INTO history (itemid, clock, value) SELECT i, @{[ day(-4) ]} + i * 300 + s * 60, i FROM generate_series(1, 40) i, generate_series(1, 4300) s;
INSERT INTO history_uint (itemid, clock, value) SELECT i, @{[ day(-2) ]} + s * 60, s FROM generate_series(1, 5) i, generate_series(1, 1440) s;
INSERT INTO trends (itemid, clock, num, value_min, value_avg, value_max) SELECT 1, @{[ day(-4) ]} + h * 3600, 60, h, h + 1, h + 2 FROM generate_series(1, 48) h;
ANALYZE;
SQL
maintain($node, 'zabbix');
cmp_ok($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.partitions WHERE kind = 'packed'"),
	'>', 1, 'there are packed days');
$node->safe_psql('postgres',
	'CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor; CREATE ROLE grafana LOGIN');
$node->safe_psql('zabbix', "GRANT SELECT ON history, history_uint, trends, trends_uint TO $_")
  for qw(monitor grafana);

# ---- the dashboard ----

my $dashboard = JSON::PP::decode_json(slurp_file("$top/dist/grafana/zbxhist.json"));
my ($from, $to) = (day(-30), day(3));

# A time as Grafana writes it.
sub iso { return POSIX::strftime("'%Y-%m-%dT%H:%M:%SZ'", gmtime($_[0])) }

# A group of times of so many seconds.
sub time_group
{
	my ($column, $interval) = @_;
	my %seconds = (h => 3600, d => 86400, m => 60);
	my ($number, $unit) = $interval =~ /^'?(\d+)([hdm])'?$/ or die "interval: $interval";
	my $width = $number * $seconds{$unit};

	return "floor(extract(epoch from $column)/$width)*$width";
}

# A query as the data source sends it.
sub expand
{
	my ($sql) = @_;

	$sql =~ s/\$__interval\b/6h/g;
	$sql =~ s/\$__timeGroupAlias\(([^,()]+),\s*([^()]+)\)/time_group($1, $2) . ' AS "time"'/ge;
	$sql =~ s/\$__timeFilter\(([^()]+)\)/"$1 BETWEEN " . iso($from) . ' AND ' . iso($to)/ge;
	$sql =~ s/\$__timeFrom\(\)/iso($from)/ge;
	$sql =~ s/\$__timeTo\(\)/iso($to)/ge;
	$sql =~ s/\$__unixEpochFrom\(\)/$from/g;
	$sql =~ s/\$__unixEpochTo\(\)/$to/g;
	$sql =~ s/\$table\b/'history','history_uint','trends'/g;
	return $sql;
}

# The names of a query's columns.
sub columns_of
{
	my ($sql) = @_;
	my ($code, $out, $err) = psql_script($node, 'zabbix', "$sql\n\\gdesc\n", '-U', 'monitor');

	return [ map { (split /\|/)[0] } split /\n/, $out ];
}

my (%ids, %places);
my $number = 0;
foreach my $panel (@{ $dashboard->{panels} })
{
	my $title = $panel->{title};
	my $place = $panel->{gridPos};

	$ids{ $panel->{id} }++;
	foreach my $x ($place->{x} .. $place->{x} + $place->{w} - 1)
	{
		$places{"$x $_"}++ for $place->{y} .. $place->{y} + $place->{h} - 1;
	}
	cmp_ok($place->{x} + $place->{w}, '<=', 24, "$title: is not too wide");
	foreach my $target (@{ $panel->{targets} })
	{
		my $sql = expand($target->{rawSql});

		$number++;
		unlike($sql, qr/\$/, "$title: everything is expanded");
		my ($code, $out, $err) =
		  psql_script($node, 'zabbix', "$sql;\n", '-U', 'monitor', '-v', 'ON_ERROR_STOP=1');
		is($code, 0, "$title: its query runs") or diag($err);
		next if $title =~ /^(?:What check\(\) says|Longest wait)/;
		isnt($out, '', "$title: it has rows");
		if ($target->{format} eq 'time_series')
		{
			is_deeply(columns_of($sql), [qw(time metric value)], "$title: time, metric and value");
		}
	}
}
cmp_ok($number, '>', 14, 'all panels have queries');
is_deeply([ grep { $ids{$_} > 1 } keys %ids ], [], 'each panel has an id');
is_deeply([ grep { $places{$_} > 1 } keys %places ], [], 'no panel covers another');
foreach my $variable (@{ $dashboard->{templating}{list} })
{
	next if $variable->{type} ne 'query';
	like($node->safe_psql('zabbix', $variable->{query}, extra_params => [ '-U', 'monitor' ]),
		qr/^history$/m, "variable $variable->{name}");
}

# ---- Grafana's Zabbix plugin ----

# A query of the plugin: the aggregate of a table's column by time.
sub plugin_query
{
	my ($table, $value, $first, $last, $width) = @_;

	return
	  "SELECT to_char(itemid, 'FM99999999999999999999') AS metric, clock / $width * $width AS time, avg($value) AS value"
	  . " FROM $table WHERE itemid IN (1, 2) AND clock > $first AND clock < $last GROUP BY 1, 2 ORDER BY time ASC";
}

foreach (
	[ 'history', 'value', day(-3) ],
	[ 'history_uint', 'value', day(-2) ],
	[ 'trends', 'value_avg', day(-4) ])
{
	my ($table, $value, $first) = @$_;
	my $sql = plugin_query($table, $value, $first, $first + 86400, 1800);
	my ($code, $out, $err) =
	  psql_script($node, 'zabbix', "$sql;\n", '-U', 'grafana', '-v', 'ON_ERROR_STOP=1');

	is($code, 0, "$table: the plugin's query runs with SELECT only") or diag($err);
	cmp_ok(scalar split(/\n/, $out), '>=', 20, "$table: it has rows");
	next if $table eq 'trends';
	my ($plan) = (psql_script($node, 'zabbix', "EXPLAIN (COSTS OFF) $sql;\n", '-U', 'grafana'))[1];
	like($plan, qr/packed/, "$table: of the packed day");
	unlike($plan, qr/_p\d/, "$table: and of nothing else");
}
my ($code, $out, $err) = psql_script(
	$node,
	'zabbix',
	"SELECT to_char(itemid, 'FM99999999999999999999') AS metric, clock AS time, value_avg AS value FROM trends_uint LIMIT 1;\n",
	'-U',
	'grafana',
	'-v',
	'ON_ERROR_STOP=1');
is($code, 0, 'the plugin\'s test of a connection') or diag($err);
($code, $out, $err) =
  psql_script($node, 'zabbix', "INSERT INTO history VALUES (1, 1, 1, 1);\n", '-U', 'grafana');
like($err, qr/permission denied/, 'that role writes nothing');

log_is_clean($node);
$node->stop;
done_testing();
