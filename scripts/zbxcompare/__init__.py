"""What scripts/compare is made of."""
