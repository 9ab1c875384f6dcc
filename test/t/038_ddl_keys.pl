# Sessions store the same keys while others execute DDL that keeps keys on
# parents, partitions and packed days: completely, cancelled, or killed
# half-way.  Only one transaction is told that it has stored a key, and each
# acknowledged key is there once.  ZBXHIST_SECONDS=3600 ZBXHIST_WRITERS=6
# ZBXHIST_READERS=3 for more.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);
use ZbxhistTest;

my $seconds = $ENV{ZBXHIST_SECONDS} // 6;
my $seed = $ENV{ZBXHIST_SEED} // 1;
my $writers = $ENV{ZBXHIST_WRITERS} // 3;
my $readers = $ENV{ZBXHIST_READERS} // 1;

my $node =
  test_server('keys_beside_ddl', statement_timeout => '10min', deadlock_timeout => '100ms');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');

# A table with a partition, a packed day and rows of its own, and one with hours.
my $hour = int(time() / 3600) * 3600;
my %clocks = (
	history => [ 86400, 86401, 172800, 259200 ],
	history_uint => [ $hour, $hour + 1, $hour + 3600, 86400 ]);
$node->safe_psql(
	'zabbix', q{
	SET client_min_messages = error;
	SELECT zbxhist.create_parent('history', retention => '200 years');
	SELECT zbxhist.create_partition('history', d::date) FROM unnest('{1970-01-02,1970-01-03}'::date[]) d;
	INSERT INTO history VALUES (100000, 172800, 0, 0), (0, 172800, 0, 0);
	CALL zbxhist.pack('history', '1970-01-03');
	SELECT zbxhist.create_parent('history_uint', '1 hour', retention => '200 years', pack_after => '2 hours');
	DELETE FROM history WHERE itemid = 100000});

# A key at each of these clocks is there from the beginning on: the writers collide with it.
my @taken = map {
	my $table = $_;
	map { [ $table, 0, $_, 0 ] } @{ $clocks{$table} }
} sort keys %clocks;
$node->safe_psql(
	'zabbix',
	join ' ',
	map { "INSERT INTO $_->[0] VALUES (0, $_->[2], 0, 0);" }
	  grep { "@$_[0, 2]" ne 'history 172800' } @taken);

# ---- writers ----

my $counter = 0;
my $is_first = 1;
my @earlier;

sub told_file
{
	my ($n) = @_;

	return $node->basedir . "/told_$n";
}

# Rows of keys that nobody else has; some of keys that others have at about the
# same time, or that this one has stored before.
sub some_rows
{
	my ($n, $table) = @_;
	my @rows = map { [ 10 * $n + int rand 5, any(@{ $clocks{$table} }), 100 * ++$counter + $n ] }
	  1 .. any(1, 3, 30);

	push @rows, [ any(1, 2), any(@{ $clocks{$table} }), int(time() * 20) % 1000000 ]
	  if rand() < 0.3;
	push @rows, [ @{ any(@earlier) }[ 1 .. 3 ] ] if @earlier && rand() < 0.02;
	my %seen;
	return grep { !$seen{"@$_"}++ && (!$_->[4] || $_->[4] eq $table) } @rows;
}

# Stores some rows; returns those that were told to be stored, or nothing.
sub insert_some
{
	my ($n, $client, $counts) = @_;
	my $table = any(keys %clocks);
	my @rows = some_rows($n, $table);
	my $insert = "INSERT INTO $table (itemid, clock, ns, value) VALUES "
	  . join(',', map { sprintf '(%d,%d,%d,%d)', @$_, $n } @rows);
	my $way = any(
		'%s',
		'%s',
		'%s',
		'%s RETURNING itemid, clock, ns',
		'%s ON CONFLICT DO NOTHING RETURNING itemid, clock, ns',
		'SET LOCAL zbxhist.enable_batching = off; %s',
		'SET LOCAL zbxhist.enable_routing = off; %s; SET LOCAL zbxhist.enable_routing = on',
		'SET LOCAL zbxhist.enable_fast_insert = off; %s');
	my $result = $client->query(sprintf $way, $insert);

	if (@{ $result->{errors} })
	{
		# refused where the transaction may not see the row
		$counts->{ $result->{errors}[0] }++
		  if $way !~ /DO NOTHING/ || $result->{errors}[0] ne '0A000';
		return;
	}
	@rows = @{ $result->{rows} } if $way =~ /RETURNING/;
	return [ map { [ $table, @$_ ] } @rows ];
}

