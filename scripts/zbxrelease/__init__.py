"""The parts of scripts/release, one subject per file."""
