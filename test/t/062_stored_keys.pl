# The filters of keys that all sessions share take a million keys each, and one is emptied
# when the other is full.  Whatever has been stored before, before the last time or
# since, is found by a session that stores it again, and all else is stored.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use ZbxhistTest;

# as the source has it
my $keys_of_filter = 1024 * 1024;
my $items = 16384;

my $node = test_server('stored_keys', shared_preload_libraries => 'zbxhist');
create_database($node, 'zabbix');
$node->safe_psql(
	'zabbix', q{
	CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
	                      ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
	SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 hour', ingest => 'runs');
	SELECT zbxhist_internal.create_runs('history', 86400, 90000);
});

# Stores a value of each item, by statements of two sessions; returns how many rows there
# are then.
sub store
{
	my ($first, $last) = @_;

	for my $from ($first, ($first + $last + 1) / 2)
	{
		my $to = $from == $first ? ($first + $last - 1) / 2 : $last;
		$node->safe_psql(
			'zabbix',
			join ';',
			map {
				"INSERT INTO history SELECT i, 86400 + $_, i, 0 FROM generate_series(1, $items) i"
			} $from .. $to);
	}
	return $node->safe_psql('zabbix', 'SELECT count(*) FROM history');
}

# Which of rows a second apart are refused, of the first item and the last.
sub refused
{
	my ($first, $last, $ns) = @_;

	return $node->safe_psql(
		'zabbix', qq{
		DO \$\$
		BEGIN
			CREATE TEMP TABLE refused (clock integer, sqlstate text);
			FOR clock IN $first .. $last LOOP
				FOR itemid IN 1 .. $items BY $items - 1 LOOP
					BEGIN
						EXECUTE format('INSERT INTO history (itemid, clock, value, ns) VALUES (%s, %s, 1, $ns)', itemid, 86400 + clock);
					EXCEPTION WHEN OTHERS THEN
						INSERT INTO refused VALUES (clock, sqlstate);
					END;
				END LOOP;
			END LOOP;
		END \$\$;
		SELECT string_agg(DISTINCT sqlstate, ','), count(*) FROM refused});
}

my $statements = $keys_of_filter / $items;
my $rows = 0;
my $done = 0;

# the filter is changed once, and a second time
for my $part (1 .. 3)
{
	my $last = $done + $statements - 1;
	is(store($done, $last), $items * ($last + 1), "part $part is stored");
	$done = $last + 1;
	is( refused(0, $done - 1, 0),
		sprintf('23505|%d', 2 * $done),
		'... and no row of it, or of one before, twice');
}
is(refused(0, $done - 1, 1),
	'|0', 'other rows of the same items and clocks are');
is(refused(0, $done - 1, 1), sprintf('23505|%d', 2 * $done), '... once');

done_testing;
