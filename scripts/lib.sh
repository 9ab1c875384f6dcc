# shellcheck shell=bash
# What scripts/quickstart, scripts/test and scripts/install share: messages,
# Debian packages, and private copies of PostgreSQL.  Sourced, never run.
#
# Nothing here touches a PostgreSQL cluster that is already there: packages
# are installed with service starts and the automatic "main" cluster switched
# off, and the extension goes into a private copy of the PostgreSQL
# installation (the binaries copied, the rest symbolic links), never into the
# system's own directories.

readonly SUPPORTED_VERSIONS="19 18 17 16 15"
readonly POLICY=/usr/sbin/policy-rc.d
readonly CREATECLUSTER=/etc/postgresql-common/createcluster.d
readonly PACKAGES_LOCK=/run/lock/zbxhist-packages

# Files to put back or remove when the script ends; see undo_at_exit.
UNDO=()
STEP=0
LOG=/dev/null

# ---------------------------------------------------------------- messages

# Prints a numbered headline.
step() {
	STEP=$((STEP + 1))
	printf '\n%s%d. %s%s\n' "${BOLD-}" "$STEP" "$1" "${PLAIN-}"
}

# Prints a line under a headline.
say() {
	printf '   %s\n' "$*"
}

# Ends the script with a reason and, optionally, a remedy.
die() {
	printf '\n%s: %s\n' "${0##*/}" "$1" >&2
	if [ $# -gt 1 ]; then printf '   %s\n' "$2" >&2; fi
	exit 1
}

# Uses bold headlines on a terminal.
use_colours() {
	if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
		BOLD=$'\033[1m' PLAIN=$'\033[0m'
	fi
}

# Begins a log for output that is shown only on failure.
start_log() {
	LOG=$(mktemp)
	undo_at_exit "rm -f '$LOG'"
}

# Runs a command with its output in $LOG; shows the end of it on failure.
quietly() {
	local status=0
	"$@" >>"$LOG" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		printf '\nfailed (%d): %s\n' "$status" "$*" >&2
		[ "$LOG" = /dev/null ] || tail -n 40 "$LOG" >&2
	fi
	return "$status"
}

# The same, but first prints what it does, then a dot every other second, and at the end the
# time that it took.
patiently() {
	local what=$1 since=$SECONDS dots status=0
	shift
	printf '   %s ' "$what"
	# the dots hold no lock, do not write to the log, and end with the script
	while sleep 2 >/dev/null && kill -0 $$; do printf .; done 2>/dev/null 8>&- 9>&- &
	dots=$!
	quietly "$@" || status=$?
	kill "$dots" 2>/dev/null || true
	wait "$dots" 2>/dev/null || true
	printf ' %d s\n' $((SECONDS - since))
	return "$status"
}

# ---------------------------------------------------------------- clean-up

# Remembers a command to run when the script ends.  The last one is run first.
undo_at_exit() {
	UNDO=("$1" "${UNDO[@]}")
}

# The EXIT trap.  A second Ctrl-C does not interrupt it.
run_undo() {
	local status=$? command
	trap '' INT TERM HUP
	for command in "${UNDO[@]}"; do
		eval "$command" || true
	done
	return "$status"
}

trap run_undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# Prints the processes whose program or working directory is below directory $1, or whose
# TMPDIR is $1 or below it.
processes_of() {
	{
		find /proc -mindepth 2 -maxdepth 2 \( -name exe -o -name cwd \) \
			-lname "$1/*" 2>/dev/null
		grep -lzsE "^TMPDIR=$1(/|\$)" /proc/[0-9]*/environ
	} | cut -d / -f 3 | sort -un
}

# Ends these processes: first servers, which then release their shared memory, and others by
# SIGTERM, so that they can clean up; after ten seconds all that are left by SIGKILL.  It is
# a subshell so that its own commands do not have that TMPDIR.
end_processes() (
	unset TMPDIR
	find "$1" -name postmaster.pid 2>/dev/null | while read -r file; do
		postmaster=$(head -n 1 "$file")
		case $(readlink "/proc/$postmaster/exe") in
			"$1"/*) kill -QUIT "$postmaster" 2>/dev/null || true ;;
		esac
	done
	processes_of "$1" | while read -r process; do
		case $(readlink "/proc/$process/exe") in
			*/postgres) ;;
			*) kill -TERM "$process" 2>/dev/null || true ;;
		esac
	done
	for _ in {1..50}; do
		if [ -z "$(processes_of "$1")" ]; then return; fi
		sleep 0.2
	done
	processes_of "$1" | xargs -r kill -KILL 2>/dev/null || true
)

