"""What scripts/failover has beside itself: a real Zabbix that writes, behind HAProxy."""
