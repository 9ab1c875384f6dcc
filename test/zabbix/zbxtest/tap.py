"""TAP output, so that prove can run the suite."""

import sys
import time


class Tap:
    """Counts and prints test points; the plan goes last, as its length
    depends on what the machine can get hold of."""

    def __init__(self, out=sys.stdout):
        self.out = out
        self.count = 0
        self.failed = 0
        self.started = time.monotonic()

    def _line(self, text):
        """Prints at once: someone may be watching."""
        print(text, file=self.out, flush=True)

    def ok(self, passed, name, *details):
        """One test point.  details are printed when it fails."""
        self.count += 1
        verdict = "ok" if passed else "not ok"
        self._line(f"{verdict} {self.count} - {name}")
        if not passed:
            self.failed += 1
            for detail in details:
                self.note(detail)
        return bool(passed)

    def equal(self, got, expected, name):
        """A test point which shows both sides when they differ."""
        return self.ok(got == expected, name, f"     got: {got!r}", f"expected: {expected!r}")

    def skip(self, name, reason):
        """A test point which could not be made here, and why."""
        self.count += 1
        self._line(f"ok {self.count} - {name} # SKIP {reason}")

    def note(self, text):
        """Diagnostics: any text, as TAP comments."""
        for line in str(text).splitlines() or [""]:
            self._line(f"# {line[:2000]}")

    def step(self, text):
        """Says which part has begun, and how long the last one took."""
        self.note(f"[{time.monotonic() - self.started:6.1f}s] {text}")

    def bail_out(self, reason):
        """Bail out: nothing can be tested."""
        self._line(f"Bail out!  {reason}")

    def done(self):
        """Prints the plan and returns the exit code."""
        self._line(f"1..{self.count}")
        return 1 if self.failed or not self.count else 0


def some(what, rows, count=8):
    """The first few of many differences."""
    if not rows:
        return []
    return [f"{what}: {len(rows)}"] + [f"  {str(row)[:300]}" for row in rows[:count]]
