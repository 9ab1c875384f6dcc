#!/bin/bash
# Called by the official image's entry point after it has made a new cluster.
exec zbxhist set-up
