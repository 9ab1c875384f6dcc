# shellcheck shell=bash
# Makes chroots of Debian releases, keeps them, and runs commands in them.  Sourced after
# lib.sh by scripts that run as root; SOURCE is the source tree.

readonly CACHE=${ZBXHIST_MATRIX:-/var/cache/zbxhist-matrix}
readonly DAYS_KEPT=7
# a directory for logs, which is a chroot's /var/tmp, and what runs in the chroot
LOGS='' INSIDE=''

# Ends the script: it cannot run here.
cannot_run() {
	echo "$1"
	exit 77
}

# Ends the script unless chroots can be made and entered.
need_chroots() {
	is_root || cannot_run "a chroot needs root"
	command -v apt-get >/dev/null || cannot_run "this is not Debian"
	unshare --mount --pid --ipc --fork true 2>/dev/null ||
		cannot_run "this machine allows no mounts of our own"
}

# Runs a command in the chroot ROOT, with processes, mounts and a /tmp of its own that end
# with it.  The source tree is /source there; the directory for logs, if there is one, is
# /var/tmp.
inside() {
	# in the background: otherwise bash handles a signal only after the command has ended
	# shellcheck disable=SC2016
	env -u TMPDIR HOME=/root LC_ALL=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		unshare --mount --pid --ipc --fork --kill-child bash -c '
			root=$1 source=$2 logs=$3
			shift 3
			set -e
			mount -t proc proc "$root/proc"
			mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
			mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
			mkdir -p "$root/source"
			mount --bind "$source" "$root/source"
			mount -o remount,bind,ro "$root/source"
			if [ -n "$logs" ]; then mount --bind "$logs" "$root/var/tmp"; fi
			exec chroot "$root" "$@"' inside "$ROOT" "$SOURCE" "$LOGS" "$@" &
	INSIDE=$!
	wait "$INSIDE"
}

# Ends what runs in the chroot.
end_inside() {
	if [ -n "$INSIDE" ]; then kill -KILL "$INSIDE" 2>/dev/null; fi
}

# The mirror that this machine gets its Debian packages from.
mirror() {
	local mirror
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)
	echo "${mirror:-http://deb.debian.org/debian}"
}

# Makes chroot $1 (see need_chroot).  No service is ever started in it.
make_chroot() {
	local root=$CACHE/$1 release=${1%%-*}
	rm -rf "$root" "$root.ready"
	install_packages debootstrap
	say "making a chroot of Debian $release"
	# debootstrap's script for sid works for every release
	quietly debootstrap --variant=minbase --include=ca-certificates "$release" \
		"$root" "$(mirror)" sid ||
		cannot_run "debootstrap cannot make a chroot of Debian $release here"
	printf '#!/bin/sh\nexit 101\n' >"$root$POLICY"
	chmod 755 "$root$POLICY"
	mkdir -p "$root$CREATECLUSTER"
	echo "create_main_cluster = false" >"$root$CREATECLUSTER/matrix.conf"
	# the chroot uses this machine's certificates and proxy
	cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true
	apt-config dump | grep -i '^Acquire::.*proxy' >"$root/etc/apt/apt.conf.d/99host" || true
	case $1 in
		*-*)
			quietly inside "/source/scripts/matrix.d/${1#*-}" ||
				cannot_run "the chroot $1 cannot be made"
			;;
	esac
	recipe "$1" >"$root.ready"
}

# A checksum of the scripts that make chroot $1.
recipe() {
	local script='postgresql-*'
	case $1 in *-*) script=${1#*-} ;; esac
	# shellcheck disable=SC2086
	cat "$SOURCE/scripts/chroots.sh" "$SOURCE"/scripts/matrix.d/$script | cksum
}

# Sets ROOT to the chroot $1.  $1 is a Debian release, or a release, "-", and the script of
# matrix.d that has prepared it.  It is made if there is none, or if it is too old or was
# made by other scripts.  Further arguments are a command that adds to it; other scripts
# that want the chroot wait meanwhile.
need_chroot() {
	ROOT=$CACHE/$1
	mkdir -p "$CACHE"
	exec 7>"$ROOT.lock"
	flock 7
	if [ -z "$(find "$ROOT.ready" -mtime -$DAYS_KEPT 2>/dev/null)" ] ||
		! recipe "$1" | cmp -s - "$ROOT.ready"; then
		make_chroot "$1"
	fi
	if [ $# -gt 1 ]; then "${@:2}"; fi
	flock -s 7
}
