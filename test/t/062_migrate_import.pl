# Rows of other tables, such as history_old of Zabbix's own upgrade, are packed
# directly into days while values are written: also after interruptions, with
# duplicate keys, and into days that already have rows.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $node = test_server('import');
my $old_rows = 60000;

$node->safe_psql('postgres', 'CREATE ROLE zabbix LOGIN; CREATE ROLE other LOGIN');
create_database($node, 'zabbix', 'zabbix');
$node->safe_psql('zabbix', 'SET ROLE zabbix; CREATE EXTENSION zbxhist_migrate');
create_zabbix_tables($node, 'zabbix', 'zabbix');

# As the owner of the tables, who is no superuser.
sub sql { return sql_as($node, 'zabbix', 'zabbix', @_) }
sub messages_of { return messages_as($node, 'zabbix', 'zabbix', @_) }

# Everything that has been written, by whom ever, is in the plain table, too.
sub is_like_plain
{
	my ($table, $name) = @_;

	is( totals($node, 'zabbix', $table),
		totals($node, 'zabbix', "plain_$table"),
		"$name: every row is there once, as it was");
}

# ---- tables of before: without a key, in the order of time, mostly ----

my %value = (
	history => 'i / 8.0',
	history_uint => '18446744073709551615 - i',
	history_str => "'value ' || i % 9",
	history_text => "repeat(md5(i::text), CASE i % 5000 WHEN 0 THEN 900 ELSE 1 END)");
for my $table (sort keys %value)
{
	sql(    "CREATE TABLE ${table}_old (LIKE $table INCLUDING DEFAULTS);"
		  . "CREATE TABLE plain_$table (LIKE $table INCLUDING ALL);"
		  . "INSERT INTO ${table}_old (itemid, clock, value, ns)"
		  . " SELECT i % 70, ${\ day(-9)} + i * 13 + (i * 7919) % 900, $value{$table}, i % 1000000000"
		  . " FROM generate_series(1, $old_rows) i;"
		  . "INSERT INTO plain_$table SELECT * FROM ${table}_old");
}
sql(    "CREATE TABLE trends_old (LIKE trends INCLUDING DEFAULTS);"
	  . 'CREATE TABLE plain_trends (LIKE trends INCLUDING ALL);'
	  . "INSERT INTO trends_old SELECT i % 10, ${\ day(-100)} + i / 10 * 3600, 60, i, i + 1, i + 2 FROM generate_series(1, 20000) i;"
	  . 'INSERT INTO plain_trends SELECT * FROM trends_old');
sql("SELECT * FROM zbxhist.setup()");

# keys that are there twice, and rows that are there already, some with others' values
sql(    "INSERT INTO history_old SELECT * FROM history_old WHERE ns <= 300;"
	  . 'INSERT INTO history SELECT itemid, clock, -1, ns FROM history_old WHERE ns BETWEEN 501 AND 600;'
	  . 'INSERT INTO history SELECT itemid, clock, -1, ns FROM history_old WHERE ns BETWEEN 59901 AND 59910;'
	  . 'UPDATE plain_history SET value = -1 WHERE ns BETWEEN 501 AND 600 OR ns BETWEEN 59901 AND 59910'
);

# ---- what is refused ----

like(
	messages_of("CALL zbxhist.import('history_old', 'history_old')"),
	qr/table public\.history_old is not managed by zbxhist/,
	'only managed tables get rows');
like(
	messages_of("CALL zbxhist.import('history', 'history')"),
	qr/cannot import public\.history: it is managed by zbxhist/,
	'... of tables that are not');
like(
	messages_of("CALL zbxhist.import('history_old', 'history_uint')"),
	qr/column "value" of table public\.history_old is of type double precision, not numeric/,
	'... with the same columns');
like(
	messages_of("CALL zbxhist.import('trends_old', 'history')"),
	qr/table public\.trends_old has no column "value"/,
	'... all of them');
