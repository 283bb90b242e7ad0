"""Tells stories by the grammar in grammar/*.txt and grammar/words.json.

A text file holds rules: `== NAME`, then blocks of lines with a blank line between blocks. To tell a rule is to tell one of its blocks, line by line:
  a / b                one of the alternatives,
  30% a / b            the same, in three of ten stories,
  > rule / rule rule   one of the rules, or some in a row,
  name = a / b         sets a slot to one of the alternatives,
  name := a / b        sets it to the alternative's expansion, so that every later use shows the same words.
An alternative may begin with a condition (`I: `, `they: `, `elder: `). It may hold
  [red|blue|]          one of the choices (they nest),
  {place}              a slot's value, which is a template too,
  <like>               a verb in the present tense, which agrees with the hero (I like, she likes).
"""

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "grammar"
WORDS = json.loads((FOLDER / "words.json").read_text("utf-8"))
# Earlier alternatives are likelier: a flat choice would leave the model's best guess to chance.
TEXT_SKEW = 0.4
# Blocks are subjects, which should all be heard. A heading may state another skew for its blocks.
BLOCK_SKEW = 0.05
# Stands before the friend's name until the story is whole, so that the first mention can be found.
FRIEND = "\x01"

_HEADING = re.compile(r"== (\S+)(?: ([\d.]+))?")
_LINE = re.compile(r"(?:(?P<percent>\d+)% )?(?:(?P<slot>\w+) (?P<fixed>:?)=|(?P<rule>>))? ?(?P<text>.*)")
_CONDITION = re.compile(r"(?:(I|they|elder): )?(.*)")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_VERB = re.compile(r"<(\w+)>")
_ARTICLE = re.compile(r"\b([Aa]) (?=\"?([A-Za-z]+))")
_SENTENCE = re.compile(r'[^.!?]+[.!?]+"?(?: [a-z][^.!?]*[.!?]+"?)?\s*')
_SENTENCE_START = re.compile(r"(^\"?|[.!?] \"?|[.!?]\" \")([a-z])")
_INTRODUCES = re.compile(r"(named|called|met|captain|name was|name is|is|and|friend) $", re.I)


class Line(NamedTuple):
    chance: float
    slot: str | None
    is_fixed: bool
    is_rule: bool
    alternatives: list[tuple[str | None, str]]  # condition and text


@dataclass
class Block:
    weight: float = 1
    first_person: float = 0  # share of its stories that `I` tells
    lines: list[Line] = field(default_factory=list)


def _line(source: str) -> Line:
    parts = _LINE.fullmatch(source)
    alternatives = [_CONDITION.fullmatch(text).groups() for text in parts["text"].split(" / ")]
    return Line(int(parts["percent"] or 100) / 100, parts["slot"], parts["fixed"] == ":", parts["rule"] == ">", alternatives)


def _block(source: str) -> Block:
    block = Block()
    for line in source.splitlines():
        if line.startswith("weight "):
            block.weight = float(line.removeprefix("weight "))
        elif line.startswith("told by I "):
            block.first_person = float(line.removeprefix("told by I ").removesuffix("%")) / 100
        elif not line.startswith("#"):
            block.lines.append(_line(line))
    return block


def read_rules(text: str) -> dict[str, list[Block]]:
    rules: dict[str, list[Block]] = {}
    for paragraph in re.split(r"\n{2,}", text.strip()):
        if heading := _HEADING.fullmatch(paragraph):
            blocks = rules[heading[1]] = []
            skew = float(heading[2] or BLOCK_SKEW)
        elif (block := _block(paragraph)).lines:
            block.weight *= _weight(len(blocks), skew)
            blocks.append(block)
    return rules


def _weight(index: int, skew: float) -> float:
    return 1 / (1 + skew * min(index, 10))


RULES = {name: blocks for path in sorted(FOLDER.glob("*.txt")) for name, blocks in read_rules(path.read_text("utf-8")).items()}


