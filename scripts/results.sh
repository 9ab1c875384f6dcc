# shellcheck shell=bash
# Reads the output of test suites for scripts/test: how many tests there were, which failed
# and why, and what is kept of them.  Sourced, never run.
#
# A suite's output is TAP (of prove, or of pg_regress since PostgreSQL 16), the lines of an
# older pg_regress, or the output of another run of scripts/test, whose last line counts.

# the version of PostgreSQL being tested
CURRENT=''
PASSED=0
FAILED=0
SKIPPED=0
SUMMARY=()
FAILURES=()
# exit code of the last suite
# shellcheck disable=SC2034
SUITE_STATUS=0
# process of each lane, by its name
declare -A LANES=()

# The exit code of a suite that cannot run here; its last line says why.
readonly CANNOT_RUN=77

# Print the numbers of tests that passed, failed and were skipped, from the last line of
# another run of scripts/test; nothing for other logs.
nested_count() {
	sed -n "s/^\(.*[^0-9]\)\{0,1\}\([0-9]*\) $2.*/\2/p" < <(
		grep -E '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1)
}

# A skipped test counts neither as passed nor as failed.
count_passed() {
	nested_count "$1" passed | grep . ||
		grep -E '^(ok [0-9]+|(test )? *[^ ]+ +\.\.\. ok )' "$1" |
		grep -vcEi '# (skip|todo)' || true
}

count_failed() {
	nested_count "$1" failed | grep . ||
		grep -E '^(not ok [0-9]+|(test )? *[^ ]+ +\.\.\. (FAILED|failed))' "$1" |
		grep -vcEi '# (skip|todo)' || true
}

# Suites that another run has skipped.  Tests that skip themselves are in skipped_tests.
count_skipped() {
	nested_count "$1" skipped | grep . || echo 0
}

# The failed tests of a log, with their messages indented.
failed_tests() {
	awk '
		# a file of prove, with the time if there was --timer
		/^(\[[0-9:]+\] )?[^ ]+ \.\.+ *$/ {
			sub(/^\[[0-9:]+\] /, ""); sub(/ \.\.+ *$/, "")
			sub(/.*\//, ""); file = $0 ": "; said = 0; next
		}
		/^ *failed: / { sub(/^ *failed: /, ""); print; next }
		/^(test )? *[^ ]+ +\.\.\. (FAILED|failed)/ {
			sub(/^test /, ""); sub(/^ +/, ""); print; next
		}
		/^not ok/ && !/# *(TODO|SKIP|todo|skip)/ {
			sub(/^not ok [0-9]+ *(- *)?/, ""); print file $0; said = 30; next
		}
		said > 0 && /^#/ { print "    " $0; said--; next }
		/^(Dubious|No subtests run|Bailout called|Parse errors)/ {
			print file $0
			for (i = NR - 15; i < NR; i++)
				if (i in last && last[i] !~ /^(ok|not ok) /) print "    " last[i]
		}
		{ last[NR] = $0; delete last[NR - 15]; if (!/^#/) said = 0 }
	' "$1" | cut -c 1-300
}

# The tests that skipped themselves, with the reason.
skipped_tests() {
	awk '
		/^(\[[0-9:]+\] )?[^ ]+ \.\.+ *$/ {
			sub(/^\[[0-9:]+\] /, ""); sub(/ \.\.+ *$/, "")
			sub(/.*\//, ""); file = $0
		}
		/^1\.\.0 # *(SKIP|skip)/ { sub(/^1\.\.0 # *(SKIP|skip) */, ""); print file ": " $0 }
	' "$1"
}

# Runs a suite: its name, then the command.  In a lane the result is reported when the main
# script waits for the lane.
run_suite() {
	if [ -n "${LANE-}" ]; then
		log_suite "$@"
		echo "$1" >>"$LANE"
	else
		printf '   %-20s ' "$1"
		log_suite "$@"
		report_suite "$1"
	fi
}

# Writes the output to a log, and exit code and seconds to a file beside it.
log_suite() {
	local name=$1 log status=0 before=$SECONDS
	shift
	log=$PLACE/logs/${name// /-}.log
	# in the background: otherwise bash handles a signal only after the command has ended
	"$@" >"$log" 2>&1 </dev/null &
	wait $! || status=$?
	# shellcheck disable=SC2034
	SUITE_STATUS=$status
	echo "$status $((SECONDS - before))" >"$log.end"
	if [ "$status" -ne 0 ]; then keep_logs "$name"; fi
}

# Counts the tests of a suite that has ended, and shows those that failed.  A suite without
# a single test has failed.
report_suite() {
	local name=$1 log status seconds passed failed
	log=$PLACE/logs/${name// /-}.log
	read -r status seconds <"$log.end"
	rm "$log.end"
	if [ "$status" -eq "$CANNOT_RUN" ]; then
		SKIPPED=$((SKIPPED + 1))
		SUMMARY+=("$(printf '%-20s skipped: %s' "$name" "$(tail -n 1 "$log")")")
		printf 'skipped: %s\n' "$(tail -n 1 "$log")"
		return
	fi
	passed=$(count_passed "$log")
	failed=$(count_failed "$log")
	if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
	if [ $((passed + failed)) -eq 0 ]; then
		echo "no test was run" >>"$log"
		failed=1
	fi
	PASSED=$((PASSED + passed))
	FAILED=$((FAILED + failed))
	SKIPPED=$((SKIPPED + $(count_skipped "$log")))
	SUMMARY+=("$(printf '%-20s %5d passed %5d failed %6d s' \
		"$name" "$passed" "$failed" "$seconds")")
	printf '%5d passed %5d failed %6d s\n' "$passed" "$failed" "$seconds"
	skipped_tests "$log" | sed 's/^/      skipped: /'
	if [ "$failed" -gt 0 ]; then show_failure "$name" "$log"; fi
}

# Begins a lane, that is a command that calls run_suite again and again beside the rest of
# the script; $1 is its name.
begin_lane() {
	local name=$1
	shift
	if [ ${#LANES[@]} -eq 0 ]; then undo_at_exit kill_lanes; fi
	(
		trap - EXIT INT TERM HUP
		LANE=$PLACE/logs/$name.lane
		: >"$LANE"
		"$@"
		: >"$LANE.done"
	) &
	LANES[$name]=$!
}

# Waits for lane $1, and reports each of its suites when it has ended.  A lane that ran to
# its end has made a file: its process id may be another process's by now.
end_lane() {
	local process=${LANES[$1]} lane=$PLACE/logs/$1.lane ended='' told=0 names=()
	while [ -z "$ended" ]; do
		# look whether it lives before reading the lane's file
		if [ -e "$lane.done" ] || ! kill -0 "$process" 2>/dev/null; then ended=1; fi
		mapfile -t names < <(cat "$lane" 2>/dev/null)
		for ((; told < ${#names[@]}; told++)); do
			printf '   %-20s ' "${names[told]}"
			report_suite "${names[told]}"
		done
		sleep 1 &
		wait $!
	done
	unset "LANES[$1]"
	rm "$lane"
	if [ -e "$lane.done" ]; then
		rm "$lane.done"
		return
	fi
	printf '   %-20s ended early\n' "$1"
	FAILED=$((FAILED + 1))
	FAILURES+=("$1: it ended early")
}

# Ends the lanes that still run.  Their suites' processes end with all others.
kill_lanes() {
	local name
	for name in "${!LANES[@]}"; do
		if [ ! -e "$PLACE/logs/$name.lane.done" ]; then kill "${LANES[$name]}" 2>/dev/null || true; fi
	done
}

# Shows a failed suite: its failed tests, and the differences of regression tests.  If it
# ended without a failed test, the reason is in its last lines.
show_failure() {
	local name=$1 log=$2 tests line
	tests=$(failed_tests "$log")
	if [ -z "$tests" ]; then
		tests="it ended early"
		tail -n 60 "$log" | cut -c 1-300 | sed 's/^/      /'
	fi
	while read -r line; do
		FAILURES+=("$name: $line")
	done < <(grep -v '^ ' <<<"$tests")
	printf '\n-------- failed of %s (all in %s)\n%s\n' "$name" "$log" "$tests"
	if [ -f "${log%.log}.diffs" ]; then
		printf -- '-------- %s\n' "${log%.log}.diffs"
		head -n 400 "${log%.log}.diffs"
	fi
	printf -- '-------- end of %s\n\n' "$name"
}

# Copies files of a failed suite beside its log, before the suite's next round begins.
keep_logs() {
	local to=$PLACE/logs/${1// /-} source=$PLACE/pg$CURRENT/source
	case $1 in
		regress*) cp "$source/regress-$(cut -d " " -f 3 <<<"$1")/regression.diffs" "$to.diffs" ;;
		isolation*) cp "$source/output_iso/regression.diffs" "$to.diffs" ;;
		tap*) rm -rf "$to" && cp -r "$source/tmp_check/log" "$to" ;;
	esac 2>/dev/null || true
}

# Prints the table, the failed tests, and the line for programs.
summarize() {
	step "Summary ($SECONDS s)"
	printf '   %s\n' "${SUMMARY[@]}"
	if [ "$FAILED" -gt 0 ]; then
		printf '   failed: %s\n' "${FAILURES[@]}"
		say "logs: $PLACE/logs"
	fi
	if [ -n "$KEEP" ]; then say "kept: $PLACE"; fi
	printf '\n%d passed, %d failed' "$PASSED" "$FAILED"
	if [ "$SKIPPED" -gt 0 ]; then printf ', %d skipped' "$SKIPPED"; fi
	printf '\n'
}
