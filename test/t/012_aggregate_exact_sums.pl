# Sums of doubles, for which packed segments store the rounding error: for all
# values and groups, sum() and avg() are the exact results rounded once,
# compared with numerics; and forged bytes are found.  ZBXHIST_SEED repeats a
# run.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PackedBytes;
use PostgreSQL::Test::Cluster;
use Test::More;
use ZbxhistTest;

my $seed = $ENV{ZBXHIST_SEED} // time % 100_000;
note "ZBXHIST_SEED=$seed";
srand $seed;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf',
	"session_preload_libraries = 'zbxhist'\ntimezone = 'UTC'\nfsync = off");
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# Items of decimals, of any doubles, of what cancels out, of very different size, of 0 and nulls, of
# NaN and infinities, of the smallest numbers; each with its number as an exact numeric.
sql(<<"SQL");
CREATE EXTENSION zbxhist;
CREATE TABLE power AS WITH RECURSIVE p AS (SELECT 0 AS n, 1::numeric AS two, 1::numeric AS half
    UNION ALL SELECT n + 1, two * 2, half * 0.5 FROM p WHERE n < 1080) TABLE p;
ALTER TABLE power ADD PRIMARY KEY (n);
CREATE FUNCTION bits(value double precision) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN ('x' || encode(float8send(value), 'hex'))::bit(64)::bigint;
CREATE FUNCTION exact(value double precision) RETURNS numeric LANGUAGE plpgsql STABLE STRICT AS \$\$
DECLARE
    exponent integer := (bits(value) >> 52) & 2047;
    number numeric := (bits(value) & 4503599627370495) + CASE WHEN exponent > 0 THEN 4503599627370496 ELSE 0 END;
BEGIN
    IF exponent = 2047 THEN
        RETURN NULL;
    END IF;
    exponent := greatest(exponent, 1) - 1075;
    RETURN sign(value)::numeric * number * (SELECT CASE WHEN exponent > 0 THEN two ELSE half END FROM power WHERE n = abs(exponent));
END \$\$;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history'), zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-03');
SELECT setseed($seed / 1e5);
CREATE TABLE plain AS SELECT i::bigint AS itemid, 86400 + n * 120 + (random() * 50)::integer AS clock,
    CASE i WHEN 1 THEN (random() * 1e6)::integer / 1e4
           WHEN 2 THEN random() * 1e5
           WHEN 3 THEN CASE n % 3 WHEN 0 THEN 1e300 WHEN 1 THEN -1e300 ELSE random() END
           WHEN 4 THEN (random() - 0.5) * 10.0::double precision ^ ((random() * 40)::integer - 20)
           WHEN 5 THEN (CASE WHEN n % 2 = 0 THEN 1 ELSE -1 END) * (1e15 + n / 2 + 0.125) + (random() * 8)::integer / 8.0
           WHEN 6 THEN CASE WHEN random() < 0.3 THEN '-0'::double precision WHEN random() < 0.5 THEN random() END
           WHEN 7 THEN CASE WHEN random() > 0.003 THEN random() WHEN random() < 0.4 THEN 'NaN'::double precision WHEN random() < 0.5 THEN 'Infinity'::double precision ELSE '-Infinity'::double precision END
           ELSE '5e-324'::double precision * (random() * 1e6)::integer END AS value, n AS ns
  FROM generate_series(1, 8) i, generate_series(0, 1439) n;
INSERT INTO history SELECT * FROM plain WHERE ns % 29 > 0;
CREATE FUNCTION ulps(a double precision, b double precision) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN abs(bits(abs(a))::numeric * CASE WHEN a < 0 THEN -1 ELSE 1 END - bits(abs(b))::numeric * CASE WHEN b < 0 THEN -1 ELSE 1 END);
SQL
sql("CALL zbxhist.pack('history', '1970-01-0$_')") for 2, 3;

# Segments from statistics, and decoded, in the plan of a query.
sub segments_of_plan
{
	my ($query) = @_;
	my $plan = sql("EXPLAIN (ANALYZE, TIMING OFF) $query");

	return map { $plan =~ /Segments $_: (\d+)/ ? $1 : -1 } 'From Statistics', 'Decoded';
}