# Runs this script again, with its arguments, as a subreaper, the parent of orphaned
# processes.  In a container whose PID 1 reaps nobody, a server that has ended would stay a
# zombie, and no other could start in its data directory.  Bash reaps every child.
reap_orphans() {
	if [ -n "${ZBXHIST_REAPS-}" ] || ! command -v perl >/dev/null; then return 0; fi
	# prctl(PR_SET_CHILD_SUBREAPER, 1), which exec keeps
	ZBXHIST_REAPS=1 exec perl -e '
		my %prctl = (x86_64 => 157, aarch64 => 167, riscv64 => 167, i686 => 172, ppc64le => 171, s390x => 172);
		chomp(my $machine = `uname -m`);
		syscall($prctl{$machine}, 36, 1, 0, 0, 0) if $prctl{$machine};
		exec @ARGV or die' "$BASH" "$0" "$@"
}

# ---------------------------------------------------------------- packages

is_root() {
	[ "$(id -u)" -eq 0 ]
}

# Prints those of the given packages that are not installed.
missing_packages() {
	local package
	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
			grep -qx installed || printf '%s\n' "$package"
	done
}

# apt-get without questions.  It waits for another apt instead of failing, and has a session
# of its own, because a Ctrl-C in the middle would leave packages half installed.
apt_get() {
	DEBIAN_FRONTEND=noninteractive setsid --wait apt-get -q -y --no-install-recommends \
		--no-upgrade -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 \
		-o Dpkg::Options::=--force-confold "$@"
}

# Updates the package lists if there are none, or if they lack one of these packages.
refresh_lists() {
	if ! apt-cache show "$@" >/dev/null 2>&1; then
		patiently "reading the lists of packages" apt_get update
	fi
}

# Keeps packages from starting services and from making a cluster while they are installed.
# The two files that do so are removed afterwards; files that existed are left alone.  Only
# one script at a time can be here.
hold_services() {
	mkdir -p "${PACKAGES_LOCK%/*}"
	exec 8>"$PACKAGES_LOCK"
	flock 8
	undo_at_exit release_services
	HELD_CONFIGURATION=1
	if [ ! -e "$POLICY" ]; then
		HELD_POLICY=1
		printf '#!/bin/sh\nexit 101\n' >"$POLICY"
		chmod 755 "$POLICY"
	fi
	if [ -n "$(missing_packages postgresql-common)" ]; then
		quietly apt_get install postgresql-common
	fi
	if [ ! -d "$CREATECLUSTER" ]; then
		HELD_DIRECTORY=1
		mkdir -p "$CREATECLUSTER"
	fi
	echo "create_main_cluster = false" >"$CREATECLUSTER/zbxhist.conf"
}

# Ends hold_services.
release_services() {
	if [ -n "${HELD_POLICY-}" ]; then rm -f "$POLICY"; fi
	if [ -n "${HELD_CONFIGURATION-}" ]; then rm -f "$CREATECLUSTER/zbxhist.conf"; fi
	if [ -n "${HELD_DIRECTORY-}" ]; then rmdir "$CREATECLUSTER"; fi
	HELD_POLICY='' HELD_CONFIGURATION='' HELD_DIRECTORY=''
	exec 8>&-
}

# Says how many packages would be installed, dependencies included, and their size.
say_size() {
	LC_ALL=C apt_get --print-uris install "$@" 2>/dev/null | awk '
		/newly installed/ { number = $3 }
		/^Need to get/ { sub(/^Need to get /, ""); sub(/ of archives\.$/, ""); fetched = $0 }
		/^After this operation, / { sub(/^After this operation, /, ""); sub(/ of additional.*/, ""); used = $0 }
		END { if (number) printf "   %d packages, %s to download, %s of disk space, for:\n", number, fetched, used }' || true
	printf '%s\n' "$*" | fold -s -w 90 | sed 's/^/      /'
}

