"""Replaces texts by others of the same form, so that a recording reveals nothing.

Numbers are kept: item ids, clocks, values.  A literal with letters is replaced by another of the
same length.  Each word becomes a word of the same kind of characters, always the same one, so
that repetitions and compressibility are kept.
"""

import hashlib
import re

# a literal, in which quotes are doubled; comments and quoted identifiers are matched, too,
# so that a quote in them does not begin a literal
LITERAL = re.compile(r"""(?s)"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|[eE]?'(?:[^']|'')*'""")
NUMBER = re.compile(r"'[-+]?\d*\.?\d*(?:[eE][-+]?\d+)?'")
WORD = re.compile(r"[^\W_]+")
# names that statements ask for and that reveal nothing
KNOWN = re.compile(
    r"'(?:history|trends|auditlog|housekeeper)(?:_\w+)?'|'(?:public|pg_catalog|timescaledb|PRIMARY KEY)'"
)
CATALOG = re.compile(r"\b(?:pg_\w+|information_schema)\b", re.I)


class Anonymizer:
    """Replaces texts.  The key makes the words of each recording different."""

    def __init__(self, key):
        self.key = key
        self.words = {}

    def statement(self, text):
        """Returns a statement with its literals replaced; statements on catalogs are kept."""
        if "'" not in text or CATALOG.search(text):
            return text
        return LITERAL.sub(self._literal, text)

    def value(self, text):
        """Returns the replaced text of a parameter."""
        if text is None or NUMBER.fullmatch("'%s'" % text):
            return text
        return WORD.sub(self._word, text)

    def _literal(self, match):
        literal = match.group()
        if literal[0] in '"-/':
            return literal
        if NUMBER.fullmatch(literal) or KNOWN.fullmatch(literal):
            return literal
        if literal.startswith("'\\x"):
            return "'\\x" + self._like(literal[3:-1], "0123456789abcdef") + "'"
        begin = literal.index("'") + 1
        return literal[:begin] + WORD.sub(self._word, literal[begin:-1]) + "'"

    def _word(self, match):
        word = match.group()
        found = self.words.get(word)
        if found is None:
            found = self._like(word, None)
            if len(self.words) < 1000000:
                self.words[word] = found
        return found

    def _like(self, word, alphabet):
        """Returns characters of the same kinds as a word's."""
        made = []
        for place, byte in zip(word, self._bytes(word)):
            if alphabet:
                made.append(alphabet[byte % 16])
            elif place.isdigit():
                made.append(chr(48 + byte % 10))
            elif place.isupper():
                made.append(chr(65 + byte % 26))
            elif place.isascii():
                made.append(chr(97 + byte % 26))
            else:
                made.append("\u00e4" if byte % 2 else "\u00f6")
        return "".join(made)

    def _bytes(self, word):
        """Returns as many bytes as the word has characters; they depend on the word and the
        key."""
        digest = hashlib.shake_128(self.key + word.encode())
        return digest.digest(len(word))
