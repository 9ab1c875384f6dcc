"""What Zabbix sends to PostgreSQL, as it sends the same to MariaDB."""

import re

# strings are as in standard SQL, which is what the recording has
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
    """The statements that MariaDB gets instead of a text; None: there are none like it."""
    if _INSERT.match(text):
        # its strings may have anything in them
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