like(
	messages_of("CALL zbxhist.import('history_old', 'history', 0)"),
	qr/rows_a_second must be greater than zero/,
	'... at a rate that is one');
$node->safe_psql('zabbix', 'CREATE TABLE others (LIKE history); ALTER TABLE others OWNER TO other');
like(
	messages_of("CALL zbxhist.import('others', 'history')"),
	qr/may not read table public\.others\nHINT:  GRANT SELECT ON public\.others TO zabbix;/,
	'... and that the owner may read');

# ---- the plan ----

like(
	messages_of("CALL zbxhist.import('history_old', 'history', dry_run => true)"),
	qr/would import 60300 rows of table public\.history_old into table public\.history: ${\ date(-9)} to ${\ date(1)}, 1\d parts, of which \d+ are packed straight away/,
	'a dry run says what there is');
is(sql('SELECT count(*) FROM zbxhist.import_slice'), 0, '... and does nothing');

# ---- while values are written ----

my $item = 1000000;
my $enough = $node->basedir . '/enough';
my $stream = in_background(
	$node, 'zabbix', 'values', 0, 3,
	sub {
		my ($client, $counts) = @_;
		my $rows = value_rows($item, 100, time() - (rand() < 0.3 ? 86400 * 5 : 0));

		$item += 100;
		my $result =
		  $client->query("begin; insert into history (itemid,clock,ns,value) values $rows;"
			  . " insert into plain_history (itemid,clock,ns,value) values $rows;"
			  . ' commit');
		$counts->{"error $_"}++ for @{ $result->{errors} };
		$client->query('rollback') if @{ $result->{errors} };
		Time::HiRes::sleep(0.01);
	},
	rounds_after(20, $enough));

# cancelled, killed with its connection, and with the server
my $slow = "CALL zbxhist.import('history_old', 'history', rows_a_second => 6000)";
for my $how ('cancel', 'terminate')
{
	my $file = $node->basedir . "/$how.out";
	my $done = sql('SELECT count(done_at) FROM zbxhist.import_slice');
	my $pid = start_psql($node, 'zabbix', $file, sub { print { $_[0] } "$slow;\n" });

	ok( $node->poll_query_until(
			'zabbix', "SELECT count(done_at) >= $done + 2 FROM zbxhist.import_slice"),
		"$how: days are imported");
	$node->safe_psql('zabbix',
		"SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL zbxhist.import%'"
	);
	isnt(wait_for_end($pid), 0, "... and no more after the ${how}ing");
}
append_to_file($enough, '');
wait_for_end($stream);
unlike(outcome_of($node, 'values'), qr/error|lost/, 'no INSERT has failed meanwhile');
my $pid =
  start_psql($node, 'zabbix', $node->basedir . '/kill.out', sub { print { $_[0] } "$slow;\n" });
my $done = sql('SELECT count(done_at) FROM zbxhist.import_slice');
$node->poll_query_until('zabbix', "SELECT count(done_at) > $done FROM zbxhist.import_slice");
kill_server($node);
wait_for_end($pid);
start_after_crash($node);
$done = sql('SELECT count(done_at) FROM zbxhist.import_slice');
cmp_ok($done, '>', 4, 'what is done is done, after a crash, too');
sql('DROP EXTENSION zbxhist_migrate; CREATE EXTENSION zbxhist_migrate');
is(sql('SELECT count(done_at) FROM zbxhist.import_slice'), $done, '... and without the extension');
my $messages = messages_of("CALL zbxhist.import('history_old', 'history')");
like(
	$messages,
	qr/all 60300 rows of table public\.history_old are in table public\.history: 59890 were stored, 410 were skipped because their keys existed/,
	'the next call goes on, and compares');
unlike($messages, qr/DROP/, '... and does not advise to drop what is nowhere else');
my ($look) =
  $messages =~ /may have data that is nowhere else.*\n.*other values.*\nHINT:  (SELECT .*);/;
is(sql("SELECT count(*) FROM ($look) r"), 110, '... but to look at it');
is(sql("SELECT sum(rows_read), count(*) - count(done_at) FROM zbxhist.import_slice"),
	'60300|0', 'every row was read once');
