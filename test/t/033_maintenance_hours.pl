# Hourly partitions for some days: the size of the catalogs and the disk, and
# the cost of sessions that write, read and maintain, do not grow with the
# number of past hours.  ZBXHIST_HOURS=720 tries a month, ZBXHIST_TABLES=8 all
# tables of Zabbix.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use Test::More;
use ZbxhistTest;

my $HOURS = $ENV{ZBXHIST_HOURS} || 192;
my $KEPT = 72;      # hours; those of a day that is over are one packed day
my $SETTLED = 5;    # days after which nothing grows any more
my $PACKED = 25;    # tables made of packed rows in a day
my @TABLES = (
	qw(history history_str history_uint history_text history_log
	  history_bin trends trends_uint))[ 0 .. ($ENV{ZBXHIST_TABLES} || 2) - 1 ];
my %value = map { $_ => /^trends/ ? 'value_avg' : 'value' } @TABLES;
my $START = 1795132800;    # 2026-11-20 00:00 UTC

my $node = test_server('hours', autovacuum => 'off', max_wal_size => '200MB');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');

# what maintenance takes for the present is set here
$node->safe_psql('zabbix', <<'SQL');
CREATE OR REPLACE FUNCTION zbxhist_internal.current_clock() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT current_setting('hours.present')::bigint $$;
-- so that it is not waited for between two steps
CREATE OR REPLACE PROCEDURE zbxhist_internal.repeat_step(
    parent regclass, step text, relations regclass[], by_hand boolean, INOUT answer text)
LANGUAGE plpgsql AS $$
DECLARE
    relation pg_catalog.regclass;
BEGIN
    answer := 'done';
    FOREACH relation IN ARRAY relations LOOP
        FOR i IN 1 .. 100 LOOP
            CALL zbxhist_internal.next_transaction();
            answer := zbxhist_internal.run_step(parent, step, relation);
            CALL zbxhist_internal.next_transaction();
            EXIT WHEN answer NOT IN ('more', 'locked', 'wait');
        END LOOP;
    END LOOP;
END $$;
SQL

my %session = map { $_ => PgWire->new($node, 'zabbix') } qw(writer reader maintenance);

# Runs SQL in a session that lasts; its rows.
sub run
{
	my ($name, $sql) = @_;
	my $answer = $session{$name}->query($sql);

	BAIL_OUT("$name: $sql: @{$answer->{messages}}") if @{ $answer->{errors} };
	return $answer->{rows};
}

my @measured;

# What grows where something does: rows and bytes of the catalogs and of
# zbxhist's own tables, files on disk, memory of the sessions.
sub measure
{
	my %seen;

	# the files of tables that were dropped go at a checkpoint
	$node->safe_psql('zabbix', 'VACUUM; CHECKPOINT');
	$seen{ $_->[0] } = $_->[1]
	  for map { [ split /\|/ ] } split /\n/, $node->safe_psql('zabbix', <<'SQL');
SELECT 'rows of ' || t, (xpath('/row/n/text()', query_to_xml('SELECT count(*) AS n FROM ' || t, false, true, '')))[1]::text
  FROM unnest('{pg_class,pg_attribute,pg_depend,pg_constraint,pg_index,pg_type,pg_inherits,pg_trigger,pg_attrdef,pg_statistic}'::text[]) t
UNION ALL
SELECT 'bytes of ' || c.oid::regclass, pg_total_relation_size(c.oid)::text
  FROM pg_class c WHERE c.relkind = 'r' AND c.oid < 16384
   AND pg_total_relation_size(c.oid) > 131072
UNION ALL
SELECT 'bytes of ' || c.oid::regclass, pg_total_relation_size(c.oid)::text
  FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'zbxhist'::regnamespace AND c.relname <> 'maintenance_log'
UNION ALL
SELECT 'files', count(*)::text
  FROM pg_database d, pg_ls_dir('base/' || d.oid) WHERE d.datname = current_database()
SQL
	for my $name (qw(reader writer maintenance))
	{
		# its own statements are planned as ever when this is asked
		run($name, 'SELECT 1');
		my $rows = run($name,
			'SELECT name, count(*), sum(used_bytes) FROM pg_backend_memory_contexts GROUP BY name');
		$seen{"memory of the $name"} = 0;
		for my $row (@$rows)
		{
			# maintenance has many plans, and meets new cases all the time
			next if $name eq 'maintenance' && $row->[0] =~ /^(CachedPlan|SPI Plan|PL\/pgSQL)/;
			$seen{"memory of the $name"} += $row->[2];
			$seen{"$name, relation to parent"} = $row->[2]
			  if $row->[0] eq 'zbxhist relation to parent';
		}
	}
	return \%seen;
}


