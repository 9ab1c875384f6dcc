# shellcheck shell=bash
# TAP for gates written in shell.  Sourced, never run.

NUMBER=0
FAILED=0

# Prints a result: $1 is its name, and standard input has the problems, one per line.
report() {
	local problems
	problems=$(cat)
	NUMBER=$((NUMBER + 1))
	if [ -z "$problems" ]; then
		echo "ok $NUMBER - $1"
	else
		echo "not ok $NUMBER - $1"
		# shellcheck disable=SC2001
		sed 's/^/#   /' <<<"$problems"
		FAILED=1
	fi
}

# Prints that a test was skipped: its name and why.
skip() {
	NUMBER=$((NUMBER + 1))
	echo "ok $NUMBER - $1 # skip $2"
}

# Ends the gate.
finish() {
	echo "1..$NUMBER"
	exit "$FAILED"
}

# Is there a program?
have() {
	command -v "$1" >/dev/null
}

# The files whose first line names an interpreter; $1 is a pattern of its path.
scripts_of() {
	grep -rlsE "^#!.*/$1( |\$)" .ci bench debian scripts test --include='*' \
		--exclude-dir=corpus --exclude-dir=tmp_check --exclude-dir=results |
		while read -r file; do
			if head -n 1 "$file" | grep -q '^#!'; then echo "$file"; fi
		done | sort
}
