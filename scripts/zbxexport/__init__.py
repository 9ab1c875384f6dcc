"""What scripts/export --format parquet is made of."""
