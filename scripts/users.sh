# shellcheck shell=sh
# Finds the databases of this machine's Debian clusters that use zbxhist.  Sourced by
# scripts/uninstall, and part of the Debian packages' prerm.

# The query for databases whose sessions would fail without the library's file.  $1 is a
# cluster, VERSION/NAME, $2 its superuser, $3 the database to ask.  A database's owner can
# choose its name and its search_path, so neither is trusted here.
zbxhist_ask() {
	runuser -u "$2" -- env "PGDATABASE=$3" "PGOPTIONS=-c search_path=pg_catalog" \
		psql --cluster "$1" -X -At -c "$4" </dev/null
}

# Prints a line for each use of the library by PostgreSQL version $1: cluster, database, and
# kind of use.  Returns 1 if a cluster could not be asked.
zbxhist_users() {
	version=$1 unknown=0
	for line in $(pg_lsclusters --no-header |
		awk -v v="$version" '$1 == v { print $1 "/" $2 "," $4 "," $5 }'); do
		cluster=${line%%,*} rest=${line#*,}
		status=${rest%%,*} owner=${rest#*,}
		case $status in
			online*) zbxhist_users_of "$cluster" "$owner" || unknown=1 ;;
			*)
				echo "$cluster: it does not run, so nobody knows whether its databases use zbxhist"
				unknown=1
				;;
		esac
	done
	return "$unknown"
}

# The same for the running cluster $1, whose superuser is $2.
zbxhist_users_of() {
	databases=$(zbxhist_ask "$1" "$2" postgres \
		"SELECT datname FROM pg_catalog.pg_database WHERE datallowconn") ||
		{ echo "$1: its databases could not be listed"; return 1; }
	zbxhist_ask "$1" "$2" postgres "
		SELECT '$1: shared_preload_libraries of the server'
		 WHERE pg_catalog.current_setting('shared_preload_libraries') ~ '\mzbxhist\M'
		UNION ALL
		SELECT pg_catalog.concat('$1: ', s.setting, ' of ',
		       pg_catalog.concat_ws(' in ', 'role ' || r.rolname, 'database ' || d.datname))
		  FROM (SELECT setdatabase, setrole,
		               pg_catalog.split_part(pg_catalog.unnest(setconfig), '=', 1) AS setting,
		               pg_catalog.unnest(setconfig) AS line
		          FROM pg_catalog.pg_db_role_setting) s
		  LEFT JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase
		  LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.setrole
		 WHERE s.line ~ '^(session|local)_preload_libraries=.*\mzbxhist\M'" || return 1
	echo "$databases" | while IFS= read -r database; do
		zbxhist_ask "$1" "$2" "$database" "
			SELECT pg_catalog.concat('$1: extension zbxhist in database ',
			       pg_catalog.current_database())
			  FROM pg_catalog.pg_extension WHERE extname = 'zbxhist'" ||
			{ echo "$1: database $database could not be asked"; exit 1; }
	done
}

# Prints what to do about them.
zbxhist_advice() {
	cat <<-'ADVICE'

		In each database, as its owner, before the files go:

		   SELECT format('CALL zbxhist.undo(%L);', p) FROM (SELECT parent FROM zbxhist.parents UNION ALL SELECT parent FROM zbxhist.auditlog_config) m (p) \gexec
		   DROP EXTENSION zbxhist CASCADE;
		   SELECT format('ALTER DATABASE %I RESET session_preload_libraries;', current_database()) \gexec

		The first brings packed values back into plain tables.  Where PostgreSQL refuses
		one of the others to the owner, a superuser runs it.  Where zbxhist is among
		shared_preload_libraries, take it out of postgresql.conf and restart; see
		docs/operations.md, "Removing the extension".
	ADVICE
}