is_like_plain('history', 'imported');
cmp_ok(sql("SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass"),
	'>=', 7, 'days are packed');
maintain($node, 'zabbix', 'zabbix') for 1 .. 2;
is_like_plain('history', 'after maintenance');
is(rows_of($node, 'zabbix', "ONLY history WHERE clock < ${\ day(-1)}"),
	0, '... which has merged what came meanwhile');
is(sql("SELECT count(*) FROM zbxhist.verify('history')"), 0, 'all packed days are sound');
like(
	messages_of("INSERT INTO history SELECT * FROM history_old LIMIT 1"),
	qr/duplicate key value/,
	'keys are unique');

# ---- again, and with rows that came later ----

sql("INSERT INTO history_old VALUES (5, ${\ day(-4)}, 5, 5)");
sql("INSERT INTO plain_history VALUES (5, ${\ day(-4)}, 5, 5)");
$messages = messages_of("CALL zbxhist.import('history_old', 'history')");
like(
	$messages,
	qr/all 60301 rows .*: 1 were stored, 60300 were skipped/,
	'a second import stores what is new only');
is_like_plain('history', 'again');

# ---- the other types, and months ----

for my $table (qw(history_uint history_str history_text))
{
	like(
		messages_of("CALL zbxhist.import('${table}_old', '$table')"),
		qr/all $old_rows rows .* $old_rows were stored, 0 were skipped.*\n.*is no longer needed\nHINT:  DROP TABLE public\.${table}_old;/,
		"$table is imported");
	is_like_plain($table, $table);
}
like(
	messages_of("CALL zbxhist.import('trends_old', 'trends')"),
	qr/all 20000 rows .* 20000 were stored/,
	'trends are imported');
is_like_plain('trends', 'trends');
is( sql("SELECT count(*) > 1 FROM zbxhist.packed_day WHERE parent = 'trends'::regclass AND to_clock - from_clock > 27 * 86400"
	),
	't',
	'... as months');

# ---- a partitioned table; one whose rows are of far away ----

sql(    "CREATE TABLE parted (LIKE history INCLUDING DEFAULTS) PARTITION BY RANGE (clock);"
	  . 'CREATE TABLE parted_a PARTITION OF parted DEFAULT;'
	  . "INSERT INTO parted SELECT 7, c, 7, 7 FROM unnest(ARRAY[-2147483648, -1, 0, 1000000000, 2147483647, ${\ day(-40)}]) c;"
	  . 'INSERT INTO plain_history SELECT * FROM parted');
like(
	messages_of("CALL zbxhist.import('parted', 'history')"),
	qr/all 6 rows .*: 6 were stored/,
	'a partitioned table, and clocks of all times');
is_like_plain('history', 'clocks of all times');

# ---- slices are made of clocks that rows have; each row needs one ----

sql("CREATE TABLE far_old (LIKE history INCLUDING DEFAULTS); ALTER TABLE far_old ALTER clock DROP NOT NULL;"
	  . "INSERT INTO far_old SELECT 8, ${\ day(-43)} + i * 60, i, 8 FROM generate_series(1, 3000) i;"
	  . 'INSERT INTO far_old SELECT 8, c, 8, 8 FROM unnest(ARRAY[2, 2147483647, NULL]) c;'
	  . 'INSERT INTO plain_history SELECT * FROM far_old WHERE clock IS NOT NULL');
for my $dry_run ('true', 'false')
{
	like(
		messages_of("CALL zbxhist.import('far_old', 'history', dry_run => $dry_run)"),
		qr/cannot import public\.far_old: rows without a clock: 1\n.*SELECT \* FROM public\.far_old WHERE clock IS NULL;/s,
		"a row without a clock is refused, dry run: $dry_run");
}
sql('DELETE FROM far_old WHERE clock IS NULL');
like(
	messages_of("CALL zbxhist.import('far_old', 'history', dry_run => true)"),
	qr/would import 3002 rows .* 5 parts/,
	'a clock of long ago and one to come are a part each');
