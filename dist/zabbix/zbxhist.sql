SELECT zbxhist.metrics()::text AS metrics
