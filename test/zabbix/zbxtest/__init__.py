"""A real, unmodified Zabbix (server, sender, PHP frontend) on top of zbxhist.

One module per thing: tap (reporting), proc (child processes), debs (Debian's
packages, extracted), cluster (a private PostgreSQL), server, frontend, site
(all of these for one database), values (what was sent, so what must be
there), story with reading, upkeep and scenario (the checks), and plan (which
checks, on which versions).
"""
