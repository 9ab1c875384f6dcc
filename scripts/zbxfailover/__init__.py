"""A part of scripts/failover: a real Zabbix as the writer, behind HAProxy."""
