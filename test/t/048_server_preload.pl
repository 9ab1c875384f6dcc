# setup() makes new sessions load the library when they begin, if its caller
# may; if not, setup() and check() say what a superuser must do.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('preload');
my $plain = "ALTER DATABASE %s SET session_preload_libraries = 'zbxhist'";

# The row of setup() about preloading, as a role.
sub told
{
	my ($database, $role, $arguments) = @_;

	return $node->safe_psql($database,
			"SET SESSION AUTHORIZATION $role;"
		  . "SELECT parent IS NULL, detail FROM zbxhist.setup($arguments)"
		  . " WHERE action = 'preload'");
}

# What is set for a database.
sub setting
{
	my ($database) = @_;

	return $node->safe_psql($database,
			'SELECT array_to_string(setconfig, $$;$$) FROM pg_db_role_setting s'
		  . " JOIN pg_database d ON d.oid = s.setdatabase WHERE datname = '$database' AND setrole = 0"
	);
}

# check()'s finding about it: severity and hint.
sub finding
{
	my ($database, $role) = @_;

	return $node->safe_psql($database,
			"SET SESSION AUTHORIZATION $role;"
		  . "SELECT severity, hint FROM zbxhist.check() WHERE code = 'not_preloaded'");
}

$node->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE granted');

# ---- a superuser ----

create_database($node, 'zabbix');
is(finding('zabbix', 'postgres'), '', 'nothing is said while nothing is managed');
create_zabbix_tables($node, 'zabbix');
my $command = sprintf $plain, 'zabbix';
is(told('zabbix', 'postgres', 'dry_run => true'), "t|$command", 'dry_run says the command');
is(setting('zabbix'), '', '... and does not do it');
is(told('zabbix', 'postgres', ''), "t|$command", 'a superuser does it');
is(setting('zabbix'), 'session_preload_libraries=zbxhist', '... at once');
is(told('zabbix', 'postgres', ''), '', 'once');
is(finding('zabbix', 'postgres'), '', '... and nothing is found');

# what it is good for: the first statement of a session
my $client = PgWire->new($node, 'zabbix');
my $result = $client->query(insert_values('history', 1, 10, day(0)));
is_deeply($result->{tags}, ['INSERT 0 10'], 'the first tag tells the truth');
$client->close;
like($node->safe_psql('zabbix', 'EXPLAIN ' . insert_values('history', 11, 10, day(0))),
	qr/ZbxhistInsert/, 'the first statement is planned the short way');

# without the extension, and back
$node->safe_psql('zabbix', 'DROP EXTENSION zbxhist CASCADE');
is(rows_of($node, 'zabbix', 'history'), 10, 'without the extension the library does no harm');
$node->safe_psql('zabbix', 'ALTER DATABASE zabbix RESET session_preload_libraries');
is(setting('zabbix'), '', 'as docs/setting-up.md undoes it');

# ---- other libraries ----

create_database($node, 'others');
create_zabbix_tables($node, 'others');
$node->safe_psql('others',
	q{ALTER DATABASE others SET session_preload_libraries = 'plpgsql', '$libdir/plpgsql'});
is( told('others', 'postgres', ''),
	q{t|ALTER DATABASE others SET session_preload_libraries = 'plpgsql', '$libdir/plpgsql', 'zbxhist'},
	'libraries that the database has are kept');
is( $node->safe_psql('others', 'SHOW session_preload_libraries'),
	'plpgsql, "$libdir/plpgsql", zbxhist',
	'... with their names');
$node->safe_psql('others',
	q{ALTER DATABASE others SET session_preload_libraries = '$libdir/zbxhist'});
is(told('others', 'postgres', ''), '', 'another name for the library');
$node->safe_psql('others', 'ALTER DATABASE others RESET session_preload_libraries');
$node->append_conf('postgresql.conf', "session_preload_libraries = 'plpgsql'");
$node->reload;
is( told('others', 'postgres', ''),
	q{t|ALTER DATABASE others SET session_preload_libraries = 'plpgsql', 'zbxhist'},
	'libraries that the server has are kept');
$node->safe_psql('others', 'ALTER DATABASE others RESET session_preload_libraries');
{
	local $ENV{PGOPTIONS} = '-c session_preload_libraries=zbxhist';
	is(told('others', 'postgres', ''), '', 'a session that was begun with it needs nothing');
}

# ---- who is no superuser ----

create_database($node, 'owned', 'owner');
create_zabbix_tables($node, 'owned', 'owner');
$command = sprintf $plain, 'owned';
my $left = "t|to be run by a superuser, with the libraries that are set already: $command";
is(told('owned', 'owner', ''), $left, 'an owner is told');
is(setting('owned'), '', '... and has not done it');
is(finding('owned', 'owner'), "info|$command;", 'check() tells him, too');
is($node->safe_psql('owned', 'SELECT count(*) FROM zbxhist.parents'), 8, 'all the rest is done');

$node->safe_psql('owned', "ALTER DATABASE owned SET session_preload_libraries = 'plpgsql'");
is( told('owned', 'owner', ''),
	"t|to be run by a superuser: ALTER DATABASE owned SET session_preload_libraries = 'plpgsql', 'zbxhist'",
	'an owner who can know what is set is told the whole command');
$node->safe_psql('owned', 'ALTER DATABASE owned RESET ALL');

$node->safe_psql('owned', 'GRANT SET ON PARAMETER session_preload_libraries TO owner, granted');
is(told('owned', 'owner', ''), $left, 'who may set it but not see it does not replace it');
$node->safe_psql('owned', 'GRANT pg_read_all_settings TO owner, granted');
my $both = q{ALTER DATABASE owned SET session_preload_libraries = 'plpgsql', 'zbxhist'};
$node->safe_psql('owned',
	'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA zbxhist, zbxhist_internal TO granted');
is( $node->safe_psql(
		'owned',
		'SET SESSION AUTHORIZATION granted; SELECT zbxhist_internal.preload_library(false)'),
	"to be run by a superuser: $both",
	'who may set it needs to own the database, too');
is(told('owned', 'owner', ''), "t|$both", 'who may does');
is(setting('owned'), 'session_preload_libraries=plpgsql, zbxhist', '... without being a superuser');
is(finding('owned', 'owner'), '', 'and all is well');

# ---- with the server's own ----

$node->safe_psql('owned', 'ALTER DATABASE owned RESET ALL');
isnt(finding('owned', 'owner'), '', 'taken back, check() says so again');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'zbxhist'");
$node->restart;
is(finding('owned', 'owner'), '', 'shared_preload_libraries is as good: check() is content');
is(told('owned', 'owner', ''), '', '... and setup() has nothing to say');

log_is_clean($node);
$node->stop;
done_testing();
