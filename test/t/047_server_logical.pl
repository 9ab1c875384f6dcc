# Logical decoding shows the rows of a batch.  Rows that logical replication
# applies to a managed table stay in the parent, visible, until maintenance
# moves them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $publisher = test_server('publisher', -allows_streaming => 'logical');
my $subscriber = test_server('subscriber', -allows_streaming => 'logical');
my $now = day(0);

# ---- decoding ----

create_database($publisher, 'zabbix');
set_up($publisher, 'zabbix');

SKIP:
{
	skip 'test_decoding is not installed', 4
	  unless -e $publisher->config_data('--pkglibdir') . '/test_decoding.so';
	$publisher->safe_psql('zabbix',
		"SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
	$publisher->safe_psql('zabbix', insert_values('history', 1, 1000, $now));
	$publisher->safe_psql('zabbix',
			'BEGIN;'
		  . insert_values('history', 2001, 200, $now)
		  . 'SAVEPOINT a;'
		  . insert_values('history', 3001, 200, $now)
		  . 'ROLLBACK TO a;'
		  . 'DELETE FROM history WHERE itemid = 2001; COMMIT');
	$publisher->safe_psql('zabbix', "INSERT INTO history (itemid, clock) VALUES (-1, 5)");
	my @changes = split /\n/,
	  $publisher->safe_psql('zabbix',
		"SELECT data FROM pg_logical_slot_get_changes('s', NULL, NULL)");

	# every third item of 1 .. 1000 and of 2001 .. 2200 is of yesterday
	is( scalar(
			grep { /^table zbxhist_partitions\.${\ partition('history', 0)}: INSERT: / } @changes),
		1000 - 333 + 200 - 67,
		"today's rows are decoded");
	is( scalar(
			grep { /^table zbxhist_partitions\.${\ partition('history', -1)}: INSERT: / } @changes),
		333 + 67,
		"yesterday's rows, too");
	is(scalar(grep { /^table public\.history: INSERT: itemid\[bigint\]:-1 / } @changes),
		1, 'and a row that stays in the parent');
	is(scalar(grep { / DELETE: / } @changes), 1, 'and a DELETE');
	$publisher->safe_psql('zabbix', "SELECT pg_drop_replication_slot('s')");
}

# ---- from a plain table to a managed one ----

create_database($publisher, 'plain');
create_zabbix_tables($publisher, 'plain');
$publisher->safe_psql('plain',
	insert_values('history', 1, 1000, $now)
	  . 'CREATE PUBLICATION p FOR TABLE history, history_uint');

create_database($subscriber, 'managed');
set_up($subscriber, 'managed');
$subscriber->safe_psql('managed',
	"CREATE SUBSCRIPTION s CONNECTION '${\ $publisher->connstr} dbname=plain' PUBLICATION p");
$subscriber->wait_for_subscription_sync($publisher, 's', 'managed');
is( totals($subscriber, 'managed', 'history'),
	totals($publisher, 'plain', 'history'),
	'initial copy: every row');

$publisher->safe_psql('plain',
		insert_values('history', 2001, 1000, $now + $_)
	  . insert_values('history_uint', 2001, 10, $now + $_))
  for 1 .. 3;
$publisher->wait_for_catchup('s');
is( totals($subscriber, 'managed', 'history'),
	totals($publisher, 'plain', 'history'),
	'applied: every row');
is(rows_of($subscriber, 'managed', 'ONLY history WHERE itemid > 2000'), 3000, '... in the parent');

maintain($subscriber, 'managed');
is(rows_of($subscriber, 'managed', 'ONLY history'), 0, 'maintenance moves them');
is(totals($subscriber, 'managed', 'history'), totals($publisher, 'plain', 'history'), '... all');

$publisher->safe_psql('plain', insert_values('history', 5001, 1000, $now));
$publisher->wait_for_catchup('s');
is(rows_of($subscriber, 'managed', 'history WHERE itemid > 5000'), 1000, 'replication goes on');

# the subscriber's own rows go to partitions meanwhile
$subscriber->safe_psql('managed', insert_values('history', 9001, 500, $now));
is(rows_of($subscriber, 'managed', 'ONLY history WHERE itemid > 9000'),
	0, "the subscriber's own rows are routed");
$subscriber->safe_psql('managed', 'DROP SUBSCRIPTION s');

# ---- from one managed table to another ----

create_database($subscriber, 'copy');
set_up($subscriber, 'copy');
$publisher->safe_psql('zabbix', 'CREATE PUBLICATION p FOR TABLE ' . join ', ',
	'history', 'trends', partition('history', 1));
$subscriber->safe_psql('copy',
	"CREATE SUBSCRIPTION c CONNECTION '${\ $publisher->connstr} dbname=zabbix' PUBLICATION p");
$subscriber->wait_for_subscription_sync($publisher, 'c', 'copy');
is( totals($subscriber, 'copy', 'history'),
	totals($publisher, 'zabbix', 'history'),
	'both managed, initial copy: every row');
$publisher->safe_psql('zabbix',
	insert_values('history', 6001, 1000, $now) . insert_values('history', 6001, 1000, $now + 1));
$publisher->wait_for_catchup('c');
is( totals($subscriber, 'copy', 'history'),
	totals($publisher, 'zabbix', 'history'),
	'both managed, batches: every row');
is(rows_of($subscriber, 'copy', 'ONLY history WHERE itemid > 6000'),
	0, '... in the same partitions');

log_is_clean($publisher, "nothing unusual in the publisher's log");
log_is_clean($subscriber, "nothing unusual in the subscriber's log");
$subscriber->safe_psql('copy', 'DROP SUBSCRIPTION c');
$publisher->stop;
$subscriber->stop;
done_testing();
