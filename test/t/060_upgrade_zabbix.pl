# Zabbix's upgrade from 7.0 to 8.0 on a managed database with packed days and a
# partitioned audit log: the statements that its database patches send to
# tables that zbxhist manages or reads, each in a transaction as the server
# sends it, with maintenance after each.  Nothing is lost, and everything is as
# in plain tables.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use ZbxhistTest;

my @TABLES = qw(history history_str history_log history_uint history_text
  history_bin trends trends_uint);
my $node = test_server('upgrade', max_locks_per_transaction => 256);

$node->safe_psql('postgres', 'CREATE ROLE zabbix LOGIN');
create_database($node, 'zabbix', 'zabbix');

# As the owner of the tables, who is no superuser.
sub sql { return sql_as($node, 'zabbix', 'zabbix', @_) }

# ---- a Zabbix 7.0 ----

create_zabbix_tables($node, 'zabbix', 'zabbix');
sql(<<'SQL');
CREATE TABLE config (configid bigint NOT NULL PRIMARY KEY, db_extension varchar(32) DEFAULT '' NOT NULL,
    hk_history_mode integer DEFAULT '1' NOT NULL, hk_history_global integer DEFAULT '0' NOT NULL, hk_history varchar(32) DEFAULT '31d' NOT NULL,
    hk_trends_mode integer DEFAULT '1' NOT NULL, hk_trends_global integer DEFAULT '0' NOT NULL, hk_trends varchar(32) DEFAULT '365d' NOT NULL,
    hk_audit_mode integer DEFAULT '1' NOT NULL, hk_audit varchar(32) DEFAULT '31d' NOT NULL);
INSERT INTO config (configid) VALUES (1);
CREATE TABLE dbversion (dbversionid bigint NOT NULL PRIMARY KEY, mandatory integer DEFAULT '0' NOT NULL, optional integer DEFAULT '0' NOT NULL);
INSERT INTO dbversion VALUES (1, 7000000, 7000000);
CREATE TABLE ids (table_name varchar(64) DEFAULT '' NOT NULL, field_name varchar(64) DEFAULT '' NOT NULL, nextid bigint NOT NULL, PRIMARY KEY (table_name, field_name));
INSERT INTO ids VALUES ('housekeeper', 'housekeeperid', 3), ('items', 'itemid', 6);
CREATE TABLE housekeeper (housekeeperid bigint NOT NULL PRIMARY KEY, tablename varchar(64) DEFAULT '' NOT NULL, field varchar(64) DEFAULT '' NOT NULL, value bigint NOT NULL);
INSERT INTO housekeeper VALUES (1, 'history_uint', 'itemid', 9), (2, 'trends_uint', 'itemid', 9), (3, 'events', 'triggerid', 5);
CREATE TABLE hosts (hostid bigint NOT NULL PRIMARY KEY, host varchar(128) DEFAULT '' NOT NULL, status integer DEFAULT '0' NOT NULL, flags integer DEFAULT '0' NOT NULL);
INSERT INTO hosts VALUES (1, 'first', 0, 0);
CREATE TABLE items (itemid bigint NOT NULL PRIMARY KEY, type integer DEFAULT '0' NOT NULL, hostid bigint NOT NULL, name varchar(255) DEFAULT '' NOT NULL, key_ varchar(2048) DEFAULT '' NOT NULL,
    history varchar(255) DEFAULT '31d' NOT NULL, trends varchar(255) DEFAULT '365d' NOT NULL, value_type integer DEFAULT '0' NOT NULL,
    flags integer DEFAULT '0' NOT NULL, trapper_hosts varchar(255) DEFAULT '' NOT NULL, allow_traps integer DEFAULT '0' NOT NULL);