# Stores the keys that are taken, each again if it was not told to be there.
sub collide
{
	my ($client, $counts) = @_;

	for my $key (@taken)
	{
		my ($table, @columns) = @$key;
		my $insert = "INSERT INTO $table VALUES (@{[ join ', ', @columns[0, 1], 1, 0 ]})";
		my $result;

		do { $result = $client->query($insert) } while ("@{ $result->{errors} }" =~ /^40/);
		$counts->{"collided @{ $result->{errors} }"}++;
	}
}

sub write_something
{
	my ($n, $client, $counts) = @_;
	my @told;

	collide($client, $counts) if $is_first;
	$is_first = 0;
	$client->query(
		'BEGIN ISOLATION LEVEL ' . any('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'));
	for (1 .. any(1, 1, 1, 2))
	{
		my $rows = insert_some($n, $client, $counts);

		if (!$rows)
		{
			$client->query('ROLLBACK');
			return;
		}
		push @told, @$rows;
	}
	my $result = $client->query('COMMIT');
	if (@{ $result->{errors} })
	{
		$counts->{ $result->{errors}[0] }++;
		$client->query('ROLLBACK');
		return;
	}
	append_to_file(told_file($n), join '', map { "@$_[0 .. 3] $n\n" } @told);
	push @earlier, grep { rand() < 0.05 } @told;
	shift @earlier while @earlier > 1000;
	sleep rand 0.02;
}

# ---- those who disturb ----

# %t is a table, %n its name without the schema.
my @commands = (
	(   map { "BEGIN; LOCK TABLE ONLY %t IN $_ MODE; SELECT pg_sleep(0.05); COMMIT" }
		  'ACCESS SHARE',
		'ROW SHARE',
		'ROW EXCLUSIVE',
		'SHARE UPDATE EXCLUSIVE',
		'SHARE',
		'SHARE ROW EXCLUSIVE',
		'EXCLUSIVE',
		'ACCESS EXCLUSIVE'),
	(   map { "BEGIN; $_; SELECT pg_sleep(0.03); ROLLBACK" } 'TRUNCATE ONLY %t',
		'ALTER TABLE %t RENAME TO zz',
		'ALTER TABLE %t SET SCHEMA pg_temp',
		'DROP TABLE %t CASCADE'),
	'REINDEX TABLE %t',
	'REINDEX TABLE %t',
	'REINDEX TABLE CONCURRENTLY %t',
	'REINDEX TABLE CONCURRENTLY %t',
	'VACUUM FULL %t',
	'VACUUM FULL %t',
	'VACUUM (FREEZE, ANALYZE) %t',
	'CLUSTER %t USING %k',
	'CLUSTER %t USING %k',
	'CREATE INDEX zz%o ON %t (clock)',
	'CREATE INDEX CONCURRENTLY zz%o ON %t (clock)',
	'CREATE UNIQUE INDEX CONCURRENTLY zz%o ON %t (ns, clock, itemid)',
	'CREATE UNIQUE INDEX zz%o ON %t (ns, clock, itemid)',
	'ALTER TABLE %t SET (fillfactor = 90)',
	'ALTER TABLE %t SET (autovacuum_enabled = off)',
	'ALTER TABLE %t ALTER COLUMN clock SET STATISTICS 50',
	'ALTER TABLE %t OWNER TO CURRENT_USER',
	'ALTER TABLE %t ADD CONSTRAINT zz CHECK (ns >= 0) NOT VALID',
	'ALTER TABLE %t VALIDATE CONSTRAINT zz',
	'ALTER TABLE %t DROP CONSTRAINT IF EXISTS zz',
	'ALTER TABLE %t ADD COLUMN zz integer',
	'ALTER TABLE %t DROP COLUMN IF EXISTS zz',
	'ALTER INDEX %i RENAME TO zz_%n',
	'ALTER INDEX %i SET (fillfactor = 90)');

