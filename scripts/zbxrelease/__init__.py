"""What scripts/release does, a concept a file."""
