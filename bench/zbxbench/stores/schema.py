"""Zabbix's tables, as in its schema.sql (6.0 and 7.0)."""

COLUMNS = {
    "history": "itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, "
    "value double precision DEFAULT '0.0000' NOT NULL, "
    "ns integer DEFAULT '0' NOT NULL",
    "history_uint": "itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, "
    "value numeric(20) DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL",
    "history_str": "itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, "
    "value varchar(255) DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL",
    "history_text": "itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, "
    "value text DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL",
    "history_log": "itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, "
    "timestamp integer DEFAULT '0' NOT NULL, "
    "source varchar(64) DEFAULT '' NOT NULL, "
    "severity integer DEFAULT '0' NOT NULL, value text DEFAULT '' NOT NULL, "
    "logeventid integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL",
    "trends": "itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, "
    "num integer DEFAULT '0' NOT NULL, "
    "value_min double precision DEFAULT '0.0000' NOT NULL, "
    "value_avg double precision DEFAULT '0.0000' NOT NULL, "
    "value_max double precision DEFAULT '0.0000' NOT NULL",
    "trends_uint": "itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, "
    "num integer DEFAULT '0' NOT NULL, "
    "value_min numeric(20) DEFAULT '0' NOT NULL, "
    "value_avg numeric(20) DEFAULT '0' NOT NULL, "
    "value_max numeric(20) DEFAULT '0' NOT NULL",
}

MIXES = {
    "float": ("history",),
    "uint": ("history_uint",),
    "zabbix": ("history", "history_str", "history_log", "history_uint", "history_text"),
}


def primary_key(table):
    """The columns of Zabbix's primary key."""
    return "itemid, clock" if table.startswith("trends") else "itemid, clock, ns"


def create_table(table, suffix=""):
    """Zabbix's CREATE TABLE, optionally with PARTITION BY."""
    return "CREATE TABLE %s (%s, PRIMARY KEY (%s)) %s;" % (
        table,
        COLUMNS[table],
        primary_key(table),
        suffix,
    )


def column_names(table):
    """All columns in the order of the table."""
    return ", ".join(column.split()[0] for column in COLUMNS[table].split(", "))


# Zabbix's MySQL schema has other types for these
MYSQL_TYPES = (
    ("itemid bigint", "itemid bigint unsigned"),
    ("numeric(20)", "bigint unsigned"),
    ("text DEFAULT ''", "longtext"),
)


def create_table_mysql(table):
    """Zabbix's CREATE TABLE for MySQL and MariaDB."""
    columns = COLUMNS[table]
    for postgres, mysql in MYSQL_TYPES:
        columns = columns.replace(postgres, mysql)
    return "CREATE TABLE %s (%s, PRIMARY KEY (%s)) ENGINE=InnoDB" % (
        table,
        columns,
        primary_key(table),
    )