# All tables that rows may be in, with an index each.
my $tables = q{
	SELECT c.oid, c.oid::regclass, c.relname, min(i.indexrelid::regclass::text), min(k.relname)
	  FROM pg_class c
	  LEFT JOIN pg_index i ON i.indrelid = c.oid
	  LEFT JOIN pg_class k ON k.oid = i.indexrelid
	 WHERE c.relkind = 'r'
	   AND (c.relname IN ('history', 'history_uint') OR c.relnamespace = 'zbxhist_packed'::regnamespace
	        OR EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid))
	   AND EXISTS (SELECT FROM unnest(ARRAY['history', 'history_uint']) p WHERE c.relname LIKE p || '%')
	   AND (pg_relation_size(c.oid) > 0 OR random() < 0.1)
	 GROUP BY 1 ORDER BY random() LIMIT 1};

# What is left of those that were cancelled or killed.
my $leftovers = q{
	SELECT format('DROP INDEX %s %s', CASE WHEN random() < 0.5 THEN 'CONCURRENTLY' ELSE '' END, k.oid::regclass)
	  FROM pg_class k JOIN pg_index i ON i.indexrelid = k.oid
	 WHERE k.relname ~ '^zz\d' OR (k.relname ~ '_cc(new|old)' AND NOT i.indisvalid)
	 ORDER BY random() LIMIT 1};

my $other;