like(
	messages_of("CALL zbxhist.import('far_old', 'history')"),
	qr/all 3002 rows .*: 3002 were stored/,
	'... and imported');
is_like_plain('history', 'two clocks that are far away');

# ---- tables that are never packed get partitions ----

sql(    "CREATE TABLE unpacked (itemid bigint NOT NULL, clock integer NOT NULL, value text);"
	  . "CREATE TABLE unpacked_old (LIKE unpacked); CREATE TABLE plain_unpacked (LIKE unpacked);"
	  . "SELECT zbxhist.create_parent('unpacked');"
	  . "INSERT INTO unpacked_old SELECT i % 5, ${\ day(-3)} + i / 2, 'x' FROM generate_series(1, 9000) i;"
	  . 'INSERT INTO plain_unpacked SELECT * FROM unpacked_old');
like(
	messages_of("CALL zbxhist.import('unpacked_old', 'unpacked')"),
	qr/all 9000 rows .*: 9000 were stored, 0 were skipped/,
	'without a key, every row is kept');
is_like_plain('unpacked', 'without a key, and never packed');

# ---- what would be lost with the other table ----

sql(    "CREATE TABLE more_old (LIKE history, note text, \"NO TE\" text);"
	  . "INSERT INTO more_old SELECT 1, ${\ day(-200)} + i, i, 0, 'n', 'n' FROM generate_series(1, 10) i;"
	  . "CREATE TABLE more (LIKE history INCLUDING ALL); SELECT zbxhist.create_parent('more', retention => '100 days')"
);
like(
	messages_of("CALL zbxhist.import('more_old', 'more', dry_run => true)"),
	qr/deletes what is older than 100 days \(policy\): 1 of these parts/,
	'an import of what is past retention says so');
$messages = messages_of("CALL zbxhist.import('more_old', 'more')");
like(
	$messages,
	qr/DETAIL:  Columns .* left out: note, "NO TE"\.\nIn table public\.more, the next maintenance deletes what is older than 100 days \(policy\): 1 of these parts\.\nHINT:  SELECT/,
	'... again, and of columns that are not there');
unlike($messages, qr/DROP/, '... and does not advise to drop the only place');

# ---- what an INSERT would refuse, or store twice, is not packed unseen ----

# whose rows are without a column that was added later
sql("CREATE TABLE late_old (LIKE history); INSERT INTO late_old SELECT i, ${\ day(-9)} + i, i, 1 FROM generate_series(1, 1000) i;"
	  . "ALTER TABLE late_old ADD note text DEFAULT 'as ever'; CREATE TABLE plain_late AS SELECT * FROM late_old;"
	  . "CREATE TABLE late (LIKE history INCLUDING ALL, note text); SELECT zbxhist.create_parent('late', retention => '100 days')"
);
like(
	messages_of("CALL zbxhist.import('late_old', 'late')"),
	qr/all 1000 rows /,
	'a column that was added later is imported');
is_like_plain('late', 'its values');

sql("CREATE TABLE nulls (LIKE history); ALTER TABLE nulls ALTER value DROP NOT NULL, ALTER ns DROP NOT NULL;"
	  . "INSERT INTO nulls VALUES (8, ${\ day(-50)}, NULL, 0)");
like(
	messages_of("CALL zbxhist.import('nulls', 'history')"),
	qr/ERROR:  null value in column "value" of a row to be imported/,
	'a null that the table may not have');
is_like_plain('history', 'nothing of it');
sql("CREATE TABLE other_key (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer, UNIQUE (itemid, clock, ns));"
	  . 'CREATE TABLE limited (LIKE other_key, CHECK (value > 0));'
	  . 'CREATE TABLE wide_key (LIKE other_key, UNIQUE (itemid, clock, ns, value))');

