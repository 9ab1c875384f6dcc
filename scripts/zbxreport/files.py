"""Files that are written completely or not at all."""

import os
import sys
import tempfile

from . import collect


def check_directory(path):
    """Fails unless the directory of an output file exists."""
    directory = os.path.dirname(path or "")
    if directory and not os.path.isdir(directory):
        raise collect.ReportError(
            f"there is no directory {directory}", f"mkdir -p {collect.shell(directory)}"
        )


def write(path, text):
    """Writes a file.  None is standard output; it is no error if its reader stops early."""
    if path is None:
        try:
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        return
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".report.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
