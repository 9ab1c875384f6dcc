# Parts of packed days are damaged: bytes, rows, pages, the index, TOAST.
# zbxhist.salvage() keeps all readable rows, and nothing else, and reports what
# is lost: which items, which time, how many values.
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

my $node = test_server('salvage', without_checksums());
my $clock = day(-2);
my $day = POSIX::strftime('%Y-%m-%d', gmtime($clock));
my $page = 8192;

create_database($node, 'zabbix');

sub query { return $node->safe_psql('zabbix', $_[0]) }

sub day_of
{
	my ($table) = @_;

	return 'zbxhist_packed.' . partition($table, -2);
}

# A table of that type with a packed day: 40 items with a value in five
# minutes, or as the query says; and a copy of its rows.
sub make_table
{
	my ($table, $type, $rows) = @_;

	$rows //=
		"SELECT i, $clock + c * 300, 'value ' || i || ' of ' || md5((i * c)::text), (i * c) % 97"
	  . ' FROM generate_series(1, 40) i, generate_series(0, 287) c';
	query(  "CREATE TABLE $table (itemid bigint NOT NULL, clock integer NOT NULL,"
		  . " value $type NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));"
		  . "SELECT zbxhist.create_parent('$table', pack_after => '1 hour'), zbxhist.create_partition('$table', '$day');"
		  . "INSERT INTO $table $rows;"
		  . "CREATE TABLE ${table}_copy AS SELECT * FROM $table;"
		  . "CALL zbxhist.pack('$table', '$day')");
}

# The bytes of the group in which an item begins, and what they are made.
sub change_payload
{
	my ($table, $itemid, $change) = @_;
	my $packed = day_of($table);
	my ($tid, $hex) = split /\|/,
	  query("SELECT ctid, encode(payload, 'hex') FROM $packed WHERE first_itemid <= $itemid"
		  . ' ORDER BY first_itemid DESC, first_clock DESC LIMIT 1');

	query(  "UPDATE $packed SET payload = '\\x"
		  . unpack('H*', $change->(pack('H*', $hex)))
		  . "' WHERE ctid = '$tid'");
}

# Runs what verify() says, which is one command.
sub salvage_as_told
{
	my ($table) = @_;
	my ($code, $out, $err) =
	  psql_script($node, 'zabbix', "SELECT * FROM zbxhist.verify('$table');");
	my ($hint) = $err =~ /^HINT:  (.*)$/m;

	like(
		$hint // '',
		qr/^CALL zbxhist\.salvage\('\Q${\ day_of($table)}\E'::regclass\);$/,
		"$table: verify() says how to salvage it");
	($code, $out, $err) = psql_script($node, 'zabbix', $hint);
	is($code, 0, "$table: which succeeds");
	return $err;
}

# Where a row is, compared with a loss.
my $in_loss =
	'(c.itemid, c.clock) >= (l.first_itemid, l.first_clock) AND'
  . ' CASE WHEN l.is_end THEN (c.itemid, c.clock) <= (l.last_itemid, l.last_clock)'
  . ' ELSE (c.itemid, c.clock) < (l.last_itemid, l.last_clock) END';

# All rows but those that are told to be lost are there, so many; no others.
# Packed again, the day is as any other.
sub check_rest
{
	my ($table, $lost, $is_exact) = @_;
	my $all = query("SELECT count(*) FROM ${table}_copy");

	is( query(
			"SELECT count(*) FROM (SELECT * FROM $table EXCEPT ALL SELECT * FROM ${table}_copy) x"),
		0,
		"$table: nothing is invented");
	is(query("SELECT count(*) FROM $table"), $all - $lost, "$table: $lost of $all rows are lost");
	is( query(
			"SELECT count(*) FROM (SELECT * FROM ${table}_copy EXCEPT ALL SELECT * FROM $table) c"
			  . " WHERE NOT EXISTS (SELECT FROM zbxhist.lost_values l WHERE l.parent = '$table'::regclass AND $in_loss)"
		),
		0,
		"$table: ... and told where");
	is( query(
			"SELECT coalesce(sum(rows), 0) FROM zbxhist.lost_values WHERE parent = '$table'::regclass"
		),
		$lost,
		"$table: ... and how many") if $is_exact;
	is( query(
			"SELECT count(*) FROM zbxhist.maintenance_log WHERE parent = '$table'::regclass AND action = 'lost'"
		),
		query("SELECT count(*) FROM zbxhist.lost_values WHERE parent = '$table'::regclass"),
		"$table: ... and logged");
	my $before = totals($node, 'zabbix', $table);
	query("CALL zbxhist.run_maintenance('$table')");
	is( query(
			"SELECT count(*) FROM zbxhist.partitions WHERE parent = '$table'::regclass AND kind = 'packed'"
		),
		1,
		"$table: the day is packed again");
	is(totals($node, 'zabbix', $table), $before, "$table: ... with its rows");
	is(query("SELECT count(*) FROM zbxhist.verify('$table')"), 0, "$table: ... and is found good");
}