INSERT INTO items (itemid, hostid, name, value_type) SELECT i, 1, 'item ' || i, i - 1 FROM generate_series(1, 6) i;
CREATE TABLE auditlog (auditid varchar(25) NOT NULL, userid bigint NULL, username varchar(100) DEFAULT '' NOT NULL, clock integer DEFAULT '0' NOT NULL,
    ip varchar(39) DEFAULT '' NOT NULL, action integer DEFAULT '0' NOT NULL, resourcetype integer DEFAULT '0' NOT NULL, resourceid bigint NULL,
    resource_cuid varchar(25) NULL, resourcename varchar(255) DEFAULT '' NOT NULL, recordsetid varchar(25) NOT NULL, details text DEFAULT '' NOT NULL,
    PRIMARY KEY (auditid));
CREATE INDEX auditlog_1 ON auditlog (userid, clock);
CREATE INDEX auditlog_2 ON auditlog (clock);
CREATE INDEX auditlog_3 ON auditlog (resourcetype, resourceid);
SQL

# Plain tables beside, into which everything goes as well.
sql('CREATE SCHEMA plain;'
	  . join('', map { "CREATE TABLE plain.$_ (LIKE $_ INCLUDING ALL);" } @TABLES, 'auditlog'));

# A statement into the tables of both.
sub on_both
{
	my ($statement) = @_;

	return sql("SET search_path = public; $statement; SET search_path = plain; $statement");
}

# An hour's values of a day, of each table.
sub fill
{
	my ($day, $first) = @_;
	my %value = (
		history => 'n / 8.0',
		history_uint => '18446744073709551615 - n',
		history_str => q{'it''s ' || n},
		history_text => 'repeat(md5(n::text), n % 20)',
		history_bin => "decode(md5(n::text), 'hex')",
		history_json => q{json_build_object('n', n, 'text', repeat('ü"\\\\', n % 9))::text::jsonb});
	my @statements = map {
			"INSERT INTO $_ (itemid, clock, ns, value) SELECT n % 6 + 1, "
		  . day($day)
		  . " + n * 7, n * 7919, $value{$_} FROM generate_series($first, $first + 400) n"
	} grep { $value{$_} } @TABLES;

	push @statements,
	  'INSERT INTO history_log (itemid, clock, ns, timestamp, source, severity, value, logeventid) SELECT n % 6 + 1, '
	  . day($day)
	  . " + n * 7, 0, n, 'source', n % 6, 'line ' || n, n FROM generate_series($first, $first + 400) n";
	push @statements, map {
			"INSERT INTO $_ SELECT i, "
		  . day($day)
		  . " + $first / 401 * 3600, 60, i, i + 1, i + 2 FROM generate_series(1, 6) i"
	} qw(trends trends_uint);
	return on_both(join(';', @statements));
}

# The audit log's rows of so many days ago.
sub audit
{
	my ($day) = @_;

	return on_both("INSERT INTO auditlog (auditid, userid, clock, action, ip, recordsetid, details)"
		  . " SELECT ('c' || c) || lpad(n::text, 14, '0'), 1, c, 0, '127.0.0.1', ('c' || c) || lpad('0', 14, '0'), 'd ' || n"
		  . " FROM (SELECT n, @{[ day($day) ]} + n * 60 AS c FROM generate_series(1, 200) n) s");
}

# Everything is as in the plain tables.
sub same_as_plain
{
	my ($when) = @_;
	my @differing =
	  grep { totals($node, 'zabbix', $_) ne totals($node, 'zabbix', "plain.$_") } @TABLES,
	  'auditlog';

	is("@differing", '', "$when: all rows are there, each once");
	return;
}

# check() has notes and what a superuser would do, and no more.
sub nothing_is_wrong
{
	my ($when) = @_;

	is( sql("SELECT string_agg(DISTINCT code, ' ' ORDER BY code) FROM zbxhist.check()"),
		'auditlog_housekeeping not_preloaded partial_dump',
		"$when: nothing is wrong");
	return;
}

fill($_, 0) for -25, -3, -2, -1;
audit($_) for -25, -3, -1;
sql("SELECT * FROM zbxhist.setup('public', move_existing => true, configure_zabbix => true)");
sql('SELECT * FROM zbxhist.partition_auditlog($$auditlog$$)');
sql("SELECT zbxhist.alter_parent('history', deleted_items => 'drop')");