# Groups whose sums and averages are not the exact ones, in any of these queries.
sub check_sums
{
	my ($name) = @_;
	my @keys = (
		'itemid',
		'itemid, clock / 86400',
		'itemid, clock / 7200',
		'itemid, clock % 5000 / 1000',
		'itemid % 3');
	my @where = (
		'true', 'clock > ' . (86400 + int rand 170000),
		'itemid < 6', 'clock BETWEEN 100000 AND 200000 AND value IS NOT NULL');

	for my $key (@keys)
	{
		for my $where (@where)
		{
			my $from = "WHERE $where GROUP BY $key";
			my @group = map { "k$_" } 1 .. split(/, /, $key);
			my $columns = join ', ', @group;
			my $found =
			  "(SELECT $key, count(value), sum(value), avg(value) FROM history $from) h ($columns, count, sum, avg)";
			my $expected =
			  "(SELECT $key, count(value), sum(exact)::double precision, sum(value) FILTER (WHERE exact IS NULL)"
			  . " FROM expected $from) p ($columns, count, exact, special)";
			my $wrong =
			  sql(  "SELECT * FROM $found FULL JOIN $expected USING ($columns)"
				  . ' WHERE h.count IS DISTINCT FROM p.count'
				  . ' OR CASE WHEN p.special IS NOT NULL THEN h.sum <> p.special OR h.avg <> p.special'
				  . ' WHEN p.count = 0 THEN h.sum IS NOT NULL OR h.avg IS NOT NULL'
				  . ' ELSE ulps(h.sum, p.exact) > 1 OR ulps(h.avg, p.exact / p.count) > 2 END LIMIT 3'
			  );
			is($wrong, '', "$name: exact sums by $key where $where");
		}
	}
}

sub check
{
	my ($name) = @_;
	my ($known, $decoded) = segments_of_plan(
		'SELECT itemid, sum(value) FROM history WHERE itemid IN (1, 2, 3, 6, 8) GROUP BY itemid');

	sql('DROP TABLE IF EXISTS expected; CREATE TABLE expected AS SELECT *, exact(value) AS exact FROM plain'
	);
	cmp_ok($known, '>', $decoded, "$name: most sums are statistics");
	check_sums($name);
	is(sql("SELECT count(*) FROM zbxhist.verify('history')"), 0, "$name: nothing is wrong");
	is( sql("SELECT count(*) FROM ((TABLE history EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE history)) x"
		),
		0,
		"$name: the same rows");
}

# Formats of the groups of values.
sub formats
{
	return sql("SELECT string_agg(DISTINCT get_byte(payload, 2)::text, ' ') FROM"
		  . ' (TABLE zbxhist_packed.history_p19700102 UNION ALL TABLE zbxhist_packed.history_p19700103) d WHERE nrows > 0'
	);
}

sql('INSERT INTO history SELECT * FROM plain WHERE ns % 29 = 0');
check('packed, with late rows');
sql("CALL zbxhist_internal.do_step('history', 'merge', NULL)");
sql("$_ WHERE itemid IN (1, 3, 5) AND ns BETWEEN 600 AND 650")
  for 'UPDATE history SET value = value + 0.75', 'UPDATE plain SET value = value + 0.75';
sql("DELETE FROM $_ WHERE itemid IN (2, 4) AND ns BETWEEN 200 AND 240") for 'history', 'plain';
check('changed');
is(formats(), '1', 'all is of the one format');
sql("CALL zbxhist.repack('history', '1970-01-0$_')") for 2, 3;
check('repacked');

# ---- what is forged ----

sql(<<'SQL');
CREATE TABLE forged (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('forged'), zbxhist.create_partition('forged', '1970-01-02');
INSERT INTO forged SELECT 1, 86400 + n * 60, (n * 7919 % 10000) / 1000.0, 0 FROM generate_series(0, 999) n;
CALL zbxhist.pack('forged', '1970-01-02');
SQL
my $payload = 'FROM zbxhist_packed.forged_p19700102 WHERE nrows > 0';
my $true = sql('SELECT sum(value) FROM forged WHERE itemid = 1 AND value IS NOT NULL');
my $bytes = pack 'H*', sql("SELECT encode(payload, 'hex') $payload");
my $at = statistics_of($bytes);

my $sum = 'SELECT sum(value) FROM forged WHERE itemid = 1';
is(sql($sum), $true, 'the sum by statistics');
is((segments_of_plan($sum))[1], 0, '... and nothing else');
cmp_ok(ord(substr $bytes, $at, 1) >> 2, '>', 2, '... which have a rest');

# Changes a byte of the group by some bits; says what a query and verify make of it.
sub forge
{
	my ($place, $bits) = @_;
	my $changed = $bytes;

	substr($changed, $place, 1) ^= chr $bits;
	$changed = unpack('H*', with_checksums($changed));
	sql("UPDATE zbxhist_packed.forged_p19700102 SET payload = '\\x$changed' WHERE nrows > 0");
	my (undef, $found, $errors) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$sum");
	return join ' ', $errors =~ /ERROR:  (\w+)/ ? $1 : abs($found - $true) < 1e-9,
	  sql("SELECT string_agg(problem, ' ') FROM zbxhist.verify('forged')");
}

like(
	forge($at + 1, 2),
	qr/^1 segment to clock \d+, \d+ values: wrong statistics/,
	'another rest changes at most the last digit, and is found');
like(forge(2, 1), qr/^XX001 /, 'no other format is read');
like(forge($at, 1), qr/^XX001 /, 'nor has what is no sum of doubles');
is(forge($at, 0), '1 ', 'as it was');

$node->stop;
done_testing();