# ---- a segment, and a directory ----

make_table('segment', 'text');
change_payload(
	'segment',
	5,
	sub {
		my ($bytes) = @_;
		my ($end, @segments) = segments_of($bytes);

		substr($bytes, $segments[1][0] + 20, 1) ^= "\x10";
		return $bytes;
	});
my ($code, $out, $err) = psql_script($node, 'zabbix', "CALL zbxhist.unpack('segment', '$day');");
like(
	$err,
	qr/are corrupt.*SELECT \* FROM zbxhist\.verify\('public\.segment'\);/s,
	'a damaged day is not unpacked, and it is said what to do');
$err = salvage_as_told('segment');
my ($rows, $item, $from, $to, $problem) = split /\|/,
  query("SELECT rows, first_itemid, first_clock, last_clock, problem FROM zbxhist.lost_values");
is($problem, 'wrong checksum', 'one segment is lost');
like(
	$err,
	qr/WARNING:  lost: $rows values of item $item from [-0-9]+ [:0-9]+ UTC to [-0-9]+ [:0-9]+ UTC: wrong checksum/,
	'... which is printed');
is( query("SELECT count(*) FROM segment_copy WHERE itemid = $item AND clock BETWEEN $from AND $to"),
	$rows, '... which are exactly those');
is(query("SELECT count(*) FROM zbxhist.lost_values WHERE bytes IS NOT NULL"),
	1, '... and whose bytes are kept');
check_rest('segment', $rows, 1);
is( query(
		"SELECT string_agg(code, ' ') FROM zbxhist.check() WHERE code IN ('lost_values', 'damaged_day')"
	),
	'lost_values',
	'check() tells of what is kept');

make_table('directory', 'text');
change_payload('directory', 20, sub { return substr($_[0], 0, 14) . "\xFF" . substr($_[0], 15) });
my $lost =
  query('SELECT nrows FROM '
	  . day_of('directory')
	  . ' WHERE first_itemid <= 20 ORDER BY first_itemid DESC, first_clock DESC LIMIT 1');
salvage_as_told('directory');
check_rest('directory', $lost, 1);

# ---- the columns of a group's row ----

make_table('counts', 'text');
query(  'ALTER TABLE '
	  . day_of('counts')
	  . ' DROP CONSTRAINT zbxhist_range;'
	  . 'UPDATE '
	  . day_of('counts')
	  . ' SET nrows = 2147483647, last_clock = 5 WHERE first_itemid = 1 AND first_clock = '
	  . $clock);
($code, $out, $err) = psql_script($node, 'zabbix', 'SELECT count(*) FROM counts;');
like($err, qr/are corrupt/, 'counts that are wrong are noticed');
salvage_as_told('counts');
check_rest('counts', 0, 1);

# ---- values ----

# of 20 rows of two items the value is no text
make_table('bytes', 'bytea',
		"SELECT i, $clock + c, CASE WHEN i IN (2, 3) AND c BETWEEN 100 AND 109 THEN '\\xff'"
	  . " ELSE convert_to('value ' || i, 'UTF8') END, 0 FROM generate_series(1, 5) i, generate_series(0, 287) c"
);
make_table('texts', 'text',
	"SELECT i, $clock + c, 'value ' || i, 0 FROM generate_series(1, 5) i, generate_series(0, 287) c"
);
query(  'DELETE FROM '
	  . day_of('texts') . ';'
	  . 'INSERT INTO '
	  . day_of('texts')
	  . ' (first_itemid, first_clock, last_itemid, last_clock, nrows, payload)'
	  . ' SELECT first_itemid, first_clock, last_itemid, last_clock, nrows, payload FROM '
	  . day_of('bytes'));