# of the present hour
my $now = time() - time() % 3600;
on_both(
	join(
		';',
		map {
			"INSERT INTO $_ (itemid, clock, ns, value) SELECT i, $now + i, 5, '1' FROM generate_series(1, 6) i"
		} grep { /^history/ && !/log/ } @TABLES));
maintain($node, 'zabbix', 'zabbix');
audit(0);

is( sql("SELECT string_agg(DISTINCT kind, ' ' ORDER BY kind) FROM zbxhist.partitions WHERE parent::text ~ 'history' AND rows > 0 AND kind <> 'heap'"
	),
	'packed',
	'7.0: values are in packed days');
is( sql("SELECT string_agg(DISTINCT retention_source, ' ') FROM zbxhist.parents"),
	'zabbix: config.hk_history zabbix: config.hk_trends',
	'7.0: retention is what Zabbix says');
same_as_plain('7.0');

# ---- its patches ----

# One patch; then maintenance, as a worker may run it at any time.
sub patch
{
	my ($version, @statements) = @_;

	sql(join(";\n",
			'begin', 'select optional from dbversion for update',
			@statements, "update dbversion set mandatory=$version,optional=$version",
			'commit'));
	maintain($node, 'zabbix', 'zabbix');
	return;
}

# 7.2
patch(7010001, 'create index auditlog_4 on auditlog (recordsetid)');
patch(7010014, 'create index auditlog_5 on auditlog (ip)');
same_as_plain('7.2');
fill(-2, 401);

# 7.4: settings instead of config
patch(7030001,
	"create table settings (\nname varchar(255) not null,\ntype integer not null,\nvalue_str text default '' not null,\n"
	  . "value_int integer default '0' not null,\nvalue_usrgrpid bigint,\nvalue_hostgroupid bigint,\nvalue_userdirectoryid bigint,\n"
	  . "value_mfaid bigint,\nprimary key (name)\n)");
patch(
	7030010,
	(   map {
			"insert into settings (name, type, value_int, value_str) values ('$_', 2, coalesce((select $_ from config), 1), '')"
		} map { ("hk_${_}_mode", "hk_${_}_global") } qw(history trends)),
	(   map {
			"insert into settings (name, type, value_str) values ('$_', 1, coalesce((select $_ from config), '31d'))"
		} qw(hk_history hk_trends hk_audit)),
	"insert into settings (name, type, value_int, value_str) values ('hk_audit_mode', 2, coalesce((select hk_audit_mode from config), 1), '')"
);
is( sql("SELECT string_agg(DISTINCT retention_source, ' ') FROM zbxhist.parents"),
	'zabbix: config.hk_history zabbix: config.hk_trends',
	'7.4: as long as there are both tables, the old one counts');
patch(7030011, 'drop table config');
is( sql("SELECT string_agg(DISTINCT retention_source, ' ') FROM zbxhist.parents"),
	'zabbix: settings.hk_history zabbix: settings.hk_trends',
	'7.4: then the new one does');
nothing_is_wrong('7.4');
same_as_plain('7.4');
fill(-1, 401);

# 8.0
patch(7050031,
	"create table history_json (\nitemid bigint not null,\nclock integer default '0' not null,\nns integer default '0' not null,\n"
	  . "value jsonb not null,\nprimary key (itemid,clock,ns)\n)");
is(sql("SELECT move_existing FROM zbxhist.parents WHERE parent = 'history_json'::regclass"),
	't', '8.0: maintenance has taken history_json up, with the options of the others');
patch(7050034, 'alter table housekeeper rename to housekeeper_old');
patch(7050035,
	"create table housekeeper (\nhousekeeperid bigserial not null ,\nobject integer not null,\nobjectid bigint not null,\nprimary key (housekeeperid)\n)"
);
patch(7050036,
		'insert into housekeeper(object,objectid)'
	  . "select distinct case when tablename in ('history','history_str','history_log','history_uint','history_text','history_bin','history_json','trends','trends_uint') then 0"
	  . " when tablename = 'events' and field = 'triggerid' then 1 when tablename = 'events' and field = 'itemid' then 0"
	  . " when tablename = 'events' and field = 'lldruleid' then 0 when tablename = 'events' and field = 'serviceid' then 2 end as object,"
	  . ' value as objectid from housekeeper_old');
