"""A progress bar on standard error."""

import sys
import time


class Progress:
    """Counts steps: draws a bar on a terminal, elsewhere writes a line now and then."""

    def __init__(self, total, title):
        self.total = max(total, 1)
        self.title = title
        self.done = 0
        self.started = time.monotonic()
        self.last_line = 0.0
        self.is_terminal = sys.stderr.isatty()

    def _remaining(self):
        elapsed = time.monotonic() - self.started
        seconds = int(elapsed / self.done * (self.total - self.done)) if self.done else 0
        return "%d:%02d left" % divmod(seconds, 60) if self.done else ""

    def show(self, what):
        """Shows the present activity."""
        if self.is_terminal:
            filled = 30 * self.done // self.total
            sys.stderr.write(
                "\r\033[K%s [%s%s] %d/%d %s  %s"
                % (
                    self.title,
                    "#" * filled,
                    "." * (30 - filled),
                    self.done,
                    self.total,
                    self._remaining(),
                    what,
                )
            )
            sys.stderr.flush()
        elif time.monotonic() - self.last_line > 15:
            self.last_line = time.monotonic()
            sys.stderr.write(
                "%s %d/%d %s  %s\n" % (self.title, self.done, self.total, self._remaining(), what)
            )

    def step(self, count=1):
        """Counts a step."""
        self.done += count

    def finish(self):
        """Ends the terminal's line."""
        elapsed = time.monotonic() - self.started
        if self.is_terminal:
            sys.stderr.write("\r\033[K")
        sys.stderr.write(
            "%s: %d steps in %d:%02d\n" % ((self.title, self.done) + divmod(int(elapsed), 60))
        )


def say(message):
    """Prints a line of information."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    sys.stderr.write(message + "\n")
