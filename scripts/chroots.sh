# shellcheck shell=bash
# What makes chroots of Debian releases, keeps them, and runs something in them.
# Sourced after lib.sh by what runs as root; the source tree is SOURCE.

readonly CACHE=${ZBXHIST_MATRIX:-/var/cache/zbxhist-matrix}
readonly DAYS_KEPT=7
# a directory for logs, which is a chroot's /var/tmp, and what runs in the chroot
LOGS='' INSIDE=''

# Ends the script: it cannot run here.
cannot_run() {
	echo "$1"
	exit 77
}

# Ends the script where no chroot can be made or entered.
need_chroots() {
	is_root || cannot_run "a chroot needs root"
	command -v apt-get >/dev/null || cannot_run "this is not Debian"
	unshare --mount --pid --ipc --fork true 2>/dev/null ||
		cannot_run "this machine allows no mounts of our own"
}

# A command in the chroot ROOT, with processes, mounts and a /tmp of its own that end
# with it.  It sees this source tree in /source, and the directory for logs, if
# there is one, as /var/tmp.
inside() {
	# in the background, or a signal would wait for its end
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

# Where this machine has its Debian packages from.
mirror() {
	local mirror
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)
	echo "${mirror:-http://deb.debian.org/debian}"
}

# Makes chroot $1, see need_chroot.  Nothing starts services in it.
make_chroot() {
	local root=$CACHE/$1 release=${1%%-*}
	rm -rf "$root" "$root.ready"
	install_packages debootstrap
	say "making a chroot of Debian $release"
	# its script for sid knows every release
	quietly debootstrap --variant=minbase --include=ca-certificates "$release" \
		"$root" "$(mirror)" sid ||
		cannot_run "debootstrap cannot make a chroot of Debian $release here"
	printf '#!/bin/sh\nexit 101\n' >"$root$POLICY"
	chmod 755 "$root$POLICY"
	mkdir -p "$root$CREATECLUSTER"
	echo "create_main_cluster = false" >"$root$CREATECLUSTER/matrix.conf"
	# it reaches what this machine reaches
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

# What chroot $1 is made by.
recipe() {
	local script='postgresql-*'
	case $1 in *-*) script=${1#*-} ;; esac
	# shellcheck disable=SC2086
	cat "$SOURCE/scripts/chroots.sh" "$SOURCE"/scripts/matrix.d/$script | cksum
}

# The chroot $1, named as its release, or so with "-" and the script of matrix.d that
# has made of it what else it is; made if there is none that is young and was made by
# the present scripts: ROOT.  Then the command given as further arguments, if there is
# one, adds to it.  Others that want it wait meanwhile.
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
