#!/bin/bash
# Called by the official image's entry point when it has made a new cluster.
exec zbxhist set-up