for my $table (qw(other_key wide_key limited))
{
	sql(    "CREATE TABLE ${table}_old (LIKE $table); CREATE TABLE plain_$table (LIKE $table);"
		  . "SELECT zbxhist.create_parent('$table', pack_after => '1 day')");
}
sql("INSERT INTO other_key_old SELECT 1, ${\ day(-20)}, i, NULL FROM generate_series(1, 3) i");
sql("INSERT INTO wide_key_old SELECT 1, ${\ day(-20)}, i, 0 FROM generate_series(1, 3) i");

# no partition says why it could not be packed
sql($node->safe_psql(
		'zabbix',
		"SELECT string_agg('DROP TABLE ' || partition, ';') FROM zbxhist.list_partitions('wide_key')"
	));
for my $table (qw(other_key wide_key))
{
	sql("INSERT INTO plain_$table SELECT * FROM ${table}_old");
	like(
		messages_of("CALL zbxhist.import('${table}_old', '$table')"),
		qr/all 3 rows .*: 3 were stored, 0 were skipped/,
		"$table: rows that differ are all kept");
	is_like_plain($table, $table);
}
sql("INSERT INTO limited_old VALUES (1, ${\ day(-20)}, -1, 0)");
like(
	messages_of("CALL zbxhist.import('limited_old', 'limited')"),
	qr/ERROR: .* violates check constraint "limited_value_check"/,
	'a row that the table may not have');
is(sql('SELECT count(*) FROM limited'), 0, '... is not there');

# ---- triggers of others would not see every row ----

sql("CREATE TABLE watched (LIKE history INCLUDING ALL); CREATE TABLE watched_old (LIKE history); CREATE TABLE plain_watched (LIKE history);"
	  . "SELECT zbxhist.create_parent('watched', pack_after => '1 day');"
	  . "INSERT INTO watched_old SELECT i % 5, ${\ day(-5)} + i, i, i FROM generate_series(1, 3000) i;"
	  . 'INSERT INTO plain_watched SELECT * FROM watched_old;'
	  . 'CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;'
	  . 'CREATE TRIGGER mine BEFORE INSERT ON watched FOR EACH ROW EXECUTE FUNCTION see()');
$messages = messages_of("CALL zbxhist.import('watched_old', 'watched', dry_run => true)");
like(
	$messages,
	qr/cannot import into public\.watched: trigger "mine" would not fire/,
	'a trigger is refused');
sql($messages =~ /HINT:  (.*)/);

# ---- rows that are inserted are looked for ----

sql('CREATE RULE nothing AS ON INSERT TO watched DO INSTEAD NOTHING');
sql("SELECT zbxhist.alter_parent('watched', never_pack => true)");
like(
	messages_of("CALL zbxhist.import('watched_old', 'watched')"),
	qr/ERROR: .*table public\.watched does not return the rows of table public\.watched_old that were inserted/,
	'rows that are not there afterwards');
sql('DROP RULE nothing ON watched');
like(
	messages_of("CALL zbxhist.import('watched_old', 'watched')"),
	qr/all 3000 rows .*: 3000 were stored/,
	'... and that are');
is_like_plain('watched', 'inserted');

# ---- a large table without an index by clock ----

sql(    "CREATE TABLE large_old (LIKE history); CREATE TABLE plain_large (LIKE history);"
	  . "CREATE TABLE large (LIKE history INCLUDING ALL); SELECT zbxhist.create_parent('large');"
	  . "INSERT INTO large_old SELECT i % 50, ${\ day(-9)} + i, i, i FROM generate_series(1, 200000) i;"
	  . 'INSERT INTO plain_large SELECT * FROM large_old');
$messages = messages_of("CALL zbxhist.import('large_old', 'large')");
like(
	$messages,
	qr/cannot import public\.large_old: it has no index that begins with the clock/,
	'a large table without an index is refused');
sql($messages =~ /HINT:  (.*)/);
like(
	messages_of("CALL zbxhist.import('large_old', 'large')"),
	qr/all 200000 rows .*: 200000 were stored/,
	'... with the one that the hint makes it is imported');
