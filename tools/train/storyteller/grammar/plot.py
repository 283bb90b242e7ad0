"""A plot: some beats, each a tuple of paraphrases of one line."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Plot:
    """Its first beat continues the opening words; its own slots are fixed once before it is told."""

    beats: list[tuple[str, ...]]
    slots: dict[str, str] = field(default_factory=dict)
    habitual: bool = False  # begins with what always was, so its opening may not say `one day`


HERO_ENDINGS = ("That night, {N} slept very well.", "{N} never forgot that day.", "It was a day to remember.")
TALE_ENDINGS = ("And that is the end of the story.", "And everybody was happy.", "People still tell that story today.")