salvage_as_told('texts');
is( query(
		"SELECT string_agg(format('%s %s %s %s', first_itemid, first_clock - $clock, last_clock - $clock, rows), ', '"
		  . " ORDER BY first_itemid) FROM zbxhist.lost_values WHERE parent = 'texts'::regclass"),
	'2 100 109 10, 3 100 109 10',
	'only the rows that have bad values are lost');
check_rest('texts', 20, 1);

# ---- the same rows twice, and a group in the wrong day ----

make_table('twice', 'text');
my $overlap =
  query('SELECT nrows FROM ' . day_of('twice') . ' ORDER BY first_itemid, first_clock LIMIT 1');
query(  'INSERT INTO '
	  . day_of('twice')
	  . ' (first_itemid, first_clock, last_itemid, last_clock, nrows, payload)'
	  . ' SELECT first_itemid - 1, first_clock, last_itemid, last_clock, nrows, payload FROM '
	  . day_of('twice')
	  . ' ORDER BY first_itemid, first_clock LIMIT 1');
salvage_as_told('twice');
like(
	query(
		"SELECT string_agg(DISTINCT problem, ',') FROM zbxhist.lost_values WHERE parent = 'twice'::regclass"
	),
	qr/^duplicate key value violates unique constraint/,
	'a row that is there already is passed over');
is(query("SELECT sum(rows) FROM zbxhist.lost_values WHERE parent = 'twice'::regclass"),
	$overlap, '... which is told of all of them');
query(  "DELETE FROM zbxhist.lost_values WHERE parent = 'twice'::regclass;"
	  . "DELETE FROM zbxhist.maintenance_log WHERE parent = 'twice'::regclass AND action = 'lost'");
check_rest('twice', 0, 1);

# a value that is stored out of line

make_table('toasted', 'text',
		"SELECT i, $clock + c, CASE WHEN i = 3 AND c = 1 THEN (SELECT string_agg(md5(g::text), '')"
	  . " FROM generate_series(1, 1000) g) ELSE 'short' END, 0 FROM generate_series(1, 5) i, generate_series(0, 9) c"
);

# ---- pages ----

make_table($_, 'text')
  for qw(page_header page_zero page_tuple page_end page_merged page_index page_both);

# a day that has been written anew in part: its index has older groups, too
query("INSERT INTO page_merged SELECT i, $clock + 100, 'late', 0 FROM generate_series(1, 40, 7) i;"
	  . "INSERT INTO page_merged_copy SELECT i, $clock + 100, 'late', 0 FROM generate_series(1, 40, 7) i;"
	  . "SELECT zbxhist_internal.run_step('page_merged', 'merge', '"
	  . day_of('page_merged')
	  . "');");
query('CHECKPOINT');
my %file = map { $_ => query("SELECT pg_relation_filepath('" . day_of($_) . "')") }
  qw(page_header page_zero page_tuple page_end page_merged page_both);
my %index = map {
	$_ => query("SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indrelid = '"
		  . day_of($_)
		  . "'::regclass")
} qw(page_index page_both);
my $toast =
  query("SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = '"
	  . day_of('toasted')
	  . "'::regclass");
my %blocks = map { $_ => query("SELECT pg_relation_size('" . day_of($_) . "') / 8192") } keys %file;

# rows of the groups in some pages, as the directory tells
sub rows_in
{
	my ($table, $condition) = @_;

	return query('SELECT coalesce(sum(nrows), 0) FROM '
		  . day_of($table)
		  . " WHERE (ctid::text::point)[0] $condition");
}

my %lost = (
	page_header => rows_in('page_header', '= 1'),
	page_zero => rows_in('page_zero', '= 1'),
	page_end => rows_in('page_end', ">= $blocks{page_end} - 2"),
	page_tuple => rows_in('page_tuple', '= 2'),
	page_merged => rows_in('page_merged', "= $blocks{page_merged} - 1"),
	page_index => 0,
	toasted => 1,
	page_both => rows_in('page_both', '= 1'));

# Writes bytes over those of a file.
sub write_over
{
	my ($file, $at, $bytes) = @_;

	open(my $handle, '+<:raw', $node->data_dir . "/$file") or die "$file: $!";
	seek($handle, $at, 0);
	print $handle $bytes;
	close($handle);
}

$node->stop;
write_over($file{page_header}, $page, "\xFF" x 24);
write_over($file{page_zero}, $page, "\0" x $page);