class Scene:
    """Keeps a story's hero, friend, relative and pet, so that every line speaks of the same ones."""

    def __init__(self, rng: random.Random, first_person: bool):
        self.rng = rng
        self.first_person = first_person
        self.lines: list[str] = []
        gender, other = rng.sample(["girl", "boy"], 2)
        # Friend and relative of a `she` are boys and men, those of a `he` girls and women, so that a pronoun names one person.
        friend = rng.choice([gender, other]) if first_person else other
        kin = self.pick([kin for kin, of in WORDS["kin"].items() if first_person or of == other])
        name = self.pick(WORDS[gender]["names"].split())
        self.conditions = {None, "I" if first_person else "they", *(["elder"] if kin not in ("mother", "father") else [])}
        self.slots = {"name": name, "gender": gender, "other": friend, "greeting": WORDS["greeting"], "kin": "{p} " + kin, "kinword": kin}
        self.slots |= {slot: WORDS[gender][slot] for slot in ("s", "o", "p", "self")} | WORDS["I" if first_person else "they"]
        for prefix, person in (("f", friend), ("k", WORDS["kin"][kin])):
            self.slots |= {prefix + slot: WORDS[person][slot] for slot in ("s", "o", "p", "self")}
        self.slots["f"] = FRIEND + self.pick([other for other in WORDS[friend]["names"].split() if other != name])
        self.slots["kinname"] = self.pick(WORDS[WORDS["kin"][kin]]["names"].split())
        self.slots["relative"] = self.pick(WORDS[gender]["relatives"].split())
        self.slots["a"], self.slots["b"] = rng.sample(WORDS["animals"].split(), 2)
        for slot, words in (("pet", "pets"), ("petname", "petNames"), ("look", "looks")):
            self.slots[slot] = self.pick(WORDS[words].split())
        for slot, phrases in (("town", "towns"), ("time", "times")):
            self.slots[slot] = self.pick(WORDS[phrases])

    def pick(self, options: list):
        return self.rng.choices(options, [_weight(index, TEXT_SKEW) for index in range(len(options))])[0]

    def tell(self, block: Block) -> None:
        for line in block.lines:
            alternatives = [text for condition, text in line.alternatives if condition in self.conditions]
            if not alternatives or self.rng.random() >= line.chance:
                continue
            if line.is_rule:
                for rule in self.rng.choice(alternatives).split():
                    self.tell(_choose(self.rng, RULES[rule]))
            elif line.slot:
                text = self.pick(alternatives)
                self.slots[line.slot] = self.expand(text) if line.is_fixed else text
            else:
                self.lines.append(finish(self.expand(self.pick(alternatives))))

    def expand(self, template: str) -> str:
        """Resolves choices first, so that slots in the ones not taken need not exist."""
        text = template
        while found := _CHOICE.search(text) or _SLOT.search(text):
            value = self.pick(found[1].split("|")) if found.re is _CHOICE else self.slots[found[1]]
            text = text[: found.start()] + value + text[found.end() :]
        return _VERB.sub(lambda verb: present(verb[1], self.first_person), text)

    def text(self) -> str:
        return finish(self._introduce_friend(" ".join(self.lines)))

    def _introduce_friend(self, text: str) -> str:
        """Makes the friend's first mention `my friend Tess`, mostly, unless the sentence introduces her by itself."""
        before, mark, after = text.partition(FRIEND)
        if mark and not _INTRODUCES.search(before) and not re.match(r"\w+, (who|the) ", after) and self.rng.random() < 0.7:
            before += f"{self.slots['p']} friend "
        return (before + after).replace(FRIEND, "")


def _choose(rng: random.Random, blocks: list[Block]) -> Block:
    return rng.choices(blocks, [block.weight for block in blocks])[0]


def tell(rng: random.Random) -> str:
    """One story on one line. A few begin in the middle or in lower case, because visitors' prompts do."""
    block = _choose(rng, RULES["story"])
    scene = Scene(rng, first_person=rng.random() < block.first_person)
    scene.tell(block)
    story, variant = scene.text(), rng.random()
    if variant < 0.05:
        sentences = _SENTENCE.findall(story)
        return "".join(sentences[rng.randrange(len(sentences) // 2) :]).strip()
    if variant < 0.08:
        return re.sub(r"^[^,.!?]*", lambda first: first[0].lower(), story)
    return story


def present(verb: str, first_person: bool) -> str:
    """The present-tense form for `I` or for `he` and `she`."""
    if verb in WORDS["irregularVerbs"]:
        return WORDS["irregularVerbs"][verb][0 if first_person else 1]
    if first_person:
        return verb
    if re.search(r"(s|sh|ch|x|z|o)$", verb):
        return verb + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", verb) + "s"


def starts_with_vowel_sound(word: str) -> bool:
    lower = word.lower()
    return bool(re.match(r"[aeiou]|hour|honest|heir", lower)) and not re.match(r"uni|use|usu|eu|one|once", lower)


def finish(text: str) -> str:
    """Spaces, the marks around quotations, articles and capitals."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" ([,.!?])", r"\1", text)
    text = re.sub(r"\?[,!]", "?", text)
    text = re.sub(r"\b(said|asked|called|answered) I\b", r"I \1", text)
    text = _ARTICLE.sub(lambda m: m[1] + ("n " if starts_with_vowel_sound(m[2]) else " "), text)
    return _SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), text)
