"""The measurements of zbxhist: one module an experiment, one a store."""
