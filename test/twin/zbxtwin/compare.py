"""Compares two answers, as far as PostgreSQL determines them."""

from collections import Counter

from .wire import MINUS_ZERO

FLOAT, NUMERIC = 701, 1700


def normal_rows(answer, is_rough):
    """Rows as tuples; zeros have no sign, and rough doubles fewer digits."""
    rough = {i for i, c in enumerate(answer.columns) if is_rough and c[1] in (FLOAT, NUMERIC)}
    rows = []
    for row in answer.rows:
        fields = []
        for place, field in enumerate(answer.fields(row)):
            if field is not None:
                if b"-0" in field:
                    field = MINUS_ZERO.sub(b"0", field)
                if place in rough:
                    number = float(field)
                    # zero is what squares leave that cancel each other out; no number of few
                    # digits is where it is rounded up or down
                    field = b"0" if abs(number) < 1e-4 else f"{number * (1 + 3.3e-9):.8g}".encode()
            fields.append(field)
        rows.append(tuple(fields))
    return rows


def described(statement, column):
    """What is compared of a column; what its type is limited to depends on the plan of a UNION ALL."""
    return column[1] if statement.kind == "function" else column[:2]


def difference(statement, plain, managed, fetch_all=None):
    """What differs, in words; None if nothing does.

    fetch_all gives the plain side's answer without LIMIT.
    """
    if managed.error == "25006" and (plain.error or "").startswith("22"):
        # constants are looked at when a plan is made, or when it is executed
        return None
    if plain.error != managed.error:
        return f"SQLSTATE {plain.error} and {managed.error}"
    if plain.status != managed.status:
        return f"transaction state {plain.status} and {managed.status}"
    if plain.error:
        return None
    if [described(statement, c) for c in plain.columns] != [
        described(statement, c) for c in managed.columns
    ]:
        return "columns"
    if statement.kind != "setting" and plain.tag != managed.tag:
        return f"command tag {plain.tag} and {managed.tag}"
    if plain.rows == managed.rows:
        return None
    # most that have no order differ in nothing else
    if statement.ordered is None and sorted(plain.rows) == sorted(managed.rows):
        return None
    ones, others = normal_rows(plain, statement.is_rough), normal_rows(managed, statement.is_rough)
    if ones == others:
        return None
    ordered = statement.ordered
    if ordered == []:
        return "rows, in their order"
    if ordered:
        shown = [[tuple(row[i] for i in ordered) for row in rows] for rows in (ones, others)]
        if shown[0] != shown[1]:
            return "order of rows"
    if statement.unlimited[0]:
        if fetch_all is None:
            return None
        extra = Counter(others) - Counter(normal_rows(fetch_all(), statement.is_rough))
        return "rows that are none" if extra else None
    if Counter(ones) != Counter(others):
        return "rows"
    return None
