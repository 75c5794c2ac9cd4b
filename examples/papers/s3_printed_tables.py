"""The tables of Jurado et al. 2023 as they are printed, entry by entry.

p is the chance of the truth and q = 1 - p; S stands for p^3 + 2 p q^2, T for 2 p^2 q + q^3. A
histogram is named by its two counts.
"""

from fractions import Fraction

__all__ = ["PRINTED", "WHAT", "polynomial"]

PRINTED = {
    "Table Ia": """aaa aab aba baa abb bab bba bbb
aaa ppp ppq ppq ppq pqq pqq pqq qqq
aab ppq ppp pqq pqq ppq ppq qqq pqq
aba ppq pqq ppp pqq ppq qqq ppq pqq
baa ppq pqq pqq ppp qqq ppq ppq pqq
abb pqq ppq ppq qqq ppp pqq pqq ppq
bab pqq ppq qqq ppq pqq ppp pqq ppq
bba pqq qqq ppq ppq pqq pqq ppp ppq
bbb qqq pqq pqq pqq ppq ppq ppq ppp""",
    "Table Ib": """aaa aab aba abb baa bab bba bbb
aaa 1 0 0 0 0 0 0 0
aab 0 1/3 1/3 0 1/3 0 0 0
aba 0 1/3 1/3 0 1/3 0 0 0
abb 0 0 0 1/3 0 1/3 1/3 0
baa 0 1/3 1/3 0 1/3 0 0 0
bab 0 0 0 1/3 0 1/3 1/3 0
bba 0 0 0 1/3 0 1/3 1/3 0
bbb 0 0 0 0 0 0 0 1""",
    "Table Ic": """30 21 12 03
aaa 1 0 0 0
aab 0 1 0 0
aba 0 1 0 0
abb 0 0 1 0
baa 0 1 0 0
bab 0 0 1 0
bba 0 0 1 0
bbb 0 0 0 1""",
    "Table II": """aaa aab aba baa abb bab bba bbb
aaa ppp ppq ppq ppq pqq pqq pqq qqq
aab ppq S/3 S/3 S/3 T/3 T/3 T/3 pqq
aba ppq S/3 S/3 S/3 T/3 T/3 T/3 pqq
baa ppq S/3 S/3 S/3 T/3 T/3 T/3 pqq
abb pqq T/3 T/3 T/3 S/3 S/3 S/3 ppq
bab pqq T/3 T/3 T/3 S/3 S/3 S/3 ppq
bba pqq T/3 T/3 T/3 S/3 S/3 S/3 ppq
bbb qqq pqq pqq pqq ppq ppq ppq ppp""",
    "Table III": """30 21 12 03
aaa ppp 3ppq 3pqq qqq
aab ppq S T pqq
aba ppq S T pqq
baa ppq S T pqq
abb pqq T S ppq
bab pqq T S ppq
bba pqq T S ppq
bbb qqq 3ppq 3pqq ppp""",
    "Table IV": """30 21 12 03
30 ppp 3ppq 3pqq qqq
21 ppq S/3 T/3 pqq
12 pqq T/3 S/3 ppq
03 qqq 3pqq 3ppq ppp""",
    "Table V": """30 21 12 03
aaa ppp 3ppq 3pqq qqq
aab ppq S T pqq
aba ppq S T pqq
baa ppq S T pqq
abb pqq T S ppq
bab pqq T S ppq
bba pqq T S ppq
bbb qqq 3pqq 3ppq ppp""",
}

WHAT = {
    "Table Ia": ("noise alone, N, at p = 3/4", 0, ""),
    "Table Ib": ("shuffle alone, S", 0, ""),
    "Table Ic": ("shuffle alone, as a histogram, S^r", 0, ""),
    "Table II": ("noise, then shuffle: N S = S N, at p = 3/4", 0, ""),
    "Table III": (
        "noise, then histogram: N S^r, at p = 3/4",
        2,
        "The printed row bbb has its middle entries exchanged; Table V has it right.",
    ),
    "Table IV": (
        "noise on histograms, N^r, at p = 3/4",
        4,
        "The printed rows 2 and 3 do not sum to one: an extra factor of 1/3 in the middle entries.",
    ),
    "Table V": ("histogram, then noise on it: S^r N^r = N S^r, at p = 3/4", 0, ""),
}
"""The subject of each table, the number of its wrong entries, and the reason."""


def polynomial(words: str, p: Fraction) -> Fraction:
    """A printed entry at p.

    >>> polynomial("3ppq", Fraction(3, 4))
    Fraction(27, 64)
    """
    q = 1 - p
    named = {"S": p**3 + 2 * p * q**2, "T": 2 * p**2 * q + q**3}
    top, _, bottom = words.partition("/")
    factor, letters = (int(top[0]), top[1:]) if top[0].isdigit() else (1, top)
    value = named.get(letters, Fraction(1))
    if letters not in named:
        for letter in letters:
            value *= {"p": p, "q": q}[letter]
    return factor * value / int(bottom or 1)
