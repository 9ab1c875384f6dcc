"""The parts of scripts/record; bench/run life reads recordings with them."""
