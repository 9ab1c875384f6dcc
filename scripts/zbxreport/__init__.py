"""What scripts/report is made of."""
