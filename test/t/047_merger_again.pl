# A worker that merges runs gives back what it has locked when it ends, so that
# another one can be started, and a statement's runs fill their pages.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('merger_again');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
$node->safe_psql(
	'zabbix', q{
	SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 hour', ingest => 'runs');
	SELECT zbxhist_internal.create_runs('history', 86400, 90000);
});
my $workers =
  q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'zbxhist merge'};

# Stores a row a statement until a worker has come, and waits until it has gone;
# says whether it did both.
sub see_worker
{
	my ($item) = @_;

	$node->safe_psql(
		'zabbix', qq{
		DO \$\$ BEGIN
			FOR i IN 1..5000 LOOP
				EXECUTE format('INSERT INTO history VALUES ($item, %s, 1, %s)', 86400 + i % 3600, i);
				COMMIT;
				EXIT WHEN EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'zbxhist merge');
			END LOOP;
		END \$\$
	});
	return
		 $node->safe_psql('zabbix', $workers) == 1
	  && $node->poll_query_until('zabbix', "SELECT ($workers) = 0");
}

ok(see_worker(1), 'a worker comes and goes');
ok(see_worker(2), '... and another one');

# rows of about 10 kB in a statement: one and a quarter pages each
$node->safe_psql(
	'zabbix', q{
	SELECT zbxhist_internal.create_runs('history', 90000, 93600);
	DO $$ BEGIN
		FOR i IN 1..40 LOOP
			INSERT INTO history SELECT g, 90000 + i, hashint4(g + i), abs(hashint4(g * i)) % 1000000000 FROM generate_series(1, 1000) g;
			COMMIT;
		END LOOP;
	END $$
});
cmp_ok(
	$node->safe_psql(
		'zabbix', q{
		SELECT pg_relation_size(day) / 8192 FROM zbxhist.packed_day WHERE runs AND from_clock = 90000
	}),
	'<', 70,
	'the runs of 40 statements share their pages');

$node->stop;
done_testing();
