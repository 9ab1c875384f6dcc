# shellcheck shell=bash
# What scripts/test makes of the output of a suite: how many tests there were,
# which failed and why, and what is kept of them.  Sourced, never run.
#
# A suite's output is TAP (of prove, of pg_regress since PostgreSQL 16), the
# lines of an older pg_regress, or that of another run of scripts/test, whose
# last line counts.

# the version of PostgreSQL that is being tested
CURRENT=''
PASSED=0
FAILED=0
SKIPPED=0
SUMMARY=()
FAILURES=()
# what the last suite has returned
# shellcheck disable=SC2034
SUITE_STATUS=0
# the processes of lanes by name
declare -A LANES=()

# What a suite returns that cannot run here; the last line it printed says why.
readonly CANNOT_RUN=77

# Tests in a log that passed, failed or were skipped, as the last line of
# another run counts them; nothing if it is not the output of one.
nested_count() {
	sed -n "s/^\(.*[^0-9]\)\{0,1\}\([0-9]*\) $2.*/\2/p" < <(
		grep -E '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1)
}

# What was skipped counts as neither.
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

# Suites that another run has skipped; a test that skips itself says so in
# skipped_tests.
count_skipped() {
	nested_count "$1" skipped | grep . || echo 0
}

# The failed tests of a log with what they said, indented.
failed_tests() {
	awk '
		# a file of prove, with the time if --timer is given
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

# Runs a suite: name, then the command.  In a lane it is told of when others
# wait for the lane.
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

# The output goes to a log, exit code and seconds beside it.
log_suite() {
	local name=$1 log status=0 before=$SECONDS
	shift
	log=$PLACE/logs/${name// /-}.log
	# in the background, or a signal would wait for its end
	"$@" >"$log" 2>&1 </dev/null &
	wait $! || status=$?
	# shellcheck disable=SC2034
	SUITE_STATUS=$status
	echo "$status $((SECONDS - before))" >"$log.end"
	if [ "$status" -ne 0 ]; then keep_logs "$name"; fi
}

# Counts a suite that has ended and shows what failed of it.  One without a
# single test has failed.
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

# Begins a lane: a command that calls run_suite, time and again, beside what
# follows; $1 is its name.
begin_lane() {
	local name=$1
	shift
	if [ ${#LANES[@]} -eq 0 ]; then undo_at_exit kill_lanes; fi
	(
		trap - EXIT INT TERM HUP
		LANE=$PLACE/logs/$name.lane
		: >"$LANE"
		"$@"
	) &
	LANES[$name]=$!
}

# Waits for lane $1 and tells of its suites, of each as soon as it has ended.
end_lane() {
	local process=${LANES[$1]} lane=$PLACE/logs/$1.lane ended='' told=0 names=()
	while [ -z "$ended" ]; do
		# before looking what it has written
		kill -0 "$process" 2>/dev/null || ended=1
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
	wait "$process" && return
	printf '   %-20s ended early\n' "$1"
	FAILED=$((FAILED + 1))
	FAILURES+=("$1: it ended early")
}

# Ends the lanes that still are; their suites' processes end like all others.
kill_lanes() {
	if [ ${#LANES[@]} -gt 0 ]; then kill "${LANES[@]}" 2>/dev/null; fi
}

# What one needs to see of a failed suite: its failed tests, and the
# differences of regression tests.  A suite that ended without a failed test
# has the reason in its last lines.
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

# Puts what a failed suite has left beside its log, before the next round of it begins.
keep_logs() {
	local to=$PLACE/logs/${1// /-} source=$PLACE/pg$CURRENT/source
	case $1 in
		regress*) cp "$source/regress-$(cut -d " " -f 3 <<<"$1")/regression.diffs" "$to.diffs" ;;
		isolation*) cp "$source/output_iso/regression.diffs" "$to.diffs" ;;
		tap*) rm -rf "$to" && cp -r "$source/tmp_check/log" "$to" ;;
	esac 2>/dev/null || true
}

# The table, the failed tests, and the line that machines read.
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
