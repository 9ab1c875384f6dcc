"""The measurements of zbxhist: one module per experiment, one per store."""
