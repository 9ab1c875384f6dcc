"""A statement's shape: its text without the parts that differ between similar statements."""

import re

_SPACE = re.compile(r"\s+")
_TEXT = re.compile(r"[eE]?'(?:[^']|'')*'")
_NUMBER = re.compile(r"(?<![\w.$])-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\b")
_ROWS = re.compile(r"\bvalues ?\(.*\)(?= on conflict|$)", re.I)
_LIST = re.compile(r"\(\?(?: ?, ?\?)+\)")
# a list of keys, by which Zabbix looks for duplicates
_KEYS = re.compile(r"(\([^()]*\))(?: or \1)+", re.I)
# lists of items that Zabbix splits
_LISTS = re.compile(r"\(?\b(itemid in \(\?\.\.\))(?: or \1)+\)?", re.I)
_SAME = re.compile(r"(.+?);(?: ?\1;?)+")


def shape_of(text):
    """Returns the shape of an SQL text; of several equal statements in it, one."""
    shape = _SPACE.sub(" ", text).strip().rstrip("; ")
    if len(shape) > 400 and shape[:12].lower() == "insert into ":
        return _insert(shape)
    shape = _NUMBER.sub("?", _TEXT.sub("?", shape))
    shape = _ROWS.sub("values ..", shape)
    shape = _LIST.sub("(?..)", shape)
    shape = _KEYS.sub(r"\1 or ..", shape)
    shape = _LISTS.sub(r"\1", shape)
    shape = _SAME.sub(r"\1 ..", shape)
    return shape


def _insert(shape):
    """The shape of a long INSERT, without reading all its rows."""
    head = shape[: shape.lower().index("values")] + "values .."
    tail = re.search(r"\) (on conflict .*?);?$", shape[-300:], re.I)
    return _SPACE.sub(" ", head) + (" " + tail.group(1) if tail else "")


def table_of(shape):
    """Returns the history or trends table of a shape, or None."""
    found = re.search(r"\b((?:history|trends)(?:_(?:uint|str|log|text|bin|json))?)\b", shape, re.I)
    return found.group(1).lower() if found else None


def kind_of(shape):
    """Returns insert, update, delete, select or other."""
    word = shape[:7].split(" ")[0].lower()
    return word if word in ("insert", "update", "delete", "select") else "other"
