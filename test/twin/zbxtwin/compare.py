"""Compares two answers, as far as PostgreSQL determines them."""

from collections import Counter

from .wire import MINUS_ZERO

FLOAT, NUMERIC = 701, 1700


def normal_rows(answer, is_rough):
    """Returns rows as tuples; zeros lose their sign, and rough doubles some digits."""
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
                    # zero, because it may be the rest of squares that cancel; the factor
                    # keeps numbers of few digits away from where rounding changes direction
                    field = b"0" if abs(number) < 1e-4 else f"{number * (1 + 3.3e-9):.8g}".encode()
            fields.append(field)
        rows.append(tuple(fields))
    return rows


def described(statement, column):
    """What is compared of a column.  In a UNION ALL the type modifier depends on the plan."""
    return column[1] if statement.kind == "function" else column[:2]


def difference(statement, plain, managed, fetch_all=None):
    """Returns the difference in words, or None.

    fetch_all returns the plain side's answer without LIMIT.
    """
    if managed.error == "25006" and (plain.error or "").startswith("22"):
        # a constant is evaluated when the query is planned, or when it is executed
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
    # faster: most unordered answers are equal when sorted
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
