"""Stories about a person, a pet, a home, a day or an opinion."""

import random

from grammar.lexicon import BOYS, GIRLS
from grammar.phrases import GREETING
from grammar.plot import HERO_ENDINGS
from grammar.portraits import DAYS, HOMES, OPINIONS, PERSONS, PET_STORIES
from grammar.scene import PRONOUNS, Scene


def person(rng: random.Random) -> str:
    """My grandmother bakes the best bread in the world."""
    scene = Scene(rng, first_person=True)
    likes, shows, event, saying = scene.pick_subject(PERSONS)
    friend = scene.chance(0.3)
    if friend:
        words = PRONOUNS[scene.slots["other"]]
        scene.set(kin="{f}", ks=words["s"], ko=words["o"], kp=words["p"])
    scene.fix(likes=likes)
    if friend:
        scene.say("My best friend {f} {likes}.", "My best friend is called {f}. {ks} {likes}.", "I have a friend named {f} who {likes}.")
    else:
        # Everybody has a mother and a father: `I have a mother who ...` would be odd.
        have = [] if scene.slots["kinword"] in ("mother", "father") else ["I have a {kinword} who {likes}."]
        scene.say("{kin} {likes}.", "{kin} is called {kinname}, and {ks} {likes}.", "I want to tell you about {kin}. {ks} {likes}.", *have)
    scene.set(kinname=scene.pick(GIRLS if scene.slots["ks"] == "she" else BOYS))
    scene.say(shows + ".", "It is true: " + shows + ".")
    scene.maybe(0.5, "Everybody in {p} family loves {ko} for that.", "I have never known anybody like {ko}.", "Not everybody understands that, but I do.", "{ks} has been like this as long as I can remember.")
    scene.say("{Time}, " + event + ".", "I will never forget how " + event + ".")
    scene.say(f'"{saying}," {{ks}} always says.', f'"{saying}," {{ks}} said.', f'{{ks}} likes to say, "{saying}."')
    scene.maybe(0.6, "When I am old, I want to be just like {ko}.", "I am very glad that I have {ko}.", "I hope that it will always be like this.", "I think that {ks} is right.", "I could listen to {ko} for hours.")
    return scene.text()


def pet(rng: random.Random) -> str:
    """I have a dog named Biscuit."""
    scene = Scene(rng, first_person=rng.random() < 0.7)
    habit, event, ending = scene.pick_subject(PET_STORIES)
    if scene.first_person:
        scene.say("I have a {pet} named {petname}.", "My {pet} is called {petname}.", "We have a {look} {pet}, and {p} whole family loves it. It is called {petname}.", "{petname} is my {pet}.", GREETING + " and I have a {pet} named {petname}.")
    else:
        scene.say("{name} has a {pet} named {petname}.", "{petname} is a {look} {pet} and lives with {name}.", "{name} and {petname} the {pet} are always together.")
    scene.set(look="[small|brown|white|fat|gray|funny]")
    scene.maybe(0.6, "{petname} is [two|three|five|seven] years old and [as soft as a pillow|not very big|very clever].", "{kin} found {petname} in the rain and brought {pn} home.", "We are the best of friends." if scene.first_person else "They are the best of friends.")
    scene.set(pn="[the little thing|the poor animal]")
    scene.say("{petname} " + habit + ".", "The special thing about {petname} is this: {petname} " + habit + ".")
    scene.say("{Time}, " + event + ".", "But {time}, " + event + ".", "Once, " + event + ".")
    scene.maybe(0.5, "{kin} only shook {kp} head.", "Nobody could believe it.", "{S} <do> not know how that was possible." if scene.first_person else "Everybody was surprised.")
    scene.say(ending + ".", "In the end, " + ending + ".")
    scene.maybe(0.6, "{S} would not give {petname} away for anything in the world.", "That is {petname}, and nobody would want it any other way.", "Who needs television when there is {petname}?", "Every day with {petname} is an adventure.")
    return scene.text()


def home(rng: random.Random) -> str:
    """I live in a small house by the sea."""
    scene = Scene(rng, first_person=rng.random() < 0.75)
    place, first, second, event = scene.pick_subject(HOMES)
    inside = "on" if "farm" in place or "boat" in place else "in"
    scene.fix(home=place)
    if scene.first_person:
        scene.say(f"I live {inside} {{home}}.", f"My family lives {inside} {{home}}.", GREETING + f" and I live {inside} {{home}}.", f"We live {inside} {{home}}.", f"I grew up {inside} {{home}}.")
    else:
        scene.say(f"{{name}} lives {inside} {{home}}.", f"{{name}} and {{kin}} live {inside} {{home}}.")
    scene.say(first + ".", "What {s} <like> about it: " + first + ".")
    scene.say(second + ".", "And " + second + ".")
    scene.maybe(0.5, "{f} often comes to visit and never wants to leave.", "Not everybody would like it, but {s} <do>.", "{S} <know> every corner of it.")
    scene.say("{Time}, " + event + ".", "Once, " + event + ".")
    scene.maybe(0.6, "People still talk about it today.", "Nobody had expected that.", "{kin} still laughs when somebody talks about it.")
    scene.say("{S} would never want to live anywhere else.", "One day {s} will see the world, but {s} will always come back.", "It is the best place in the world.", "When {s} <be> away, {s} <miss> it after one day.")
    return scene.text()


def day(rng: random.Random) -> str:
    """It was raining all day long."""
    scene = Scene(rng, first_person=rng.random() < 0.5)
    opening, *rest = scene.pick_subject(DAYS)
    dated = "[Yesterday|Last Sunday|One day] it" + opening[2:] if opening.startswith("It was") else opening
    scene.say(opening + ".", opening + ".", dated + ".")
    for line in rest:
        scene.say(line + ".")
    scene.maybe(0.4, *HERO_ENDINGS)
    return scene.text()


def opinion(rng: random.Random) -> str:
    """Music is like a language that everybody understands."""
    scene = Scene(rng, first_person=True)
    subject, be, why, event = scene.pick_subject(OPINIONS)
    scene.say(f"{subject} {be} {why}.", f"I think that {subject} {be} {why}.", f"{{kin}} always says that {subject} {be} {why}.", f"What {be} {subject}? I would say: {why}.")
    scene.maybe(0.6, "I did not always think so.", "Most people know that, but they forget it.", "Let me tell you why.", "You may laugh, but it is true.")
    scene.say("{Time}, " + event + ".", "I remember it well: {time}, " + event + ".")
    scene.maybe(0.6, "That was when I understood it.", "I have never forgotten that moment.", "It was only a small thing, but it changed something.")
    scene.maybe(0.5, "\"[That is how it is|You are right|I have always known it],\" said {f} when I told {fo} about it.", "\"You think too much,\" said {f}, but {fs} smiled.")
    scene.say(f"Since then, I think of that day whenever somebody talks about {subject}.", "Maybe you will see it the same way one day.", "And that is why I wanted to tell you about it.", "That is all I know about it, but it is enough for me.")
    return scene.text()
