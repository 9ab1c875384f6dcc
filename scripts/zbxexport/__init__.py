"""The parts of scripts/export --format parquet."""
