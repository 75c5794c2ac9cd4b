"""A printed number beside ours: they agree, or the difference is explained."""

from dataclasses import dataclass

__all__ = ["Comparison"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One printed number.

    Attributes:
        what: What the number is.
        printed: The printed number.
        ours: The number of the library.
        within: How far ours may be from what it should be: half a unit of the last printed digit,
            or what "about" may mean.
        correct: The value that ours should have, if not the printed one.
        why: Why not, or what else to know about ours.
        sharper: Whether the printed number is a valid bound and ours a better one; else it is
            wrong.
    """

    what: str
    printed: float
    ours: float
    within: float
    correct: float | None = None
    why: str = ""
    sharper: bool = False

    @property
    def holds(self) -> bool:
        """Tell whether ours is what it should be, and a correction still corrects something."""
        if self.correct is None:
            return abs(self.ours - self.printed) <= self.within
        differs = abs(self.ours - self.printed) > self.within
        return differs and abs(self.ours - self.correct) <= self.within

    @property
    def verdict(self) -> str:
        """The verdict, in a word or two."""
        if not self.holds:
            return "UNEXPLAINED"
        if self.correct is None:
            return "agrees"
        return "sharpened" if self.sharper else "corrected"
