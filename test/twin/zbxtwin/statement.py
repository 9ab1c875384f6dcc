"""Statements made of parts, so that a difference can be reduced by leaving parts out."""

import copy
import re


class Target:
    """A target: an expression, its name and its kind; for all columns also their names, if
    known."""

    def __init__(self, sql, kind, name=None, columns=None):
        self.sql, self.kind, self.name, self.columns = sql, kind, name, columns

    def shown(self):
        """Yields the name and the expression of each column."""
        return [(None, c) for c in self.columns] if self.columns else [(self.name, self.sql)]

    def __str__(self):
        return f"{self.sql} AS {self.name}" if self.name else self.sql


class Select:
    """A SELECT.  Its sort keys are texts, or targets, with their direction."""

    def __init__(self, targets, source):
        self.targets, self.source = targets, list(source)
        self.ctes, self.distinct, self.conditions = [], "", []
        self.group, self.having, self.order = [], [], []
        self.group_kind = ""
        self.limit = self.offset = None
        self.locking, self.operation, self.ties = "", None, False
        # has sums of doubles in the order of the plan
        self.is_rough = False
        # is ordered by a key, whatever the targets are
        self.is_total = False

    def order_by(self):
        """The terms of ORDER BY."""
        return [
            f"{self.targets.index(what) + 1 if isinstance(what, Target) else what}{direction}"
            for what, direction in self.order
            if not isinstance(what, Target) or what in self.targets
        ]

    def text(self, is_limited=True):
        """The SQL."""
        parts = []
        if self.ctes:
            kind = "WITH RECURSIVE " if any(" UNION " in c for c in self.ctes) else "WITH "
            parts.append(kind + ", ".join(self.ctes))
        parts.append(f"SELECT {self.distinct}" + ", ".join(map(str, self.targets)))
        if self.source:
            parts.append("FROM " + " ".join(self.source))
        if self.conditions:
            parts.append("WHERE " + " AND ".join(self.conditions))
        if self.group:
            keys = ", ".join(self.group)
            parts.append(
                f"GROUP BY {self.group_kind}({keys})" if self.group_kind else f"GROUP BY {keys}"
            )
        if self.having:
            parts.append("HAVING " + " AND ".join(self.having))
        if self.operation:
            parts.append(f"{self.operation[0]} {self.operation[1].text()}")
        order = self.order_by()
        if order and (is_limited or not self.limit):
            parts.append("ORDER BY " + ", ".join(order))
        if is_limited:
            if self.offset is not None:
                parts.append(f"OFFSET {self.offset}")
            if self.limit is not None:
                parts.append(
                    f"FETCH FIRST {self.limit} ROWS WITH TIES"
                    if self.ties and order
                    else f"LIMIT {self.limit}"
                )
        if self.locking:
            parts.append(self.locking)
        return " ".join(parts)

    def ordered_columns(self):
        """The positions of targets that are the first terms of ORDER BY."""
        columns, places = [], []
        for target in self.targets:
            # after a target with an unknown number of columns, positions are unknown
            if target.kind == "all" and not target.columns:
                break
            columns += [(name, sql, target) for name, sql in target.shown()]
        for what, _ in self.order:
            if isinstance(what, Target):
                found = [i for i, (_, _, target) in enumerate(columns) if target is what]
                if not found and what not in self.targets:
                    continue
            else:
                # output names come first
                found = [i for i, (name, _, _) in enumerate(columns) if what == name]
                found = found or [i for i, (_, sql, _) in enumerate(columns) if what == sql]
            if not found:
                break
            places.append(found[0])
        return places

    def is_determined(self):
        """Does LIMIT determine the rows whatever the plan is?"""
        ordered = [what for what, _ in self.order]
        if self.limit is None and self.offset is None:
            return True
        if self.is_total or all(t in ordered and t.kind != "all" for t in self.targets):
            return True
        return bool(self.ties and self.order and self.offset is None)

    def order_totally(self):
        """Orders by all targets, so that rows that compare equal are equal."""
        known = [what for what, _ in self.order]
        self.order += [(t, "") for t in self.targets if t not in known]

    def smaller(self):
        """Yields statements with one part less."""
        for name in ("ctes", "targets", "conditions", "group", "having", "order", "source"):
            parts = getattr(self, name)
            for i in range(len(parts) - 1, -1, -1):
                if name in ("targets", "source") and len(parts) == 1:
                    continue
                less = copy.copy(self)
                setattr(less, name, parts[:i] + parts[i + 1 :])
                less.is_total = self.is_total and name not in ("order", "targets")
                yield less
        for name, none in (
            ("distinct", ""),
            ("limit", None),
            ("offset", None),
            ("locking", ""),
            ("operation", None),
            ("group_kind", ""),
        ):
            if getattr(self, name) != none:
                less = copy.copy(self)
                setattr(less, name, none)
                yield less


class Statement:
    """What is sent to both sides, and how the answers are compared."""

    def __init__(self, text, kind, **more):
        self.text, self.kind = text, kind
        # a different text for the managed side
        self.managed = more.get("managed")
        self.parameters = more.get("parameters")
        # the parameters of its SELECT
        self.given = more.get("given")
        self.name, self.is_known = more.get("name", ""), False
        self.select = more.get("select")
        self.is_rough = more.get("is_rough", False)
        self.copied = more.get("copied")
        # SQLSTATEs that only the managed side may return, as documented
        self.allowed = more.get("allowed", ())
        # columns that the rows are ordered by; None without an order
        self.ordered = more.get("ordered")
        self.unlimited = more.get("unlimited", (None, None))
        self.has_tag = more.get("has_tag", True)

    def send(self, connection, is_managed):
        """Sends it to one side."""
        text = self.managed if is_managed and self.managed else self.text
        if self.copied is not None:
            connection.copy(text, self.copied)
        else:
            connection.send(text, self.parameters, self.name, self.is_known)

    def __str__(self):
        text = self.managed or self.text
        if self.parameters is not None:
            text += f"  -- {self.name} parameters {self.parameters}"
        if self.copied is not None:
            text += "\n" + self.copied + "\\."
        return text


def numbered(text, parameters):
    """A text with its parameters numbered."""
    if parameters is None:
        return text, None
    used = list(dict.fromkeys(re.findall(r"\$(\d+)", text)))
    text = re.sub(r"\$(\d+)", lambda m: f"${used.index(m[1]) + 1}", text)
    return text, [parameters[int(number) - 1] for number in used]


def statement_of(select, parameters=None, name=""):
    """A statement from a SELECT."""
    text, used = numbered(select.text(), parameters)
    is_free = not select.is_determined()
    return Statement(
        text,
        "select",
        select=select,
        parameters=used,
        given=parameters,
        name=name,
        is_rough=select.is_rough,
        ordered=select.ordered_columns() or None,
        # packed rows cannot be locked
        allowed=("0A000",) if select.locking else (),
        unlimited=numbered(select.text(is_limited=False), parameters) if is_free else (None, None),
    )
