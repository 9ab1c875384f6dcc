"""What scripts/record is made of; bench/run life reads recordings with it."""
