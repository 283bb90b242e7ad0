"""Templates: alternatives, slots and verb forms, and the finishing touches that make lines into English.

A template may hold
  [red|blue|]   one of the alternatives (they nest; earlier ones are a little more likely),
  {place}       the story's value for that slot, itself a template,
  <like>        a verb in the present tense, agreeing with the story's hero (I like, she likes).
"""

import random
import re

_ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_VERB = re.compile(r"<(\w+)>")
_ARTICLE = re.compile(r"\b([Aa]) (?=\"?([A-Za-z]+))")
_SAID_I = re.compile(r"\b(said|asked|called|answered) I\b")
_SENTENCE_START = re.compile(r"(^\"?|[.!?] \"?|[.!?]\" \")([a-z])")

IRREGULAR = {"be": ("am", "is"), "have": ("have", "has"), "do": ("do", "does"), "go": ("go", "goes")}


def present(verb: str, first_person: bool) -> str:
    """The present-tense form for `I` or for `he` and `she`."""
    if verb in IRREGULAR:
        return IRREGULAR[verb][0 if first_person else 1]
    if first_person:
        return verb
    if re.search(r"(s|sh|ch|x|z|o)$", verb):
        return verb + "es"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + "s"


def starts_with_vowel_sound(word: str) -> bool:
    lower = word.lower()
    if re.match(r"(uni|use|usu|eu|one|once)", lower):
        return False
    return lower[0] in "aeiou" or lower.startswith(("hour", "honest", "heir"))


def weighted(rng: random.Random, options, skew: float = 0.4):
    """One of the options. Earlier ones are likelier: a flat choice would leave the model's best guess to chance."""
    return rng.choices(options, [1 / (1 + skew * min(index, 10)) for index in range(len(options))])[0]


def expand(template: str, slots: dict[str, str], rng: random.Random, first_person: bool) -> str:
    """Resolves alternatives first, so that slots in the ones not taken need not exist."""
    text = template
    while True:
        alternatives = _ALTERNATIVES.search(text)
        if alternatives:
            chosen = weighted(rng, alternatives[1].split("|"))
            text = text[: alternatives.start()] + chosen + text[alternatives.end() :]
            continue
        slot = _SLOT.search(text)
        if not slot:
            return _VERB.sub(lambda verb: present(verb[1], first_person), text)
        text = text[: slot.start()] + slots[slot[1]] + text[slot.end() :]


def finish(text: str) -> str:
    """Articles, capitals and spaces of a whole story."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" ([,.!?])", r"\1", text)
    text = _SAID_I.sub(r"I \1", text)
    text = _ARTICLE.sub(lambda m: m[1] + ("n " if starts_with_vowel_sound(m[2]) else " "), text)
    return _SENTENCE_START.sub(lambda m: m[1] + m[2].upper(), text)