# Prints the services that start at boot, except PostgreSQL's, which has no cluster.
enabled_services() {
	find /etc/systemd/system /etc/rc?.d -type l \( -path '*.wants/*' -o -name 'S*' \) \
		! -name '*postgresql*' 2>/dev/null | sort
}

# Disables the services that packages have enabled since; $1 is what enabled_services
# printed before.
disable_services() {
	local link
	comm -13 <(echo "$1") <(enabled_services) | while read -r link; do
		case $link in
			*.wants/*) rm -f "$link" ;;
			*) update-rc.d "${link##*/S??}" disable ;;
		esac
	done >>"$LOG" 2>&1
}

# Installs the missing ones of these packages, and says so first.
install_packages() {
	local missing enabled
	mapfile -t missing < <(missing_packages "$@")
	if [ "${#missing[@]}" -eq 0 ]; then
		say "every package is there"
		return
	fi
	is_root || die "these packages are missing: ${missing[*]}" \
		"run as root, or: apt-get install ${missing[*]}"
	refresh_lists "${missing[@]}"
	say_size "${missing[@]}"
	hold_services
	enabled=$(enabled_services)
	patiently "installing, no service is started or enabled" install_or_update "${missing[@]}"
	disable_services "$enabled"
	release_services
}

# Installs packages.  Outdated package lists name files that are gone, so it updates them
# and tries again.
install_or_update() {
	apt_get install "$@" || { apt_get update && apt_get install "$@"; }
}

# Downloads package $1 into directory $2 without installing it.
download_package() {
	if is_root; then refresh_lists "${1%%=*}"; fi
	(cd "$2" && apt-get -q -o Acquire::Retries=3 -o APT::Sandbox::User=root download "$1")
}

# -------------------------------------------------------------- PostgreSQL

# Prints the prefix of PostgreSQL $1: in ZBXHIST_INSTALLATIONS, if set, a directory of
# prefixes named by version, else Debian's.
installation() {
	local own=${ZBXHIST_INSTALLATIONS-}/$1
	if [ -n "${ZBXHIST_INSTALLATIONS-}" ] && [ -x "$own/bin/postgres" ]; then
		echo "$own"
	else
		echo "/usr/lib/postgresql/$1"
	fi
}