# A statement that is ended in one way or another; the client is for killing.
sub end_somehow
{
	my ($client, $counts, $statement) = @_;
	my $way = any('whole', 'whole', 'cancel', 'terminate');

	$other //= PgWire->new($node, 'zabbix');
	eval {
		$other->query(

			# much shorter than a writer would wait
			"SET lock_timeout = '1s'; SET statement_timeout = '10s'; SET zbxhist.allow_packed_drop = on"
		);
		$other->send_message('Q', "$statement\0");
		if ($way ne 'whole')
		{
			sleep rand 0.1;
			$client->query("SELECT pg_${way}_backend(" . $other->pid . ')');
		}
		my $result = $other->read_until_ready;
		$counts->{ $result->{errors}[0] // 'done' }++;
		$other->query('ROLLBACK') if $result->{status} ne 'I';
		1;
	} or undef $other;
}

sub alter_something
{
	my ($client, $counts) = @_;
	my ($row) = @{ $client->query($tables)->{rows} };
	my $leftover = $client->query($leftovers)->{rows}[0];
	my $statement = any(@commands);

	$statement = $leftover->[0] if $leftover && rand() < 0.3;

	# columns of its own make packed rows unreadable
	if ($row && !($statement =~ / COLUMN / && $row->[1] =~ /^zbxhist_packed/))
	{
		my ($oid, $table, $name, $index, $key) = @$row;
		my %value = (t => $table, n => $name, i => $index, k => $key, o => $oid);

		$statement =~ s/%([tnik])/$value{$1} \/\/ 'none'/ge;
		$statement =~ s/%o/$oid/g;
		end_somehow($client, $counts, $statement);
	}
	sleep rand 0.05;
}

sub maintain_something
{
	my ($client, $counts) = @_;
	my $result = $client->query(
		any('CALL zbxhist.run_maintenance()',
			"CALL zbxhist.pack('history', '1970-01-03')",
			"CALL zbxhist.unpack('history', '1970-01-03')",
			"SELECT zbxhist_internal.run_step('history', 'move', 'history_p19700102')",
			"SELECT zbxhist_internal.run_step('history', 'verify')"));

	$counts->{ $result->{errors}[0] // 'done' }++;
	$client->query('ROLLBACK') if $result->{status} ne 'I';
	sleep rand 0.05;
}

# Every key once in each snapshot.
sub read_something
{
	my ($client, $counts) = @_;
	my $table = any(keys %clocks);
	my $result = $client->query(
		"SELECT itemid, clock, ns FROM $table WHERE itemid IN (1, 2) GROUP BY 1, 2, 3 HAVING count(*) > 1 LIMIT 1"
	);

	$counts->{"twice in $table: @$_"}++ for @{ $result->{rows} };
	sleep rand 0.2;
}

# ---- the run ----

my %workers = (
	(   map {
			my $n = $_;
			("writer$n" => sub { write_something($n, @_) })
		} 1 .. $writers),
	alterer1 => \&alter_something,
	alterer2 => \&alter_something,
	maintainer => \&maintain_something,
	(map { ("reader$_" => \&read_something) } 1 .. $readers));
my @processes =
  map { in_background($node, 'zabbix', $_, $seconds, $seed, $workers{$_}) } sort keys %workers;
waitpid($_, 0) for @processes;

my %errors;
for my $name (sort keys %workers)
{
	my $outcome = outcome_of($node, $name) =~ s/\n/, /gr;

	note("$name: $outcome");
	diag("$name: $outcome") if $ENV{ZBXHIST_SECONDS};
	unlike($outcome, qr/lost connection|twice/, "$name found nothing wrong");
	next unless $name =~ /writer/;
	is( join(', ', $outcome =~ /(collided [^,]*)/g),
		'collided 23505 ' . @taken,
		"$name collided with each key that was there");
	$errors{$_}++ for $outcome =~ /\b([0-9A-Z]{5}) \d/g;
}
is(join(' ', grep { !/^(23505|40P01|40001)$/ } sort keys %errors),
	'', 'only errors that concurrency explains');

# ---- what was told ----

my %told = map { ("@$_" => [0]) } @taken;
for my $n (1 .. $writers)
{
	next unless -e told_file($n);
	for (split /\n/, slurp_file(told_file($n)))
	{
		my ($key, $value) = /^(.*) (\d+)$/;
		push @{ $told{$key} }, $value;
	}
}
is(join('; ', grep { @{ $told{$_} } > 1 } sort keys %told),
	'', 'a key was told to be stored by one transaction only');

# A table's rows are those that were told.
sub rows_are_there
{
	my ($table, $when) = @_;
	my @rows = sort map { /^$table (.*)/ ? "$1 $told{$_}[0]" =~ s/ /|/gr : () } keys %told;
	my $stored = join "\n", sort split /\n/,
	  $node->safe_psql('zabbix', "SELECT itemid, clock, ns, value FROM $table");

	ok($stored eq join("\n", @rows), "$when: $table has each row once")
	  or diag(scalar(@rows) . ' told, ' . ($stored =~ tr/\n//) . ' + 1 stored');
}

rows_are_there($_, 'after the run') for sort keys %clocks;
$node->safe_psql('zabbix', 'SET statement_timeout = 0; CALL zbxhist.run_maintenance()');
rows_are_there($_, 'after maintenance') for sort keys %clocks;

# two who drop or alter the same index, and what a killed REINDEX has left: PostgreSQL's own
log_is_clean($node, undef,
	qr/tuple concurrently (?:updated|deleted)|cannot reindex invalid index|XX\d+ .*STATEMENT: +(?:DROP|ALTER|REINDEX|CREATE|CLUSTER|VACUUM|BEGIN; )/
);
$node->stop;
done_testing();