run('maintenance', "SET hours.present = $START; SET client_min_messages = error");
run('maintenance',
	"SELECT zbxhist.create_parent('$_', '1 hour', retention => '$KEPT hours', premake => 2, pack_after => '1 hour')"
) for @TABLES;

for my $hour (0 .. $HOURS - 1)
{
	my $clock = $START + 3600 * $hour;

	run('maintenance', 'SET hours.present = ' . ($clock + 900));
	for my $table (@TABLES)
	{
		run('writer',
			"INSERT INTO $table (itemid,clock,$value{$table}) VALUES "
			  . join(',', map { "($_,@{[$clock + $_]},'$hour')" } 1 .. 5));

		# a value that comes too late for its partition, now and then
		run('writer',
			"INSERT INTO $table (itemid,clock,$value{$table}) VALUES (9,@{[$clock - 5 * 3600]},'1')"
		) if $hour % 12 == 11;
	}
	run('maintenance', 'CALL zbxhist.run_maintenance()') if $hour % 2;
	for my $table (@TABLES)
	{
		my $rows = run('reader',
			"SELECT count(*) FROM $table WHERE itemid = 3 AND clock > @{[$clock - 12 * 3600]} AND clock <= @{[$clock + 3600]}"
		);
		my $expected = $hour < 12 ? $hour + 1 : 13;

		BAIL_OUT("hour $hour of $table: $rows->[0][0] rows of $expected")
		  if $rows->[0][0] != $expected;
		run('reader',
			"SELECT clock, $value{$table} FROM $table WHERE itemid = 4 ORDER BY clock DESC LIMIT 2"
		);
	}
	push @measured, measure() if $hour % 24 == 23;
}

my ($before, $after) = @measured[ $SETTLED, -1 ];
my $days = @measured - 1 - $SETTLED;

# by how much it may grow in a day, and may be larger altogether
sub allowed
{
	my ($what) = @_;

	# as many of them at the same hour of each day
	return (0, 1) if $what =~ /^rows/;
	return (0, 1.02) if $what eq 'files';
	return (0, 1.5) if $what =~ /^bytes/;
	return (0, 1.25) if $what =~ /relation to parent/;

	# of each table that has a TOAST table PostgreSQL remembers for as long
	# as the session lasts that there is no type of the latter's name
	return (16384 + 400 * $PACKED * @TABLES, 1) if $what eq 'memory of the maintenance';

	# what is in the caches when it is measured goes up and down by 30 kB
	return (16384, 1.03);
}

is( $node->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.maintenance_log WHERE sqlstate IS NOT NULL"),
	0,
	'no step failed');
cmp_ok(
	$node->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.maintenance_log WHERE action = 'drop'"),
	'>=',
	(($HOURS - $KEPT) / 24 - 2) * @TABLES,
	'the days were dropped again');
cmp_ok(
	$node->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.maintenance_log WHERE action = 'compact'"),
	'>=',
	($HOURS / 24 - 2) * @TABLES,
	'their hours had become one');
for my $what (sort keys %$after)
{
	my ($a_day, $factor) = allowed($what);
	my @seen = map { $_->{$what} // 0 } @measured;

	note "$what: @seen";
	cmp_ok(
		$after->{$what}, '<=',
		$before->{$what} * $factor + $a_day * $days,
		"$what: after $days more days") if exists $before->{$what};
}

$_->close for values %session;
log_is_clean($node);
$node->stop;
done_testing();
