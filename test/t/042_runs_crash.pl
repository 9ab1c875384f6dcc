# Four sessions store values as runs, some keys twice, with
# transactions that are rolled back, in parts too, while runs are merged and the
# server is killed, and the hour is packed in the end: always the rows of a plain table with the same
# key that the same transactions wrote, and the same keys refused.
#
# ZBXHIST_ROUNDS=100 for more.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use Time::HiRes qw(sleep);
use ZbxhistTest;

my $rounds = $ENV{ZBXHIST_ROUNDS} // 4;
srand($ENV{ZBXHIST_SEED} // 1);

my $node = test_server(
	'runs_crash',
	shared_preload_libraries => 'zbxhist',
	full_page_writes => 'on',
	deadlock_timeout => '20ms');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
$node->safe_psql(
	'zabbix', q{
	SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 hour', ingest => 'runs');
	SELECT zbxhist_internal.create_runs('history', 86400, 90000), zbxhist_internal.create_runs('history', 90000, 93600);
	CREATE TABLE plain (LIKE history INCLUDING ALL);
	CREATE TABLE merges (runs bigint);
	CREATE TABLE outcome (what text, at timestamptz DEFAULT clock_timestamp());

	-- stores the same rows on both sides; says whether both took or refused them
	CREATE FUNCTION store(items bigint[], clocks integer[], stamp integer) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		refused text := '';
	BEGIN
		BEGIN
			INSERT INTO history (itemid, clock, ns, value)
			SELECT i, c, 0, stamp FROM unnest(items, clocks) r (i, c);
		EXCEPTION WHEN unique_violation THEN
			refused := 'history';
		END;
		BEGIN
			INSERT INTO plain (itemid, clock, ns, value)
			SELECT i, c, 0, stamp FROM unnest(items, clocks) r (i, c);
		EXCEPTION WHEN unique_violation THEN
			refused := refused || 'plain';
		END;
		RETURN CASE refused WHEN '' THEN 'stored' WHEN 'historyplain' THEN 'refused' ELSE 'only ' || refused || ' refused' END;
	END $$;

	CREATE PROCEDURE write_values(writer integer) LANGUAGE plpgsql AS $$
	DECLARE
		items  bigint[];
		clocks integer[];
		clock  integer;
		n      integer;
		what   text;
	BEGIN
		LOOP
			n := (ARRAY[1, 3, 10, 100, 1000])[1 + floor(random() * 5)];
			-- time goes on, from one hour to the next
			clock := least(89000 + nextval('ticks') / 2, 93000);
			-- fresh keys, but for a few
			SELECT array_agg(CASE WHEN random() < 0.03 / sqrt(n) THEN 1 + floor(random() * 3)
			                      ELSE nextval('fresh') END),
			       array_agg(clock + floor(random() * 200)::integer)
			  INTO items, clocks FROM generate_series(1, n);
			BEGIN
				what := store(items, clocks, writer);
				IF random() < 0.2 THEN RAISE division_by_zero; END IF;
			EXCEPTION
				WHEN division_by_zero THEN what := coalesce(nullif(what, 'stored'), 'undone');
				WHEN deadlock_detected THEN what := 'deadlock';
			END;
			INSERT INTO outcome VALUES (what);
			IF random() < 0.1 THEN ROLLBACK; ELSE COMMIT; END IF;
		END LOOP;
	END $$;
	-- merges whatever there is, all the time; the worker does it, too
	CREATE PROCEDURE merge_runs() LANGUAGE plpgsql AS $$
	BEGIN
		LOOP
			INSERT INTO merges
			SELECT zbxhist_internal.merge_runs(d.day, 3) FROM zbxhist.packed_day d WHERE d.runs AND d.from_clock < 100000;
			COMMIT;
			PERFORM pg_sleep(random() * 0.05);
		END LOOP;
	END $$;
	CREATE SEQUENCE fresh START 1000;
	CREATE SEQUENCE ticks;
});

my $checksum =
  'SELECT count(*) || \' \' || coalesce(sum(hashtextextended(h::text, 0)::numeric), 0)';

# Says whether both tables have the same rows, each key once.
sub is_as_plain
{
	my ($when) = @_;

	is( $node->safe_psql('zabbix', "$checksum FROM history h"),
		$node->safe_psql('zabbix', "$checksum FROM plain h"),
		"$when: every row is there, once");
	return;
}

for my $round (1 .. $rounds)
{
	my @writers = map {
		my $writer = $_;
		start_psql(
			$node, 'zabbix',
			$node->basedir . "/out$writer",
			sub { print { $_[0] } "CALL write_values($writer);\n" })
	} 1 .. 4;
	my $merger = start_psql(
		$node, 'zabbix',
		$node->basedir . '/merged',
		sub { print { $_[0] } "CALL merge_runs();\n" });
	sleep 2 + rand 2;
	kill_server($node);
	wait_for_end($_) for @writers, $merger;
	start_after_crash($node);
	is_as_plain("killed, round $round");
}

my %seen = map { split /\|/ } split /\n/,
  $node->safe_psql('zabbix', 'SELECT what, count(*) FROM outcome GROUP BY 1');
is(join(', ', grep { /^only/ } sort keys %seen),
	'', 'no side refused what the other one took');
ok($seen{stored} && $seen{refused} && $seen{undone},
	join ', ', map { "$_ $seen{$_}" } sort keys %seen);
cmp_ok(
	$node->safe_psql(
		'zabbix',
		'SELECT count(*) FROM history WHERE tableoid <> \'history\'::regclass'
	),
	'>', 1000,
	'runs were used');
cmp_ok(
	$node->safe_psql('zabbix', 'SELECT count(*) FROM merges WHERE runs > 2'),
	'>', 100, '... and merged');
$node->safe_psql('zabbix', "CALL zbxhist.pack('history', '1970-01-02')");
maintain($node, 'zabbix');
is_as_plain('packed');
is($node->safe_psql('zabbix', 'SELECT count(*) FROM ONLY history'),
	0, 'nothing is left over');
log_is_clean($node);
done_testing();
