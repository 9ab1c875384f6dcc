# Aggregates over packed days without rows, and graphs of the first or last values of intervals: random queries have the same answers as on a plain table with the same rows.  ZBXHIST_SEED repeats a run,
# ZBXHIST_QUERIES says how many.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib "$FindBin::RealBin/../perl";
use ZbxhistTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $seed = $ENV{ZBXHIST_SEED} // time % 100_000;
my $queries = $ENV{ZBXHIST_QUERIES} // 500;
srand $seed;
note "ZBXHIST_SEED=$seed";

sub one_of { return $_[ int rand @_ ] }

# 8 items, 6 days from 1970-01-02 on, packed but for some; late rows in between.
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf',
	"session_preload_libraries = 'zbxhist'\ntimezone = 'America/St_Johns'\nfsync = off");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION zbxhist; CREATE SCHEMA plain');
my %type = (
	history => 'double precision',
	history_uint => 'numeric(20)',
	history_any => 'numeric',
	history_text => 'text');
for my $table (sort keys %type)
{
	my $value =
	  $table eq 'history_text'
	  ? q{CASE n % 5 WHEN 1 THEN '' ELSE repeat(md5((n % 40)::text), n % 7) END}
	  : $table eq 'history'
	  ? q{CASE WHEN n % 97 = 0 THEN 'NaN' WHEN n % 89 = 0 THEN '-Infinity' ELSE (random() * 200000)::integer / 128.0 - 700 END}
	  : $table eq 'history_uint' ? q{(random() * 10 ^ (i * 2.5))::numeric(20)}
	  : q{((random() - 0.4) * 10 ^ i)::numeric * CASE WHEN n % 100 = 3 THEN 1e25 ELSE 1 END};
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE $table (itemid bigint NOT NULL, clock integer NOT NULL, value $type{$table}, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT setseed($seed / 1e5);
CREATE TABLE plain.$table AS SELECT i::bigint AS itemid, 86400 + n * 120 * i + (random() * 50)::integer AS clock,
    CASE WHEN n % 23 <> i THEN $value END::$type{$table} AS value, n AS ns FROM generate_series(1, 8) i, generate_series(0, 6 * 720 / i) n;
SELECT zbxhist.create_parent('$table');
SQL
	$node->safe_psql('postgres', <<"SQL");
SELECT zbxhist.create_partition('$table', date '1970-01-01' + n) FROM generate_series(1, 5) n;
INSERT INTO $table SELECT * FROM plain.$table WHERE ns % 19 > 0;
SQL
	$node->safe_psql('postgres', "CALL zbxhist.pack('$table', '1970-01-0$_')")
	  for grep { rand() < 0.7 } 2 .. 6;
	$node->safe_psql('postgres', <<"SQL");
INSERT INTO $table SELECT * FROM plain.$table WHERE ns % 38 = 0;
CALL zbxhist_internal.do_step('$table', 'merge', NULL);
INSERT INTO $table SELECT * FROM plain.$table WHERE ns % 38 = 19;
ANALYZE;
SQL
	is( $node->safe_psql(
			'postgres',
			"SELECT count(*) FROM ((TABLE $table EXCEPT ALL TABLE plain.$table) UNION ALL (TABLE plain.$table EXCEPT ALL TABLE $table)) x"
		),
		0,
		"both tables have the rows of $table");
}

# An expression of the clock, of random form and depth.
sub clock_expression
{
	my ($depth) = @_;
	return one_of('clock', 'clock', 'cast(clock AS bigint)') if $depth == 0;
	my $inner = clock_expression($depth - 1);
	my $n = one_of(7, 60, 300, 3600, 7200, 86400, 100_000);
	return one_of(
		"($inner / $n)",
		"($inner % $n)",
		"($inner - $inner % $n)",
		"($inner + $n)",
		"($n - $inner)",
		"($inner / -$n)",
		"(($inner - $n) / $n * $n)",
		"mod($inner, $n)");
}

sub key
{
	my $clock = clock_expression(1 + int rand 3);
	return one_of(
		'itemid',
		'itemid',
		$clock,
		$clock,
		$clock,
		"round(${\int rand 900}.5 * ($clock - 90000) / 400000, ${\int rand 3})",
		"to_timestamp($clock)",
		"floor($clock / 60.0)",
		"trunc($clock / -700.0)",
		"date_trunc('${\one_of('minute', 'hour', 'day', 'week', 'month')}', to_timestamp($clock))",
		"date_bin('${\one_of('90 seconds', '1 hour', '2 days')}', to_timestamp($clock), '1969-12-31 22:00')",
		"to_char(itemid, 'FM99')",
		"($clock + itemid)",
		"(itemid * 10 - $clock / 3600)",
		"${clock}::double precision / 7200",
		"CASE WHEN $clock > 100000 THEN $clock / 5000 END");
}

# A condition that is evaluated on columns, or one that PostgreSQL evaluates.
sub value_condition
{
	my ($depth, $is_text) = @_;
	my $number =
	  $is_text
	  ? one_of(q{''}, q{'c'}, q{'c4ca4238a0b923820dcc509a6f75849b'})
	  : one_of(-701, -0.5, 0, 1, 100, 5000, 12345.678, q{'NaN'}, q{'Infinity'}, q{'-Infinity'},
		'18446744073709551615', int rand 10**int rand 20);
	my $operator = one_of('<', '<=', '=', '>=', '>', '<>');
	my $join = one_of('AND', 'OR');
	return
		'('
	  . value_condition($depth - 1, $is_text)
	  . " $join "
	  . value_condition($depth - 1, $is_text) . ')'
	  if $depth > 0;
	return one_of(
		"value $operator $number",
		"value $operator $number",
		"$number $operator value",
		$is_text ? "value LIKE 'c%'" : "value BETWEEN -1000 AND $number",
		"value IN ('0', $number, '77')",
		"value NOT IN ($number, '3', '4')",
		'value IS NULL',
		'value IS NOT NULL',
		"ns $operator " . int rand 4000,
		"clock $operator " . (80_000 + int rand 400_000),
		"itemid $operator " . int rand 9,
		rand() < 0.2 ? one_of('ns % 3 = 0', "(value > $number) IS NOT TRUE") : 'ns > 100');
}

sub where
{
	my ($is_text) = @_;
	my @conditions;
	push @conditions,
	  one_of(
		'itemid = ' . (1 + int rand 9),
		'itemid IN (1, 3, 8)',
		q{itemid = ANY ('{2,5,99}')},
		'itemid > 4',
		'itemid BETWEEN 2 AND ' . (1 + int rand 8),
		'3 >= itemid',
		'itemid IN (SELECT n FROM generate_series(1, 9) n WHERE n % ' . (1 + int rand 4) . ' = 0)'
	  ) if rand() < 0.6;
	my $from = 80_000 + int rand 400_000;
	push @conditions,
	  one_of(
		"clock >= $from",
		"clock < $from",
		"clock BETWEEN $from AND $from + " . int rand 200_000,
		"clock >= $from." . one_of(0, 5),
		"to_timestamp(clock) < to_timestamp($from)",
		"$from + 0.5::float8 > clock") if rand() < 0.5;
	push @conditions, value_condition(int rand 3, $is_text) while rand() < 0.35;
	return @conditions ? ' WHERE ' . join ' AND ', @conditions : '';
}

my @script;
my @aggregates = (
	'count(*)', 'count(value)', 'min(value)', 'max(value)',
	'sum(value)', 'avg(value)', 'min(clock)', 'max(clock)',
	'avg(clock)', 'sum(ns)', 'max(itemid)', 'round(avg(itemid), 3)');

# An aggregate, some with conditions of their own.
sub aggregate
{
	my ($table) = @_;
	my $is_text = $table =~ /^history_text/;
	my $condition = value_condition(int rand 2, $is_text);

	my $aggregate = one_of(grep { !$is_text || !/(?:sum|avg)\(value/ } @aggregates);
	return one_of("count(CASE WHEN $condition THEN value END)", 'sum(clock * 2)', 'sum(1)')
	  if rand() < 0.05;
	return $aggregate if $aggregate =~ /^round/ || rand() < 0.75;
	return "$aggregate FILTER (WHERE $condition)";
}

# A graph of first or last values, as Zabbix asks for it, or something like that; T is the table.
sub graph
{
	my ($is_text) = @_;
	my @keys = rand() < 0.15 ? () : map {
		my $clock = one_of('clock', 'clock', 'cast(clock AS bigint)');
		my $n = one_of(300, 3600, 7200, 86400);
		one_of(
			"$clock - mod($clock, $n)",
			"$clock / $n",
			"($clock - 90000) / -$n * 3",
			"date_bin('2 hours', to_timestamp($clock), '1970-01-01')", key())
	} 1 .. one_of(1, 1, 1, 2);
	my ($list, $names) = map { join '', @$_ }[ map { ", $keys[$_] AS k$_" } 0 .. $#keys ],
	  [ map { ", s2.k$_" } 0 .. $#keys ];
	my $call = one_of('min', 'max');
	my $group = join ', ', 'itemid', @keys;
	my $where = where($is_text);
	$where .= ($where ? ' AND ' : ' WHERE ') . 'itemid IN (1, 2, 3, 4, 6)'
	  if $where !~ /itemid (?:=|IN)/ && rand() < 0.8;
	my $source = "SELECT itemid$list, $call(clock) AS clock FROM T$where GROUP BY $group";
	my $on = 'h2.itemid = s2.itemid AND h2.clock = s2.clock';
	my $more = sub {
		my ($name) = @_;
		return '' if rand() < 0.6;
		my $condition =
		  one_of(value_condition(0, $is_text), 'clock BETWEEN 100000 AND 300000', 'clock < 200000');
		$condition =~ s/(itemid|clock|value|ns)\b/$name.$1/g;
		return " WHERE $condition";
	};
	my $graph =
		'SELECT h2.itemid, h2.value, h2.clock, h2.ns'
	  . "$names FROM T h2 JOIN ($source) s2 ON $on"
	  . $more->('h2');
	if (rand() < 0.7)
	{
		my $ns = rand() < 0.9 ? $call : one_of('min', 'max');
		my $both =
			"SELECT h2.itemid, h2.clock, $ns(h2.ns) AS ns$names"
		  . " FROM T h2 JOIN ($source) s2 ON $on"
		  . one_of('', '', $more->('h2'))
		  . " GROUP BY h2.itemid, h2.clock$names";
		($names = $names) =~ s/s2\./s./g;
		$graph =
			"SELECT h.itemid, h.value, h.clock, h.ns$names"
		  . " FROM T h JOIN ($both) s ON h.itemid = s.itemid AND h.clock = s.clock AND h.ns = s.ns"
		  . $more->('h');
	}
	$graph =~ s/SELECT/SELECT DISTINCT/ if rand() < 0.1;
	return $graph if rand() < 0.7;
	return "SELECT * FROM ($graph) g"
	  . one_of(
		' WHERE clock > 200000',
		' WHERE clock < 150000 AND itemid = 2',
		' WHERE value IS NOT NULL',
		', (VALUES (1), (3)) v(i) WHERE itemid = i');
}

for my $number (1 .. $queries / 4)
{
	my $table = one_of(sort keys %type);
	my $graph = graph($table =~ /^history_text/);
	my $managed = $graph =~ s/\bT\b/$table/gr;
	my $plain = $graph =~ s/\bT\b/plain.$table/gr;
	push @script, qq{SELECT compare(\$q\$$managed\$q\$, \$q\$$plain\$q\$);};
}

for my $number (1 .. $queries)
{
	my $table = one_of(sort keys %type);
	my $is_text = $table =~ /^history_text/;
	my @keys = map { key() } 1 .. int rand 3;
	my $list = join ', ', @keys, map { aggregate($table) } 1 .. 1 + int rand 4;
	my $rest = where($is_text);
	$rest .= ' GROUP BY ' . join ', ', @keys if @keys;
	$rest .= ' HAVING count(*) > 3' if rand() < 0.1;

	if (@keys && rand() < 0.15)
	{
		$list = 'DISTINCT ' . join ', ', @keys;
		$rest = where($is_text);
	}
	push @script,
	  qq{SELECT compare(\$q\$SELECT $list FROM $table$rest\$q\$, \$q\$SELECT $list FROM plain.$table$rest\$q\$);};
}
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION compare(query text, plain text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text; expected text; line text; plan text := '';
BEGIN
    IF random() < 0.5 THEN
        PERFORM set_config(name, '0', true) FROM unnest('{parallel_setup_cost,parallel_tuple_cost,min_parallel_table_scan_size}'::text[]) name;
    END IF;
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP plan := plan || line; END LOOP;
    PERFORM set_config('work_mem', CASE WHEN random() < 0.4 THEN '64kB' ELSE '4MB' END, true);
    BEGIN
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', plain) INTO expected;
    EXCEPTION WHEN division_by_zero OR numeric_value_out_of_range THEN
        RETURN 'error';
    END;
    EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', query) INTO found;
    IF found IS DISTINCT FROM expected THEN
        RETURN format('DIFFERS: %s: %s instead of %s', query, left(found, 500), left(expected, 500));
    END IF;
    RETURN CASE WHEN plan LIKE '%Parallel Custom Scan (ZbxhistAggregate)%' THEN 'workers' WHEN plan LIKE '%ZbxhistAggregate%' THEN 'scan' WHEN plan LIKE '%ZbxhistItem%Interval%' THEN 'intervals' ELSE 'plain' END;
END $$
SQL

# Asks all queries, and says how many were planned how.
sub ask
{
	my ($what, @queries) = @_;
	my %seen;
	my @different;
	for my $answer (split /\n/, $node->safe_psql('postgres', join "\n", @queries))
	{
		push @different, $answer if $answer =~ /^DIFFERS/;
		$seen{$answer}++ if $answer =~ /^\w+$/;
	}
	is_deeply(\@different, [], "the same answers $what (ZBXHIST_SEED=$seed)");
	note join ', ', map { "$_: $seen{$_}" } sort keys %seen;
	return %seen;
}

my %seen = ask('of all queries', @script);
cmp_ok(
	($seen{scan} // 0) + ($seen{workers} // 0),
	'>',
	$queries / 3,
	'many queries are planned without rows');
cmp_ok($seen{workers} // 0, '>', $queries / 12, 'and some for workers');
cmp_ok($seen{intervals} // 0, '>', $queries / 40, 'graphs are planned for the rows of intervals');

$node->stop;
done_testing();