patch(7050037, 'drop table housekeeper_old');
patch(7050038, 'alter index housekeeper_pkey1 rename to housekeeper_pkey');

# what the server makes of this one is not in the sources that were read
patch(7050039, <<'SQL');
create function housekeeper_items_delete() returns trigger as $$
begin
    insert into housekeeper (object,objectid) values (0,old.itemid);
    return old;
end;
$$ language plpgsql;
create trigger items_housekeeper_delete after delete on items for each row execute function housekeeper_items_delete()
SQL
patch(7050044, "delete from ids where table_name='housekeeper'");
patch(7050054,
	"update items set trapper_hosts='0.0.0.0/0,::/0' where (type=2 or (type=19 and allow_traps=1)) and trapper_hosts=''"
);
patch(7050176, "alter table items add query text default '{}' not null");
patch(7050178, "alter table items add time_shift varchar(255) default '15s' not null");
patch(7050184, "alter table items add storage_mode integer default '0' not null");

# ---- the server and the frontend of 8.0 ----

push @TABLES, 'history_json';
sql('CREATE TABLE plain.history_json (LIKE history_json INCLUDING ALL)');
fill($_, 802) for -3, -1;
fill(-1, 1203);
on_both(
	"insert into history_json (itemid,clock,ns,value) values (1,$now,5,'{\"a\": [1, 2.50]}'),(2,$now,5,'\"x\"')"
);
audit(-2);
is( sql("SELECT kind FROM zbxhist.partitions WHERE parent = 'history_json'::regclass AND $now >= from_clock AND $now < to_clock"
	),
	'heap',
	'8.0: JSON of the present hour goes to a partition');
like(
	messages_as(
		$node, 'zabbix',
		'zabbix', "insert into history_json (itemid,clock,ns,value) values (1,$now,5,'{}')"),
	qr/duplicate key value violates unique constraint/,
	'8.0: each key is there once');
maintain($node, 'zabbix', 'zabbix');
is( sql("SELECT count(*) > 0 FROM zbxhist.partitions WHERE parent = 'history_json'::regclass AND kind = 'packed' AND rows > 0"
	),
	't',
	'8.0: JSON of days that are over is packed');
same_as_plain('8.0');
nothing_is_wrong('8.0');

# an item is deleted: Zabbix notes it, the policy has its values left out
sql('delete from items where itemid=6');
is(sql('select object,objectid from housekeeper order by object,objectid'),
	"0|6\n0|9\n1|5", 'items that have gone are in the new housekeeper');
is(sql("SELECT problem FROM zbxhist_internal.known_items('history')"), '', 'items are known');
sql("SELECT zbxhist.alter_parent('history', deleted_items => 'keep')");

# the audit log's housekeeping, and its indexes
my $old = day(-2);
my $ids = sql(
	"select string_agg(quote_literal(auditid), ',') from (select auditid from auditlog where clock<$old order by auditid limit 100) s"
);
on_both("delete from auditlog where auditid in ($ids)");
is(sql("SELECT relkind FROM pg_class WHERE oid = 'public.auditlog'::regclass"),
	'p', 'the audit log is partitioned as before');
is( sql("SELECT string_agg(DISTINCT c.count::text, ' ') FROM pg_inherits p, LATERAL (SELECT count(*) FROM pg_index i WHERE i.indrelid = p.inhrelid) c"
		  . " WHERE p.inhparent = 'public.auditlog'::regclass"),
	'6',
	'all its partitions have the indexes of Zabbix 7.2');
same_as_plain('afterwards');

# ---- back to plain tables ----

sql("CALL zbxhist.undo('$_')") for @TABLES, 'auditlog';
is( sql("SELECT count(*) FROM pg_class k WHERE k.relnamespace = 'public'::regnamespace AND (k.relkind = 'p' OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = k.oid))"
	),
	'0',
	'the tables are plain again');
same_as_plain('plain again');
log_is_clean($node);
done_testing();
