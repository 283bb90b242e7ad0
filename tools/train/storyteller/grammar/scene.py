"""A story being told: its people, its slots and the lines so far."""

import random
import re
from collections.abc import Sequence

from grammar.expand import expand, finish, weighted
from grammar.lexicon import BOYS, GIRLS, KIN, PETS, PET_NAMES, PLACES, TIMES

# Stands before the friend's name until the story is complete: the first mention may need `my friend`.
FRIEND = "\u0001"
_FRIEND_NAME = re.compile(FRIEND + r"(\w+)")
_INTRODUCES = re.compile(r"(named|called|met|captain|name was|name is|is|and|friend) $", re.I)
_THEM = {"they": "they", "them": "them", "their": "their"}
_US = {"they": "we", "them": "us", "their": "our"}
PRONOUNS = {
    "girl": {"s": "she", "o": "her", "p": "her", "self": "herself", **_THEM},
    "boy": {"s": "he", "o": "him", "p": "his", "self": "himself", **_THEM},
    "I": {"s": "I", "o": "me", "p": "my", "self": "myself", **_US},
}


class Scene:
    """Keeps a story's hero, friend, relative and pet fixed, so that every line speaks of the same ones."""

    def __init__(self, rng: random.Random, first_person: bool):
        self.rng = rng
        self.first_person = first_person
        self.lines: list[str] = []
        self.slots: dict[str, str] = {}
        self._cast()

    def _cast(self) -> None:
        gender = self.rng.choice(["girl", "boy"])
        self.set(gender=gender, name=self.pick(GIRLS if gender == "girl" else BOYS))
        if self.first_person:
            self.set(**PRONOUNS["I"], N="I", M="me", other=self.rng.choice(["girl", "boy"]))
        else:
            # Friend and relative are of the other gender, so that `he` and `she` always name one person.
            other = "boy" if gender == "girl" else "girl"
            self.set(**PRONOUNS[gender], N=self.slots["name"], M=self.slots["name"], other=other)
        self.add_friend()
        kin, kin_gender = self.pick([k for k in KIN if self.first_person or k[1] == self.slots["other"]])
        self.set(kin="{p} " + kin, kinword=kin, ks=PRONOUNS[kin_gender]["s"], ko=PRONOUNS[kin_gender]["o"])
        self.set(kp=PRONOUNS[kin_gender]["p"])
        self.set(pet=self.pick(PETS), petname=self.pick(PET_NAMES), town=self.pick(PLACES), time=self.pick(TIMES), was="was")
        words = self.slots
        self.set(S=words["s"], P=words["p"], Time=words["time"], They=words["they"], Town=words["town"])
        self.set(NF="{f} and I" if self.first_person else "{name} and {f}")

    def add_friend(self) -> None:
        other = self.slots["other"]
        names = [n for n in (GIRLS if other == "girl" else BOYS) if n != self.slots["name"]]
        words = PRONOUNS[other]
        self.set(f=FRIEND + self.pick(names), fs=words["s"], fo=words["o"], fp=words["p"], fself=words["self"])

    def set(self, /, **slots: str) -> None:
        self.slots.update(slots)

    def pick(self, options: Sequence):
        return weighted(self.rng, options)

    def pick_subject(self, options: Sequence):
        """One of the options, almost equally likely: for whole subjects, which should all be heard."""
        return weighted(self.rng, options, skew=0.05)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def say(self, *templates: str) -> None:
        """Adds one line, chosen among the templates."""
        self.lines.append(self.pick(templates))

    def tell_all(self, templates: Sequence[str]) -> None:
        """Adds every template as a line, in order."""
        self.lines.extend(templates)

    def maybe(self, probability: float, *templates: str) -> None:
        if self.chance(probability):
            self.say(*templates)

    def fix(self, /, **slots: str) -> None:
        """Sets slots to their expansion, so that every later use shows the same words."""
        for name, template in slots.items():
            self.slots[name] = self.expand(template)

    def expand(self, template: str) -> str:
        return expand(template, self.slots, self.rng, self.first_person)

    def text(self) -> str:
        return finish(self._introduce_friend(" ".join(finish(self.expand(line)) for line in self.lines)))

    def _introduce_friend(self, text: str) -> str:
        """Makes the friend's first mention `my friend Tess`, mostly, unless the sentence introduces her by itself."""
        first = _FRIEND_NAME.search(text)
        if first and not _INTRODUCES.search(text[: first.start()]) and text[first.end() :][:6] not in (", who ", ", the "):
            if self.chance(0.7):
                text = f"{text[: first.start()]}{self.slots['p']} friend {text[first.start() :]}"
        return text.replace(FRIEND, "")
