# The owner of a table can write any bytes into its packed days.  Whatever they
# are, a statement returns rows or the error XX001, the server does not crash,
# and no code of the owner runs with another user's rights.  ZBXHIST_FORGED=10
# tries ten times as much, for a server with sanitizers.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use POSIX ();
use PackedBytes;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $much = $ENV{ZBXHIST_FORGED} // 1;
my $seed = $ENV{ZBXHIST_SEED} // time();
my $node = test_server('forged');
my $clock = day(-1);
my $day = POSIX::strftime('%Y-%m-%d', gmtime($clock));

note("ZBXHIST_SEED=$seed");
srand($seed);
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
create_database($node, 'zabbix', 'owner');

sub as_owner { return $node->safe_psql('zabbix', "SET ROLE owner;\n$_[0]") }

# the table of the packed day of a table
sub day_of
{
	my ($table) = @_;

	return 'zbxhist_packed.' . partition($table, -1);
}

# What becomes of a statement: 00000 or its SQLSTATE; it is undone.
$node->safe_psql('zabbix', <<'SQL');
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RAISE EXCEPTION USING ERRCODE = 'ZZ999';
EXCEPTION
    WHEN SQLSTATE 'ZZ999' THEN RETURN '00000';
    WHEN OTHERS THEN
        IF SQLSTATE NOT IN ('XX001', '23505') THEN
            RAISE NOTICE '% %: %', SQLSTATE, SQLERRM, statement;
        END IF;
        RETURN SQLSTATE;
END
$$;
-- the bytes of any value of variable length
CREATE FUNCTION image(anyelement) RETURNS bytea STRICT LANGUAGE internal AS 'byteasend';
SQL

# ---- values of each type that can be packed ----

# type, its length if that is fixed, whether text is read back as the same value
my @types = (
	[ 'boolean', 'int', q{true}, q{false} ],
	[ '"char"', 'int', q{'a'}, q{''} ],
	[ 'smallint', 'int', -32768, 7 ],
	[ 'integer', 'int', 2147483647, -1 ],
	[ 'bigint', 'int', '-9223372036854775808', 0 ],
	[ 'real', 'int', q{'NaN'}, '1.5' ],
	[ 'oid', 'int', 4294967295, 0 ],
	[ 'date', 'int', q{'2026-11-20'}, q{'-infinity'}, q{'4714-11-24 BC'}, q{'5874897-12-31'} ],
	[ 'time', 'int', q{'00:00'}, q{'24:00'} ],
	[ 'timestamp', 'int', q{'infinity'}, q{'294276-12-31 23:59:59.999999'} ],
	[ 'timestamptz', 'int', q{'2026-11-20 10:00+02'}, q{'4714-11-24 00:00:00+00 BC'} ],
	[ 'uuid', 16, q{'00112233-4455-6677-8899-aabbccddeeff'} ],
	[ 'interval', 16, q{'1 month -3 days 0.000001 s'}, q{'-178956970 years -8 mons'} ],
	[ 'bytea', 'bytes', q{'\x00ff'}, q{''} ],
	[ 'text', 'bytes', q{'Ünïcödé 事件日志 😀'}, q{''}, q{repeat('long ', 100)} ],
	[ 'varchar(5)', 'bytes', q{'äöüß5'}, q{''} ],
	[ 'char(10)', 'bytes', q{'f'}, q{'ääääääääää'} ],
	[ 'json', 'bytes', q{'{"a": [1, null,  "x"], "a": 2}'}, q{' 3 '} ],
	[
		'numeric', 'bytes', '0', '-0.5', q{'NaN'}, q{'-Infinity'}, '1e100', '1e-100',
		'18446744073709551616', '123456789012345678901234567890.123456789'
	],
	[ 'numeric(7,2)', 'bytes', '99999.99', '-0.01', q{'NaN'}, '5' ],
	[ 'numeric(3,-2)', 'bytes', '99900', '-100' ],
	[
		'jsonb',
		'bytes',
		q{'{}'},
		q{'1e100'},
		q{'"x"'},
		q{'[[[[]]], null, true]'},
		q{'{"b": [1, null, {"c": "dé", "dd": -1.5e10}], "a": false, "": []}'},
		q{(SELECT jsonb_object_agg('key' || i, i) FROM generate_series(1, 70) i)}
	],
	[ 'percent', 'bytes', '99.5' ]);

