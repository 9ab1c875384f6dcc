"""Translates what Zabbix sends to PostgreSQL into what it sends to MariaDB."""

import re

# the recording has strings of standard SQL
SESSION = "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'"

_DELETE = re.compile(
    r"delete from (\w+) where itemid=(\d+) and ctid = any\(array\(select ctid from \1 "
    r"where itemid=\2 limit (\d+)\)\)\s*;?\s*",
    re.I,
)
_CAST = re.compile(r"\bcast\((\w+) as bigint\)", re.I)
_FOREIGN = re.compile(r"\bctid\b|::|\bon conflict\b|\barray\b|\bilike\b", re.I)
_INSERT = re.compile(r"\s*insert\b", re.I)
_UPDATES = re.compile(r"\s*update trends", re.I)


def translated(text):
    """The statements for MariaDB; None if there is no equivalent."""
    if _INSERT.match(text):
        # strings may contain anything
        head = text[: text.lower().index("values")] + text[-200:].rsplit("'", 1)[-1]
        return None if _FOREIGN.search(head) else [text]
    delete = _DELETE.fullmatch(text.strip())
    if delete:
        return ["delete from %s where itemid=%s limit %s" % delete.groups()]
    text = _CAST.sub(r"CAST(\1 AS SIGNED)", text)
    if _FOREIGN.search(text):
        return None
    if _UPDATES.match(text):
        return [part for part in text.split(";") if part.strip()]
    return [text]
