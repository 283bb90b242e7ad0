"""All kinds of story and how often each is told."""

import random
import re

from grammar.answer_stories import answer
from grammar.everyday import EVERYDAY
from grammar.hobby_stories import hobbyist, introduction, talent
from grammar.plot import HERO_ENDINGS
from grammar.plot_stories import animal, everyday, fairy, space, tell_plot
from grammar.portrait_stories import day, home, opinion, person, pet
from grammar.scene import Scene
from grammar.self_stories import favorite, future, mishap, profession, trait, wish


def tell(rng: random.Random) -> str:
    """One story on one line. A few begin in the middle or in lower case, because visitors' prompts do."""
    families, weights = zip(*FAMILIES.items())
    story = rng.choices(families, weights)[0](rng)
    variant = rng.random()
    if variant < 0.05:
        sentences = re.findall(r'[^.!?]+[.!?]+"?(?: [a-z][^.!?]*[.!?]+"?)?\s*', story)
        return "".join(sentences[rng.randrange(len(sentences) // 2) :]).strip()
    if variant < 0.08:
        return re.sub(r"^[^,.!?]*", lambda first: first[0].lower(), story)
    return story


def long_story(rng: random.Random) -> str:
    """Somebody introduces herself and then tells what happened: long enough to fill a context."""
    first = rng.choice([introduction, favorite, home, pet, profession])
    beginning = ""
    while not re.search(r"\b(I|my)\b", beginning, re.I):
        beginning = first(random.Random(rng.getrandbits(64)))
    scene = Scene(rng, first_person=True)
    bridge = scene.pick(["But that is not what I wanted to tell you.", "But now to something else.", "And then there is this story.", "Now let me tell you what happened to me."])
    scene.fix(Open=scene.pick(["{Time}, I", "Not long ago, I", "Yesterday, I"]))
    return beginning + " " + bridge + " " + tell_plot(scene, scene.pick_subject(EVERYDAY), "", HERO_ENDINGS)


FAMILIES = {
    introduction: 11, hobbyist: 6, talent: 8, mishap: 9, wish: 9, favorite: 9, profession: 7, trait: 6, fairy: 12, space: 10, everyday: 22,
    animal: 9, person: 6, pet: 4, home: 4, day: 4, opinion: 4, answer: 5, future: 3, long_story: 5,
}  # fmt: skip