$node->safe_psql('zabbix', 'CREATE DOMAIN percent AS numeric(5, 2)');
eval { $node->safe_psql('zabbix', q{SELECT '<a/>'::xml}); 1 }
  or @types = grep { $_->[0] ne 'xml' } @types;

# random bytes are no text of these that is read back
my %no_text = map { $_ => 1 } qw(xml interval);
my $nrows = 12;
my $nforged = 150 * $much;

# A table of all types, and one of the kinds of bytes that they are packed as.
sub create_tables
{
	my ($columns, $kinds) = ('', '');

	for my $i (0 .. $#types)
	{
		my ($type, $kind) = @{ $types[$i] };

		$columns .= ", c$i $type";
		$kinds .= ", c$i " . ($kind eq 'int' ? 'bigint' : 'bytea');
	}
	my $keys = '(itemid bigint NOT NULL, clock integer NOT NULL, ns integer NOT NULL';
	as_owner("CREATE TABLE legit $keys$columns, PRIMARY KEY (itemid, clock, ns));"
		  . "CREATE TABLE bytes $keys$kinds, PRIMARY KEY (itemid, clock, ns));"
		  . "SELECT zbxhist.create_parent(t, pack_after => NULL), zbxhist.create_partition(t, '$day')"
		  . " FROM unnest('{legit,bytes}'::regclass[]) t");
}

# Rows of all values, and one of nulls.
sub fill_legit
{
	for my $row (1 .. $nrows)
	{
		my $values = join(
			', ',
			map {
				my ($type, $kind, @values) = @$_;
				"($values[$row % @values])::$type"
			} @types);
		as_owner("INSERT INTO legit SELECT $row, $clock, 0, $values");
	}
	as_owner("INSERT INTO legit (itemid, clock, ns) VALUES (0, $clock, 0);"
		  . "CREATE TABLE copy AS SELECT * FROM legit");
}

# those at the bounds of types
my @numbers = (
	-1, 0, 1, 2, 127, 128, 32767, 32768, 2147483647, 2147483648, -2147483648, -2451545, -2451546,
	86400000000, 86400000001, -211813488000000000, '9223372036854775807', '-9223372036854775808');

# What psql would make of bytes.
sub literal
{
	return defined $_[0] ? "'\\x" . unpack('H*', $_[0]) . "'" : 'NULL';
}

# what is no value of some types
my %broken = (
	'timestamptz' => "'-211813488000000001'",
	'char(10)' => literal("\xFF"),
	'numeric' => literal('x'),
	'jsonb' => literal('x'));

# Images of the values of a column: one as it is, one that is broken for sure if
# we know one, and others changed.
sub forged_values
{
	my ($i, $all) = @_;
	my ($type, $kind) = @{ $types[$i] };
	my @sure;

	push @sure,
	  $kind eq 'int' ? "'0'" : $kind eq 'bytes' ? literal($all->[$i][0]) : literal(pack("x$kind")),
	  $broken{$type}
	  if $broken{$type};
	return @sure, map {
		my $length = $kind eq 'int' ? 0 : $kind eq 'bytes' ? 0 : $kind;
		$kind eq 'int'
		  ? "'"
		  . any(@numbers, map { int(rand(2**$_)) - int(rand(2**$_)) } 3, 16, 33, 62)
		  . "'"
		  : $length == 0 ? literal(mutated(any(@{ $all->[$i] }), $all->[ rand @$all ]))
		  : literal(
			rand() < 0.1 ? 'short'
			: pack('C*', map { rand() < 0.5 ? 0 : int rand 256 } 1 .. $length))
	} @sure + 1 .. $nforged;
}

# Forged rows, packed as bytes, take the place of the day's.
sub forge
{
	my @all = map { [''] } @types;

	for my $i (grep { $types[$_][1] eq 'bytes' } 0 .. $#types)
	{
		$all[$i] = [
			map { pack('H*', $_) } split /\n/,
			$node->safe_psql(
				'zabbix', "SELECT encode(image(c$i), 'hex') FROM copy WHERE c$i IS NOT NULL")
		];
	}
	my @columns = map { [ forged_values($_, \@all) ] } 0 .. $#types;
	as_owner(
		join ";\n",
		map {
			my $row = $_;
			"INSERT INTO bytes VALUES ($row, $clock, 0, "
			  . join(', ', map { $_->[$row] } @columns) . ')'
		} 0 .. $nforged - 1);
	as_owner("CALL zbxhist.pack('bytes', '$day')");
	move_payload('bytes', 'legit');
}

# What the owner may do: the groups of one packed day become those of another.
sub move_payload
{
	my ($from, $to) = map { day_of($_) } @_;

	as_owner("BEGIN; DELETE FROM $to;"
		  . "INSERT INTO $to (first_itemid, first_clock, last_itemid, last_clock, nrows, payload)"
		  . " SELECT first_itemid, first_clock, last_itemid, last_clock, nrows, payload FROM $from; COMMIT"
	);
}

create_tables();
fill_legit();
as_owner("CALL zbxhist.pack('legit', '$day')");
is( $node->safe_psql(
		'zabbix',
		'SELECT count(*) FROM (TABLE legit) l FULL JOIN (TABLE copy) c'
		  . ' ON (l.itemid = c.itemid AND l::text = c::text) WHERE l IS NULL OR c IS NULL'
		  . ' AND coalesce(l.itemid, c.itemid) > 0'),
	0,
	'values of each type are packed and read');
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('legit')"),
	0, '... and found good');

forge();
$node->safe_psql('zabbix', 'CREATE TABLE states (itemid bigint, n integer, state text)');
for my $i (0 .. $#types)
{
	my ($type) = @{ $types[$i] };
	my $send = $node->safe_psql('zabbix',
			"SELECT t.typsend::regproc FROM pg_type t JOIN pg_attribute a ON a.atttypid = t.oid"
		  . " WHERE a.attrelid = 'legit'::regclass AND a.attname = 'c$i'");

	# what is printed is read back as the same, or it is a division by zero
	my $again = $no_text{$type} ? 1 : "1 / ((c$i\::text)::${type}::text = c$i\::text)::integer";

	$node->safe_psql('zabbix',
			"INSERT INTO states SELECT i, $i, state_of(format("
		  . "'SELECT c$i\::text, $send(c$i), $again FROM legit WHERE itemid = %s', i))"
		  . " FROM generate_series(0, $nforged - 1) i");
	is( $node->safe_psql(
			'zabbix',
			"SELECT string_agg(DISTINCT state, ' ' ORDER BY state) FROM states"
			  . " WHERE n = $i AND state NOT IN ('00000', 'XX001')"),
		'',
		"forged values of $type are values or XX001");
}
diag(
	$node->safe_psql(
		'zabbix',
		"SELECT string_agg(format('%s %s', state, count), ', ') FROM"
		  . ' (SELECT state, count(*) FROM states GROUP BY state ORDER BY state) x')) if $much > 1;
for my $i (grep { $broken{ $types[$_][0] } } 0 .. $#types)
{
	is( $node->safe_psql(
			'zabbix',
			"SELECT string_agg(state, ' ' ORDER BY itemid) FROM states WHERE n = $i AND itemid < 2"
		),
		'00000 XX001',
		"... the first of $types[$i][0] a value, the second none");
}

# rows that can be read in all their columns
my $good = "SELECT itemid FROM states GROUP BY itemid HAVING bool_and(state = '00000')";
as_owner('CREATE TABLE back (LIKE legit INCLUDING ALL)');
is( $node->safe_psql(
		'zabbix',
		"SELECT state_of('SELECT zbxhist_internal.unpack_rows(''"
		  . day_of('legit')
		  . "'', ''back'')')"),
	'XX001',
	'they are not unpacked');
is( $node->safe_psql(
		'zabbix',
		"SELECT sum(rows) FROM zbxhist_internal.salvage_rows('" . day_of('legit') . "', 'back')"),
	$nforged,
	'each row of them is salvaged or lost');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM ($good) g FULL JOIN back b USING (itemid)"
		  . ' WHERE g.itemid IS NULL OR b.itemid IS NULL'),
	0,
	'... which of both tells reading it');
move_payload('bytes', 'legit');

# ---- any statement on any bytes ----

my %tables =
  (history => 'double precision', history_uint => 'numeric(20)', history_str => 'varchar(255)');
my @statements = (
	'SELECT count(*), count(value), min(ns), max(clock) FROM %1$s',
	'SELECT min(value::text), max(value::text) FROM %1$s',
	'SELECT * FROM %1$s WHERE itemid = 2 ORDER BY clock DESC, ns DESC LIMIT 5',
	'SELECT * FROM %1$s WHERE itemid IN (1, 2, 3) AND clock BETWEEN %2$s + 100 AND %2$s + 40000',
	"SELECT * FROM zbxhist.range(NULL::%1\$s, 2, %2\$s + 50, %2\$s + 80000, 'desc')",
	"SELECT * FROM zbxhist.range(NULL::%1\$s, 1, 0, 2147483647, 'none', 3)",
	'SELECT * FROM zbxhist.last_values(NULL::%1$s, ARRAY[1, 2, 3], 3)',
	"SELECT * FROM zbxhist.minimum_time('%1\$s', 3)",
	"SELECT * FROM zbxhist.nearest(NULL::%1\$s, 2, %2\$s + 500, 0, 'less')",
	"SELECT count(*) FROM zbxhist_internal.verify_day('%3\$s')",
	'DELETE FROM %1$s WHERE itemid = 2',
	'DELETE FROM %1$s WHERE itemid = 1 AND clock < %2$s + 1000',
	'DELETE FROM %1$s WHERE clock %% 7 = 0',
	'UPDATE %1$s SET value = value WHERE itemid = 3 AND clock < %2$s + 5000',
	'INSERT INTO %1$s (itemid, clock, ns) VALUES (2, %2$s + 60, 5)',
	"INSERT INTO %1\$s (itemid, clock, ns) VALUES (1, %2\$s + 7, 1), (9, %2\$s, 1);"
	  . " SELECT zbxhist_internal.merge_rows('%1\$s', '%3\$s', %2\$s, %2\$s + 86400, 100)",
	"SELECT zbxhist_internal.unpack_rows('%3\$s', '%1\$s_back')",
	"SELECT * FROM zbxhist_internal.salvage_rows('%3\$s', '%1\$s_back')",
	'ANALYZE %1$s_packed');
my @numeric = (
	"SELECT * FROM zbxhist.statistics('%1\$s', 2, 0, 2147483647)",
	"SELECT * FROM zbxhist.buckets('%1\$s', 1, %2\$s, %2\$s + 86400, 10)");

# what else a statement may say: a key that is there already, or is twice in
# forged rows; more rows of a clock than there can be
my %allowed = map { $_ => 1 } qw(00000 XX001 23505 54000);

# nothing is salvaged of what says that a newer version has written it
my $newer = "state = '0A000' AND statement ~ 'salvage'";

$node->safe_psql('zabbix',
		'CREATE TABLE variants (n integer, place tid, payload bytea);'
	  . 'CREATE TABLE outcomes (n integer, statement text, state text)');

for my $table (sort keys %tables)
{
	my $packed = day_of($table);
	my $many = 60 * $much;

	as_owner("CREATE TABLE $table (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,"
		  . " value $tables{$table} NOT NULL DEFAULT '0', ns integer NOT NULL DEFAULT 0,"
		  . " PRIMARY KEY (itemid, clock, ns));"
		  . "SELECT zbxhist.create_parent('$table', pack_after => NULL), zbxhist.create_partition('$table', '$day');"
		  . "CREATE TABLE ${table}_back (LIKE $table INCLUDING ALL);"
		  . "INSERT INTO $table SELECT i, $clock + c * 60, (i + c % 30)::text::$tables{$table}, i * c % 100"
		  . " FROM generate_series(1, 4) i, generate_series(0, 1000) c;"
		  . "CALL zbxhist.pack('$table', '$day')");
	my @groups = map { [ split /\|/ ] } split /\n/,
	  $node->safe_psql('zabbix', "SELECT ctid, encode(payload, 'hex') FROM $packed");
	my @variants;
	for my $n (1 .. $many)
	{
		my ($tid, $hex) = @{ any(@groups) };
		my $bytes = pack('H*', $hex);
		my ($end) = segments_of($bytes);

		# the directory as often as what follows it
		my $changed =
		  rand() < 0.5
		  ? mutated(substr($bytes, 0, $end)) . substr($bytes, $end)
		  : substr($bytes, 0, $end) . mutated(substr($bytes, $end));

		$changed = with_checksums($changed) if rand() < 0.9;

		# one looks as if another server had it
		substr($changed, 3, 1) = chr(ARCHIVED) if $n == 1;
		push @variants, "($n, '$tid', " . literal($changed) . ')';
	}
	$node->safe_psql('zabbix',
		'TRUNCATE variants, outcomes;' . 'INSERT INTO variants VALUES ' . join(', ', @variants));
	my $all = join ', ', map { '$s$' . sprintf($_, $table, $clock, $packed) . '$s$' } @statements,
	  $table eq 'history_str' ? () : @numeric;
	$node->safe_psql('zabbix', <<"SQL");
DO \$\$
DECLARE
    variant record;
    outcome text[];
BEGIN
    FOR variant IN SELECT * FROM variants LOOP
        BEGIN
            SET LOCAL ROLE owner;
            EXECUTE 'UPDATE $packed SET payload = \$1 WHERE ctid = \$2' USING variant.payload, variant.place;
            RESET ROLE;
            outcome := ARRAY(SELECT state_of(s) FROM unnest(ARRAY[$all]) s);
            RAISE EXCEPTION USING ERRCODE = 'ZZ998';
        EXCEPTION WHEN SQLSTATE 'ZZ998' THEN
            NULL;
        END;
        INSERT INTO outcomes SELECT variant.n, s.s, s.state
          FROM unnest(ARRAY[$all], outcome) AS s (s, state);
    END LOOP;
END \$\$;
SQL
	my @outcomes = split /\n/,
	  $node->safe_psql('zabbix',
		"SELECT DISTINCT state FROM outcomes WHERE NOT ($newer) ORDER BY 1");
	is(join(' ', grep { !$allowed{$_} } @outcomes),
		'', "$table: every statement on any bytes gives rows or XX001");
	ok((grep { $_ eq '00000' } @outcomes) && (grep { $_ eq 'XX001' } @outcomes),
		"$table: ... and some give each");
	diag("$_")
	  for split /\n/,
	  $node->safe_psql('zabbix',
			"SELECT DISTINCT ON (statement, state) n, state, statement FROM outcomes"
		  . " WHERE state NOT IN ('00000', 'XX001', '23505', '54000') LIMIT 10");
	is( $node->safe_psql(
			'zabbix',
			"SELECT count(*) FROM outcomes WHERE statement ~ 'verify_day|salvage' AND state <> '00000' AND NOT ($newer)"
		),
		0,
		"$table: verifying and salvaging never fail");
}

# ---- whole days in the wrong place ----

is( $node->safe_psql('zabbix', "SELECT count(*), sum(value) FROM history"),
	'4004|' . (4 * 1001 * 2.5 + 4 * (33 * 435 + 55)),
	'rows before');
move_payload('history_str', 'history');
is($node->safe_psql('zabbix', "SELECT state_of('SELECT sum(value) FROM history')"),
	'XX001', 'strings in the place of doubles');
is($node->safe_psql('zabbix', "SELECT state_of('SELECT sum(ns) FROM history')"),
	'00000', '... do not hinder other columns');
move_payload('legit', 'history');
is($node->safe_psql('zabbix', "SELECT state_of('SELECT count(*) FROM history')"),
	'XX001', 'a day with more columns');

# the next day, packed in the place of the one before
my $next = POSIX::strftime('%Y-%m-%d', gmtime(day(0)));
as_owner("CREATE TABLE other (LIKE history INCLUDING ALL);"
	  . "SELECT zbxhist.create_parent('other', pack_after => NULL), zbxhist.create_partition('other', '$day');"
	  . "INSERT INTO other SELECT 1, $clock + i, i, 0 FROM generate_series(1, 100) i;"
	  . "CALL zbxhist.pack('other', '$day');"
	  . 'ALTER TABLE '
	  . day_of('other')
	  . ' DROP CONSTRAINT zbxhist_range;'
	  . "UPDATE zbxhist.packed_day SET from_clock = from_clock + 86400, to_clock = to_clock + 86400"
	  . " WHERE parent = 'other'::regclass");
is( $node->safe_psql(
		'zabbix',
		"SELECT DISTINCT regexp_replace(problem, '^.*: ', '') FROM zbxhist.verify('other')"),
	'clocks are not of this day',
	'values of another day are noticed');

# ---- a group that says that it has other rows ----

as_owner(
	"UPDATE zbxhist.packed_day SET from_clock = $clock, to_clock = $clock + 86400 WHERE parent = 'other'::regclass;"
	  . 'UPDATE '
	  . day_of('other')
	  . ' SET nrows = 1');
is( $node->safe_psql(
		'zabbix', "SELECT state_of('DELETE FROM other WHERE itemid = 1 AND value = 5')"),
	'XX001',
	'a DELETE of one row does not take the whole group with it');

# ---- the owner's code ----

$node->safe_psql('zabbix', 'CREATE TABLE ran (who name); GRANT INSERT ON ran TO PUBLIC');
as_owner(<<"SQL");
CREATE TYPE mood AS ENUM ('good');
CREATE FUNCTION spy(mood) RETURNS text LANGUAGE sql VOLATILE AS
'INSERT INTO public.ran VALUES (current_user) RETURNING ''spied''';
CREATE CAST (mood AS text) WITH FUNCTION spy(mood) AS ASSIGNMENT;
CREATE FUNCTION spy(integer) RETURNS boolean LANGUAGE sql VOLATILE AS
'INSERT INTO public.ran VALUES (current_user) RETURNING true';
CREATE DOMAIN watched AS integer CHECK (spy(VALUE));
CREATE TABLE bait (itemid bigint NOT NULL, clock integer NOT NULL, value text, number integer);
SELECT zbxhist.create_parent('bait', pack_after => NULL), zbxhist.create_partition('bait', '$day');
INSERT INTO bait VALUES (1, $clock, 'a', 1);
CALL zbxhist.pack('bait', '$day');
SQL
my $bait = day_of('bait');
as_owner("ALTER TABLE $bait ALTER value TYPE mood USING NULL");
is($node->safe_psql('zabbix', "SELECT state_of('SELECT value FROM bait')"),
	'XX001', 'a column that is made one of a type of the owner is not read');
as_owner("ALTER TABLE $bait ALTER value TYPE text; ALTER TABLE bait ALTER number TYPE watched;"
	  . 'ALTER TABLE bait ADD extra watched;'
	  . "ALTER FOREIGN TABLE bait_packed ALTER extra OPTIONS (ADD missing '7')");
is($node->safe_psql('zabbix', 'SELECT number, extra FROM bait'), '1|7', 'his conversions are run');
is($node->safe_psql('zabbix', 'SELECT DISTINCT who FROM ran'), 'owner',
	'... by nobody but himself');

# ---- types that cannot be checked ----

as_owner("CREATE TABLE trees (itemid bigint NOT NULL, clock integer NOT NULL, value tsquery)");
is( $node->safe_psql('zabbix', "SELECT zbxhist_internal.why_not_packable('trees')"),
	'column "value" has type tsquery, whose values cannot be packed',
	'a type that cannot be checked is not packed');

# as if one had been packed when it still could be
$node->safe_psql('zabbix',
		"CREATE TABLE queries AS SELECT image('a & b'::tsquery) AS value;"
	  . 'GRANT SELECT ON queries TO owner');
as_owner("CREATE TABLE old (itemid bigint NOT NULL, clock integer NOT NULL, value text);"
	  . "SELECT zbxhist.create_parent('old', pack_after => NULL), zbxhist.create_partition('old', '$day');"
	  . "INSERT INTO old SELECT 1, $clock, value::text FROM queries;"
	  . "CALL zbxhist.pack('old', '$day');"
	  . 'ALTER TABLE '
	  . day_of('old')
	  . ' ALTER value TYPE tsquery USING NULL');
my ($code, $out, $err) =
  psql_script($node, 'zabbix', "\\set VERBOSITY verbose\nSET ROLE owner; SELECT value FROM old;");
like(
	$err,
	qr/0A000: column "value" .* has type tsquery, whose packed values cannot be checked/,
	'one that has been packed is not read');

# ---- what a partition has that is none of its types ----

$node->safe_psql('zabbix', 'CREATE CAST (bytea AS text) WITHOUT FUNCTION');
as_owner("CREATE TABLE broken (itemid bigint NOT NULL, clock integer NOT NULL, value text);"
	  . "SELECT zbxhist.create_parent('broken', pack_after => NULL), zbxhist.create_partition('broken', '$day');"
	  . "INSERT INTO broken VALUES (1, $clock, 'good'), (2, $clock, '\\xff'::bytea::text)");
($code, $out, $err) =
  psql_script($node, 'zabbix', "SET ROLE owner; CALL zbxhist.pack('broken', '$day');");
like(
	$err,
	qr/values of item 2 at clock $clock are corrupt and cannot be packed/,
	'a damaged value is not packed');
is($node->safe_psql('zabbix', 'SELECT count(*) FROM broken'), 2, '... and its partition stays');

my $log = slurp_file($node->logfile);
is(join("\n", grep { /PANIC:|TRAP:|terminated by signal/ } split /\n/, $log),
	'', 'the server has not crashed');
$node->stop;
done_testing();
