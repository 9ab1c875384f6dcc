"""The parts of scripts/report."""