is_debians() {
	case $(installation "$1") in /usr/lib/postgresql/*) return 0 ;; esac
	return 1
}

# Can extensions be built with this pg_config?  Debian ships the makefiles with the client,
# the headers in another package.
can_build() {
	[ -e "$("$1" --pgxs 2>/dev/null)" ] &&
		[ -e "$("$1" --includedir-server)/postgres.h" ]
}

# Prints the directory of PGXS; nothing if it is not installed.
pgxs_of() {
	local program
	program=$(installation "$1")/bin/pg_config
	if can_build "$program"; then dirname "$(dirname "$("$program" --pgxs)")"; fi
}

# The PostgreSQL versions here that extensions can be built for, newest first.
installed_versions() {
	local version
	for version in $SUPPORTED_VERSIONS; do
		if [ -x "$(installation "$version")/bin/postgres" ] &&
			[ -n "$(pgxs_of "$version")" ]; then
			echo "$version"
		fi
	done
}

# The version to use by default: the newest server that is installed, else the
# distribution's.
default_version() {
	local version
	for version in $SUPPORTED_VERSIONS; do
		if [ -x "$(installation "$version")/bin/postgres" ]; then
			echo "$version"
			return
		fi
	done
	if is_root; then refresh_lists postgresql; fi
	apt-cache depends postgresql 2>/dev/null |
		sed -n 's/^ *Depends: postgresql-\([0-9][0-9]*\)$/\1/p' | head -n 1
}

# Fails unless the extension supports this version.
check_version() {
	case " $SUPPORTED_VERSIONS " in
		*" $1 "*) ;;
		*) die "PostgreSQL ${1:-of this system} is not supported" \
			"versions: $SUPPORTED_VERSIONS" ;;
	esac
}

# Prints the packages needed to build and test the extension with a private server.
build_packages() {
	server_packages "$1"
	build_tools
}

server_packages() {
	printf '%s\n' "postgresql-$1" "postgresql-client-$1" "postgresql-server-dev-$1"
}

build_tools() {
	printf '%s\n' make gcc libc6-dev libzstd-dev
}

# A private copy of PostgreSQL $1 below directory $2.  PostgreSQL finds its
# files relative to its programs, so "make install" with the copy's pg_config
# and every server started from it stay inside the directory.
copy_postgres() {
	local version=$1 root=$2 directory
	if ! is_debians "$version"; then
		copy_prefix "$version" "$root"
		return
	fi
	for directory in lib share; do
		mkdir -p "$root/usr/$directory/postgresql"
		cp -as "/usr/$directory/postgresql/$version" \
			"$root/usr/$directory/postgresql/"
	done
	rm -rf "$root/usr/lib/postgresql/$version/bin"
	cp -a "/usr/lib/postgresql/$version/bin" \
		"$root/usr/lib/postgresql/$version/"
	mkdir -p "$root/usr/include"
	ln -sfn /usr/include/postgresql "$root/usr/include/postgresql"
	rm -rf "$root/usr/lib/postgresql/$version/lib/"zbxhist* \
		"$root/usr/lib/postgresql/$version/lib/bitcode/"zbxhist* \
		"$root/usr/share/postgresql/$version/extension/"zbxhist*
}

# Adds the files that extensions are built with to the copy of PostgreSQL $1 below directory
# $2, unless they are installed.  They take 7 MB; Debian's package of them depends on some
# 400 MB of clang and LLVM for bitcode, which is not made here.
add_build_files() {
	local package=postgresql-server-dev-$1 version
	[ -z "$(pgxs_of "$1")" ] || return 0
	version=$(dpkg-query -W -f '${Version}' "postgresql-$1" 2>/dev/null) || version=''
	# of the server's own version, if the mirror still has it
	download_package "$package${version:+=$version}" "$2" >>"$LOG" 2>&1 ||
		quietly download_package "$package" "$2"
	quietly dpkg -x "$2/$package"_*.deb "$2/$package"
	# a directory of its own, so that nothing is written through the symbolic links
	rm -f "$2/usr/include/postgresql"
	cp -a --remove-destination "$2/$package/usr" "$2/"
	rm -r "${2:?}/$package" "$2/$package"_*.deb
}

# The same for an installation that has everything below one prefix.
copy_prefix() {
	local copy=$2/usr/lib/postgresql/$1
	mkdir -p "$2/usr/lib/postgresql"
	cp -as "$(installation "$1")" "$copy"
	rm -rf "${copy:?}/bin"
	cp -a "$(installation "$1")/bin" "$copy/"
}

# The directory of such a copy's programs.
copy_bin() {
	echo "$2/usr/lib/postgresql/$1/bin"
}

# Copies the source tree $1 to $2 without what a build or git left in it.
copy_source() {
	mkdir -p "$2"
	tar -C "$1" --exclude=./.git --exclude='*.o' --exclude='*.bc' \
		--exclude='*.so' --exclude=./bench/loader/loader \
		--exclude=./bench/dataset/dataset \
		--exclude='./sql/zbxhist*--*.sql' \
		--exclude=./results --exclude=./output_iso \
		--exclude=./tmp_check --exclude=./tmp_check_iso -cf - . |
		tar -C "$2" --no-same-owner -xf -
}

# Copies the library that scripts/test has compiled from the same source tree into the copy
# $1, so that the scripts that it runs need not compile it again.
copy_objects() {
	[ -n "${ZBXHIST_OBJECTS-}" ] || return 0
	(cd "$ZBXHIST_OBJECTS" && find src -name '*.o' -exec cp -p --parents -t "$1" {} +)
}

# A configuration for scratch servers: reachable by their socket only.
# $1 data directory, $2 socket directory; more settings on standard input.
configure_server() {
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$2'"
		cat
	} >>"$1/postgresql.conf"
}

# Builds the library $2 that sets servers' clocks, from the source tree $1.
build_clock() {
	quietly gcc -shared -fPIC -O2 -Wall -o "$2" "$1/test/clock/clock.c"
	chmod 755 "$2"
}

# Runs a command as the unprivileged user of the scratch servers.
as_user() {
	if is_root; then
		runuser -u postgres -- "$@"
	else
		"$@"
	fi
}

# The name of that user.
server_user() {
	if is_root; then echo postgres; else id -un; fi
}
