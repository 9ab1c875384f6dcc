# Runs whose pages, or values out of line, cannot be read: no INSERT of that time
# fails, keys that can be read are known, and the rest is merged.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node =
  test_server('damaged_runs', without_checksums(), max_worker_processes => 0);
my $page = 8192;

create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');

sub query { return $node->safe_psql('zabbix', @_); }

my %day;
for my $table (qw(history history_str history_text history_uint))
{
	query(
		"SELECT zbxhist.create_parent('$table', '1 hour', retention => '200 years', pack_after => '1 hour', ingest => 'runs');"
	);
	$day{$table} =
	  query("SELECT zbxhist_internal.create_runs('$table', 864000, 867600)");
}

# the value of item 3 is out of line
query(
	"INSERT INTO history_text (itemid,clock,ns,value) SELECT i, 864000 + i, 0,"
	  . " CASE i WHEN 3 THEN (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 1000) g) ELSE 'short' END"
	  . ' FROM generate_series(1, 5) i');

# several pages; the second one is going to be damaged
query(
	"INSERT INTO history (itemid,clock,ns,value) SELECT i, 864000 + i % 100, i, sqrt(i) FROM generate_series(1, 4000) i"
);
cmp_ok(query("SELECT pg_relation_size('$day{history}') / $page"),
	'>=', 3, 'there are pages');
my $hit = query(
	"SELECT first_itemid FROM $day{history} WHERE (ctid::text::point)[0] = 1 LIMIT 1"
);

# the first two runs of a batch
query(
	"INSERT INTO history_uint (itemid,clock,ns,value) SELECT i, 864000 + i % 100, $_, abs(hashint8extended(i, $_)) FROM generate_series(1, 100) i"
) for 1 .. 70;
query("SELECT zbxhist_internal.merge_runs('$day{history_uint}')");
my @merged_runs = map { [ split /,/ ] } split /\n/,
  query(
	"SELECT concat_ws(',', trim('()' FROM ctid::text), first_itemid, last_itemid) FROM $day{history_uint} WHERE batch IS NOT NULL ORDER BY first_itemid LIMIT 2"
  );

# two batches; the last run of the newer one is going to lose its batch
for my $batch (1 .. 2)
{
	query(
		"INSERT INTO history_str (itemid,clock,ns,value) SELECT i, 864000 + i, $batch * 100 + $_, 'v' FROM generate_series(1, 9) i"
	) for 1 .. 70;
	query("SELECT zbxhist_internal.merge_runs('$day{history_str}')");
}
my @lost = split /,/,
  query(
	"SELECT trim('()' FROM ctid::text) FROM $day{history_str} ORDER BY batch DESC, last_itemid DESC, first_itemid DESC LIMIT 1"
  );
query('CHECKPOINT');
my $str = query("SELECT pg_relation_filepath('$day{history_str}')");
my $merged = query("SELECT pg_relation_filepath('$day{history_uint}')");
my $file = query("SELECT pg_relation_filepath('$day{history}')");
my $toast = query(
	"SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = '$day{history_text}'::regclass"
);

# Writes bytes over those of a file.
sub write_over
{
	my ($name, $at, $bytes) = @_;

	open(my $handle, '+<:raw', $node->data_dir . "/$name")
	  or die "$name: $!";
	seek($handle, $at, 0);
	print $handle $bytes;
	close($handle);
	return;
}

# The bytes of a file.
sub read_at
{
	my ($name, $at, $length) = @_;

	open(my $handle, '<:raw', $node->data_dir . "/$name")
	  or die "$name: $!";
	seek($handle, $at, 0);
	read($handle, my $bytes, $length);
	close($handle);
	return $bytes;
}

# Where the header of a row of a page begins.
sub start_of_header
{
	my ($name, $block, $row) = @_;
	my $pointer =
	  unpack('L', read_at($name, $block * $page + 24 + 4 * ($row - 1), 4));

	return $block * $page + ($pointer & 0x7FFF);
}

# Where a row begins: behind its header and null bits.
sub start_of_row
{
	my ($name, $block, $row) = @_;
	my $at = start_of_header($name, $block, $row);

	return $at + unpack('C', read_at($name, $at + 22, 1));
}

$node->stop;

# the length of a run: far beyond its row; the batch is behind it
write_over(
	$merged,
	start_of_row($merged, @{ $merged_runs[0] }[ 0, 1 ]) + 32,
	pack('L', unpack('S', "\1\0") == 1 ? 0xFFFFFFFC : 0x3FFFFFFF));