is_like_plain('large', 'by an index');

# ---- a table that is changed after it was read, by rows as many ----

sql(    "CREATE TABLE changed_old (LIKE history);"
	  . "INSERT INTO changed_old SELECT i % 5, ${\ day(-20)} + i * 70, i, i FROM generate_series(1, 5000) i"
);
sql("TRUNCATE watched; SELECT zbxhist.alter_parent('watched', pack_after => '1 day')");
my $changed = start_psql(
	$node, 'zabbix',
	$node->basedir . '/changed.out',
	sub {
		print { $_[0] } "CALL zbxhist.import('changed_old', 'watched', rows_a_second => 1000);\n";
	});
my $parts = "FROM zbxhist.import_slice WHERE source = 'changed_old'::regclass";
$node->poll_query_until('zabbix',
	"SELECT count(done_at) BETWEEN 2 AND 4 AND count(compared_at) = 0 $parts");
my $progress = $node->safe_psql('zabbix',
	"SELECT action, partition, percent > 0 AND percent < 75, rows >= 1000, started_at < now() FROM zbxhist.progress WHERE parent = 'watched'::regclass"
);
is($progress, 'import|changed_old|t|t|t', 'the view progress tells of an import');
my ($bar) = run_command(
	[ "$FindBin::RealBin/../../scripts/progress", '--database', $node->connstr('zabbix') ]);
like(
	$bar,
	qr/^import +\[#+\.+\] +\d+\.\d %  public\.changed_old since/m,
	'... and the script has a bar');
sql("UPDATE changed_old SET value = -1 WHERE ns = 4990");
wait_for_end($changed);
like(
	slurp_file($node->basedir . '/changed.out'),
	qr/WARNING:  table public\.changed_old has changed since it was read: ${\ date(-16)}\nDETAIL:  Do not drop it yet.*\nHINT:  CALL zbxhist\.import\('public\.changed_old', 'public\.watched'\);/,
	'an import ends with the days that have changed');
is(sql("SELECT count(*) FROM zbxhist.progress WHERE action = 'import'"), 0, '... and is over');
is(sql("SELECT count(*) - count(done_at) $parts"), 1, '... of which one is to be done again');
like(
	messages_of("CALL zbxhist.import('changed_old', 'watched')"),
	qr/all 5000 rows /,
	'the next call does that');

# ---- what is the table itself under another name ----

sql('CREATE TABLE ancestor (LIKE history); ALTER TABLE history INHERIT ancestor');
like(
	messages_of("CALL zbxhist.import('ancestor', 'history')"),
	qr/ERROR:  cannot import public.ancestor: table public.history inherits from it/,
	'a table that the managed one inherits from');
sql('ALTER TABLE history NO INHERIT ancestor');
for my $packed (sql("SELECT zbxhist_internal.packed_table('history')"),
	sql("SELECT min(day::text) FROM zbxhist.packed_day WHERE parent = 'history'::regclass"))
{
	like(
		messages_of("CALL zbxhist.import('$packed', 'history')"),
		qr/ERROR:  cannot import \S+: it is managed by zbxhist/,
		'packed rows are not imported');
}

# ---- without the extension ----

sql('DROP EXTENSION zbxhist_migrate');
like(
	messages_of("CALL zbxhist.import('history_old', 'history')"),
	qr/ERROR:  procedure zbxhist.import\(unknown, unknown\) does not exist/,
	'nobody imports without the extension');
sql("UPDATE $_ SET value = value; INSERT INTO $_ (itemid, clock, ns) SELECT max(itemid) + 1, ${\ day(-2)}, 1 FROM $_"
) for 'history', 'plain_history';
sql('CALL zbxhist.run_maintenance()');
is_like_plain('history', 'history, which goes on');
is(sql("SELECT code, message FROM zbxhist.check() WHERE severity = 'error'"),
	'', '... and nothing is wrong');
log_is_clean($node);
$node->stop;

done_testing();
