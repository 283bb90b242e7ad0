"""Stories about a hobby or a talent."""

import random

from grammar.hobbies import HOBBIES, Hobby
from grammar.phrases import GREETING, age, closing_mark
from grammar.portraits import EPISODES
from grammar.scene import Scene


def introduction(rng: random.Random) -> str:
    """Hi, my name is Lewis and I like to ..."""
    scene = Scene(rng, first_person=True)
    hobby = scene.pick_subject(HOBBIES)
    scene.fix(inf0=hobby.inf, ger0=hobby.ger)
    scene.say(
        GREETING + "[,|] and I [like|love] to {inf0}.", GREETING + " and I [like|love] to {inf0}.", GREETING + " and I like to {inf0} because " + hobby.why + ".",
        GREETING + ". I [like|love] to {inf0}.", GREETING + " and my hobby is {ger0}.",
    )  # fmt: skip
    age(scene)
    scene.maybe(0.5, "I like it because " + hobby.why + ".", "I think that " + hobby.why + ".")
    hobby_lines(scene, hobby)
    hobby_event(scene, hobby)
    hobby_dream(scene, hobby)
    scene.maybe(0.3, "It makes every day a little better.", "I would not change it for anything in the world.", "And what do you like to do?")
    return scene.text()


def hobbyist(rng: random.Random) -> str:
    """Lewis likes to ..."""
    scene = Scene(rng, first_person=False)
    hobby = scene.pick_subject(HOBBIES)
    scene.fix(inf0=hobby.inf, ger0=hobby.ger)
    scene.say(
        "{name} <like> to {inf0}.", "{name} <love> {ger0}.", "There is a {gender} named {name} who loves to {inf0}.",
        "{Town}, there lives a {gender} who likes to {inf0}. {P} name is {name}.", "Every day after school, {name} goes out to {inf0}.",
        "More than anything else, {name} loves to {inf0}.", "Everybody knows {name}, the {gender} who likes to {inf0}.",
    )  # fmt: skip
    scene.maybe(0.6, "{S} says that " + hobby.why + ".", "{S} likes it because " + hobby.why + ".")
    hobby_lines(scene, hobby)
    hobby_event(scene, hobby)
    hobby_dream(scene, hobby)
    return scene.text()


def talent(rng: random.Random) -> str:
    """My best talent is ..."""
    scene = Scene(rng, first_person=True)
    hobby = scene.pick_subject(HOBBIES)
    scene.fix(ger0=hobby.ger)
    scene.say(
        "My [best|greatest|biggest|secret|only] talent is {ger0}.", "My [best|greatest] talent is {ger0}.", "I am [very|quite] good at {ger0}.",
        "My talent is {ger0}.", "People say that I am good at {ger0}.", "What I do best is {ger0}.", "If I have a talent, it is {ger0}.",
    )  # fmt: skip
    scene.maybe(
        0.7, "I {verb} every day, even on holidays.", "It did not come overnight: I {verb} a little every day.", "Nobody in my family can do it but me.",
        "I have it from {kin}, who can do it even better.", "I found out about it by accident.", "At first nobody believed me.",
    )  # fmt: skip
    scene.set(verb=hobby.verb)
    scene.maybe(0.6, "I love it because " + hobby.why + ".", "The reason is simple: " + hobby.why + ".")
    hobby_lines(scene, hobby)
    hobby_event(scene, hobby)
    scene.maybe(0.5, "I was so proud that I could not sleep that night.", "It was one of the best days of my life.", "That made me very happy.", "I still have a lot to learn.")
    hobby_dream(scene, hobby)
    return scene.text()


def hobby_lines(scene: Scene, hobby: Hobby) -> None:
    """The middle of a story about a hobby, for `I` as well as for `she` and `he`."""
    scene.fix(place=hobby.place, gear=hobby.gear, ger=hobby.ger, inf=hobby.inf)
    lines = [
        ("{s} usually <do> it {place}.", "Most of the time, {s} <do> it {place}.", "{s} often <do> it {place}."),
        ("All {s} <need> is {gear}.", "For that {s} <need> {gear}.", "It only takes {gear}."),
        ("{kin} taught {o} [everything|how to do it] when {s} {was} [five|six|seven|very small].", "It all began when {kin} showed {o} how to do it.", "{s} learned it from {kin}."),
    ]
    scene.rng.shuffle(lines)
    for line in lines[: scene.rng.choice([1, 1, 2])]:
        scene.say(*line)


def hobby_event(scene: Scene, hobby: Hobby) -> None:
    """A past event: the hobby's own, one that fits any hobby, or both."""
    if scene.chance(0.4):
        scene.tell_all(scene.pick_subject(EPISODES))
        if scene.chance(0.5):
            return
    scene.fix(did=hobby.did)
    scene.say("{Time}, {did}.", "Once, {did}.", "I remember the day when {did}." if scene.first_person else "{Time}, {did}.")
    if scene.chance(0.6):
        scene.say("Then " + hobby.trouble + ".", "At first, " + hobby.trouble + ".", "Of course, not everything went well: " + hobby.trouble + ".")
        scene.say("But " + hobby.rescue + ".", "Luckily, " + hobby.rescue + ".", "In the end, " + hobby.rescue + ".")
    quote = '"' + hobby.praise + closing_mark(hobby.praise, "!") + '"'
    scene.maybe(0.7, quote + " said {kin}.", quote + " said {f}.", quote + " {kin} said with a smile.")


def hobby_dream(scene: Scene, hobby: Hobby) -> None:
    """The hero's hope for the hobby."""
    scene.say(
        "One day, {s} <want> to " + hobby.dream + ".", "{p} dream is to " + hobby.dream + ".",
        "Maybe {s} will " + hobby.dream + " one day.", "Someday {s} <hope> to " + hobby.dream + ".",
    )  # fmt: skip