# the last item of a run, which the index has as it was
write_over(
	$merged,
	start_of_row($merged, @{ $merged_runs[1] }[ 0, 1 ]) + 16,
	pack('q', $merged_runs[1][2]));

# the null bits of a run: those of the first seven columns are known to be set
my $bits = start_of_header($str, @lost) + 23;
is(unpack('C', read_at($str, $bits, 1)), 0x7F, 'a run has a batch');
write_over($str, $bits, pack('C', 0x3F));
write_over($file, $page, "\xFF" x 24);
write_over($toast, 0, "\xFF" x 24);
$node->start;

# The outcome of statements in one session: "stored" or the SQLSTATE of each.
sub outcomes
{
	my (@statements) = @_;
	my ($result, $out, $err) = $node->psql(
		'zabbix',
		join("\n", '\set VERBOSITY sqlstate', map { "$_;" } @statements),
		on_error_stop => 0);

	return join ' ', map { /ERROR: +(\w+)/ ? $1 : () } split /\n/, $err;
}

is( outcomes(
		"INSERT INTO history_text (itemid,clock,ns,value) VALUES (3,864003,0,'again'),(4,864004,1,'x')",
		"INSERT INTO history_text (itemid,clock,ns,value) VALUES (3,864003,1,'x')",
		"INSERT INTO history_text (itemid,clock,ns,value) VALUES (3,864003,2,'x') RETURNING itemid",
		"INSERT INTO history_text (itemid,clock,ns,value) VALUES (2,864002,0,'x')",
		"INSERT INTO history_text (itemid,clock,ns,value) VALUES (3,864003,1,'x')"
	),
	'23505 23505',
	'a value out of line that cannot be read fails nothing but duplicates of others'
);
is( outcomes(
		"INSERT INTO history (itemid,clock,ns,value) SELECT $hit, 864000 + $hit % 100, $hit, 1",
		"INSERT INTO history (itemid,clock,ns,value) VALUES (1,864001,-1,1),(2,864002,-1,2)",
		"INSERT INTO history (itemid,clock,ns,value) SELECT i, 864000 + i % 100, -2, 1 FROM generate_series(1, 3000) i",
		"INSERT INTO history (itemid,clock,ns,value) VALUES (1,864001,-3,1) RETURNING itemid"
	),
	'',
	'nor does a page that cannot be read');
is( outcomes(
		"INSERT INTO history_uint (itemid,clock,ns,value) VALUES (1,864001,-1,1),(90,864090,-1,1)",
		"INSERT INTO history_uint (itemid,clock,ns,value) VALUES ($merged_runs[1][3],864000,-1,1)",
		"INSERT INTO history_uint (itemid,clock,ns,value) VALUES (90,864090,1,1)",
		"INSERT INTO history_uint (itemid,clock,ns,value) VALUES (1,864001,-2,1) RETURNING itemid"
	),
	'23505',
	'nor do runs of a batch that are damaged, and keys behind them are found'
);
is( query('SELECT count(*), sum(ns) FROM history_str WHERE itemid = 1'),
	'140|' . (70 * 71 + 70 * 300),
	'older batches are read if a run has lost its batch');
like(
	query(
		"SELECT string_agg(problem, ';') FROM zbxhist.verify('history_str')"),
	qr/the run is newer than its batch/,
	'... which verify tells');
is( outcomes(
		"INSERT INTO history_str (itemid,clock,ns,value) VALUES (1,864001,101,'x')"
	),
	'23505',
	'... and older keys are found');
is( () =
	  slurp_file($node->logfile) =~
	  /could not look for keys in "history_p19700111_0000": invalid page/g,
	1,
	'the log says so, once in a session');

# ... and once more when what it remembered is of no use any more
cmp_ok(
	() =
	  slurp_file($node->logfile) =~
	  /could not look for keys in "history_text_p19700111_0000": a run is corrupt/g,
	'<=', 2, '... of either');

query(
	"INSERT INTO history_text (itemid,clock,ns,value) VALUES (10,864010,$_,'x')"
) for 1 .. 70;
query("SELECT zbxhist_internal.merge_runs('$day{history_text}')");
cmp_ok(query("SELECT count(*) FROM $day{history_text}"),
	'<', 10, 'the rest is merged');
$node->stop;
done_testing();