# the row's length word, which says that it is as long as can be
{
	open(my $handle, '<:raw', $node->data_dir . "/$file{page_tuple}") or die $!;
	seek($handle, 2 * $page, 0);
	read($handle, my $bytes, $page);
	close($handle);
	my ($item) = unpack('V', substr($bytes, 24, 4));
	my $start = $item & 0x7FFF;
	my $header = ord substr($bytes, $start + 22, 1);

	write_over($file{page_tuple}, 2 * $page + $start + $header + 32, pack('V', 0xFFFFFFFC));
}
truncate($node->data_dir . "/$file{page_end}", ($blocks{page_end} - 2) * $page);
write_over($file{page_merged}, ($blocks{page_merged} - 1) * $page, "\xFF" x 24);
write_over($index{page_index}, $page, "\xFF" x 24);
write_over($toast, 0, "\xFF" x 24);
write_over($file{page_both}, $page, "\xFF" x 24);
write_over($index{page_both}, $page, "\xFF" x 24);
$node->start;

for my $table (sort keys %lost)
{
	cmp_ok($lost{$table}, '>', 0, "$table: there is something to lose") if $table ne 'page_index';
	salvage_as_told($table);
	check_rest($table, $lost{$table}, $table =~ /page_tuple|page_index|toasted/)
	  if $table ne 'page_both';
}
is( query(
			"SELECT count(*) FROM zbxhist.lost_values WHERE parent = 'page_header'::regclass"
		  . " AND problem ~ 'invalid page' AND length(bytes) = $page"),
	1,
	'the bytes of a page that cannot be read are kept');

# neither the page nor the index
is( query(
		'SELECT count(*) FROM (SELECT * FROM page_both EXCEPT ALL SELECT * FROM page_both_copy) x'),
	0,
	'page_both: nothing is invented');
is( query('SELECT count(*) FROM page_both'),
	query('SELECT count(*) FROM page_both_copy') - $lost{page_both},
	'page_both: what can be read is kept');
is( query(
		"SELECT first_itemid IS NULL, problem FROM zbxhist.lost_values WHERE parent = 'page_both'::regclass"
	) =~ /^t\|page 1: invalid page/ ? 1 : 0,
	1,
	'page_both: that it is not known what is lost is told');

# ---- maintenance comes upon a damaged day ----

make_table('begun', 'text');
change_payload('begun', 20, sub { return substr($_[0], 0, 14) . "\xFF" . substr($_[0], 15) });
$lost =
  query('SELECT nrows FROM '
	  . day_of('begun')
	  . ' WHERE first_itemid <= 20 ORDER BY first_itemid DESC, first_clock DESC LIMIT 1');
query("SELECT zbxhist_internal.step_unpack('begun', '" . day_of('begun') . "')");
query("CALL zbxhist.run_maintenance('begun')");
is( query("SELECT hint FROM zbxhist.check() WHERE code = 'damaged_day'"),
	"CALL zbxhist.salvage('" . day_of('begun') . "'::regclass);",
	'check() tells of a day that maintenance has found damaged');
salvage_as_told('begun');
check_rest('begun', $lost, 1);
is(query("SELECT count(*) FROM zbxhist.check() WHERE code = 'damaged_day'"), 0, '... no more');

# ---- nothing is damaged; and what is no packed day ----

make_table(
	'sound',
	'double precision',
	"SELECT i, $clock + c, i / 8.0 + c, 0 FROM generate_series(1, 5) i, generate_series(0, 287) c");
($code, $out, $err) =
  psql_script($node, 'zabbix', 'CALL zbxhist.salvage(\'' . day_of('sound') . "');");
like(
	$err,
	qr/^psql:.*NOTICE:  all 1440 values of packed day \S+ can be read$/m,
	'a day that is not damaged is unpacked');
check_rest('sound', 0, 1);
($code, $out, $err) =
  psql_script($node, 'zabbix', "\\set VERBOSITY verbose\nCALL zbxhist.salvage('sound');");
like(
	$err,
	qr/ERROR:  55000: .*HINT:  SELECT \* FROM zbxhist\.partitions WHERE [^\n]*;\n/s,
	'what is no packed day is refused');

my $log = slurp_file($node->logfile);
is(join("\n", grep { /PANIC:|TRAP:|terminated by signal/ } split /\n/, $log),
	'', 'the server has not crashed');
$node->stop;
done_testing();
