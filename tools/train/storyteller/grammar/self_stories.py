"""Stories about what somebody did, wishes, likes or is."""

import random

from grammar.favorites import FAVORITES
from grammar.mishaps import MISHAPS
from grammar.people import JOBS, TRAITS
from grammar.phrases import GREETING, age, closing_mark
from grammar.scene import Scene
from grammar.wishes import WISHES, Wish


def mishap(rng: random.Random) -> str:
    """Today I accidentally ..."""
    scene = Scene(rng, first_person=rng.random() < 0.75)
    accident = scene.pick_subject(MISHAPS)
    who = "I" if scene.first_person else "{name}"
    did = accident.did
    scene.say(
        f"[Today|Today|Yesterday|This morning|Last week] {who} accidentally {did}.", f"Today {who} accidentally {did}.", f"[Today|Yesterday|Last night], {who} accidentally {did}.",
        f"Something silly happened [today|yesterday|last week]: {who} accidentally {did}.", f"It was a strange day, because {who} accidentally {did}.",
        f"[Oh no|Oops]! {who} accidentally {did}.",
    )  # fmt: skip
    scene.say(accident.because + ".", "It happened because " + accident.because + ".", "The reason was simple: " + accident.because + ".")
    scene.maybe(0.4, "{S} did not notice it at first.", "It was only a moment, but that was enough.", "{S} was not thinking at all.")
    scene.say(accident.then + ".", "[Then|A moment later,|Suddenly] " + accident.then + ".")
    scene.maybe(0.6, "{P} face turned as red as a tomato.", "{S} did not know what to say.", "First {s} wanted to hide, but then {s} had to laugh.", "{P} heart stopped for a second.", "{S} wished to be invisible.")
    scene.maybe(0.8, '"' + accident.said + closing_mark(accident.said, ",") + '" [somebody said|said {f}|{f} said|a voice said].')
    scene.say(accident.mended + ".", "[In the end,|Luckily,] " + accident.mended + ".")
    scene.say(accident.moral + ".", "Well, " + accident.moral + ".", "One thing is sure: " + accident.moral + ".")
    return scene.text()


def wish(rng: random.Random) -> str:
    """My greatest wish is to ..."""
    scene = Scene(rng, first_person=rng.random() < 0.8)
    dream = scene.pick_subject(WISHES)
    whose, who = ("my", "I") if scene.first_person else ("{name}'s", "{name}")
    scene.fix(inf0=dream.inf)
    if scene.chance(0.25):
        _wish_come_true(scene, dream, whose, who)
        return scene.text()
    scene.say(
        f"{whose} [greatest|biggest|dearest|only] wish is to {{inf0}}.", f"{whose} greatest wish is to {{inf0}}.", f"{whose} [biggest|greatest|secret] dream is to {{inf0}}.",
        f"{who} [have always wanted|<want> more than anything] to {{inf0}}." if scene.first_person else f"{who} has always wanted to {{inf0}}.",
        f"One day, {who} <want> to {{inf0}}.", f"When {who} <close> {{p}} eyes, there is only one wish: to {{inf0}}.", f"I wish to {{inf0}}." if scene.first_person else f"{who} wishes to {{inf0}}.",
    )  # fmt: skip
    scene.say(dream.why + ".", "You have to know that " + dream.why + ".")
    scene.maybe(0.6, "It started when {s} {was} [five|six|seven|eight] years old.", "Some people laugh about it, but {s} <do> not care.", "{S} <think> about it every night before {s} <fall> asleep.", "{kin} says that wishes need patience.")
    scene.maybe(0.7, dream.picture + ".", "{S} can see it in front of {o}: " + dream.picture + ".")
    scene.say("So " + dream.step + ".", "To get closer to it, " + dream.step + ".", "That is why " + dream.step + ".")
    scene.say(dream.help + ".", "And " + dream.help + ".")
    scene.maybe(0.5, '"[Never give up|You will see, it will come true|I believe in you]," said {f}.', '"And what if it does not work?" asked {f}. "Then I will try again," I said.' if scene.first_person else '"It is good to have a wish," said {f}.')
    scene.say("It may take years, but {s} <know> that the day will come.", "{S} <know> that it will not be easy, but {s} will never give up.", "Until then, {s} <keep> dreaming.", "Maybe next year, maybe in ten years, but it will happen.")
    return scene.text()


def _wish_come_true(scene: Scene, dream: Wish, whose: str, who: str) -> None:
    """A quarter of the wishes is told when it is over."""
    scene.say(
        f"for many years, {whose} greatest wish was to {{inf0}}.", f"{who} always wanted to {{inf0}}.", f"{whose} greatest wish was to {{inf0}}.",
        f"when {who} was a child, there was only one wish: to {{inf0}}.",
    )  # fmt: skip
    scene.maybe(0.6, "Nobody believed that it would ever happen.", "{S} thought about it every night before {s} fell asleep.", "{kin} always said that wishes need patience.")
    scene.say("So " + dream.step + ".", "To get closer to it, " + dream.step + ".")
    scene.say(dream.help + ".", "And " + dream.help + ".")
    scene.say("And then, one day, " + dream.fulfilled + ".", "It took a long time, but in the end " + dream.fulfilled + ".")
    scene.maybe(0.8, "Wishes can come true, if one does not give up.", "It was even better than in {p} dreams.", "{S} had never been so happy.", "Since then, {s} <believe> in wishes.")


def favorite(rng: random.Random) -> str:
    """My name is Mary, and my favorite ..."""
    scene = Scene(rng, first_person=True)
    kind = scene.pick_subject(list(FAVORITES))
    thing, why, memory = scene.pick(FAVORITES[kind])
    scene.fix(kind=kind, thing=thing)
    if scene.chance(0.7):
        scene.say(GREETING + "[,|] and my favorite {kind} is {thing}.", GREETING + ", and my favorite {kind} is {thing} because " + why + ".", GREETING + ". My favorite {kind} is {thing}.")
    else:
        scene.say("My favorite {kind} is {thing}.", "My favorite {kind} has always been {thing}.", "Do you know my favorite {kind}? It is {thing}.", "What is my favorite {kind}? That is easy, it is {thing}.")
    age(scene)
    if not scene.lines[0].endswith(why + "."):
        scene.say("I like it because " + why + ".", "Why? Because " + why + ".", "It is simple: " + why + ".")
    scene.say("{Time}, " + memory + ".", "I remember it well: {time}, " + memory + ".", "Once, " + memory + ".")
    scene.maybe(0.6, "We still laugh about it today.", "I think about it very often.", "I will never forget that.", "{kin} still tells that story to everybody.")
    scene.maybe(0.6, "{f} says that {fp} favorite {kind} is a different one, but that is fine.", "Everybody in my family has another favorite {kind}, so we never agree.", "{f} likes it too, and that is how we became friends.")
    scene.maybe(0.5, "What is your favorite {kind}?", "If you ask me again in ten years, I will say the same.", "Some things never change.")
    return scene.text()


def profession(rng: random.Random) -> str:
    """My name is Clara and I am a baker."""
    scene = Scene(rng, first_person=rng.random() < 0.7)
    job = scene.pick_subject(JOBS)
    scene.fix(job=job.noun, workplace=job.place)
    if scene.first_person:
        scene.say(GREETING + " and I am {job}.", GREETING + "[,|] and I am {job}.", "I am {job}, and my name is {name}.", GREETING + " and I am {job} {town}.")
    else:
        scene.say("{name} is {job}.", "{name} is {job} {town}.", "{Town}, there is {job} named {name}.", "{kin0} is {job}, and {p} name is {name}.")
        kin = scene.pick(["sister", "aunt", "mother"] if scene.slots["gender"] == "girl" else ["brother", "uncle", "father"])
        scene.set(kin0="my " + kin)
    scene.maybe(0.6, "{S} <work> in {workplace}.", "You can find {o} in {workplace}.")
    scene.say("Every day, {s} " + job.daily + ".", "{S} " + job.daily + ", day after day.")
    scene.say("What {s} <love> most is " + job.loves + ".", "{S} <love> " + job.loves + ".", "The best thing about it is " + job.loves + ".")
    scene.say("{Time}, " + job.visitor + ".", "But {time}, " + job.visitor + ".")
    scene.maybe(0.4, "Nobody knew what to do.", "{S} had to think quickly.", "Everybody looked at {o}.")
    done = job.answer.replace("{s}", "{N}", 1)
    scene.say(done + ".", "So " + done + ".")
    scene.maybe(0.7, '"' + job.thanks + closing_mark(job.thanks, ",") + '" was the answer.', '"' + job.thanks + closing_mark(job.thanks, "!") + '" somebody called.')
    scene.say("On days like that, {s} <know> why {s} <do> this work.", "In the evening {s} {was} tired but happy.", "{S} would not want to do anything else.", "It is not always easy, but {s} would choose it again.")
    return scene.text()


def future(rng: random.Random) -> str:
    """When I grow up, I want to be a pilot."""
    scene = Scene(rng, first_person=rng.random() < 0.75)
    job = scene.pick_subject(JOBS)
    scene.fix(job=job.noun)
    who = "I" if scene.first_person else "{name}"
    scene.say(f"When {who} <grow> up, {{s}} <want> to be {{job}}.", f"One day, {who} <want> to be {{job}}.", f"{who} <want> to become {{job}}.", f"{who} <know> exactly what {{s}} <want> to be: {{job}}.")
    scene.say("It is because of {p} [aunt|uncle], who is {job}, too.", "{S} <have> wanted it for as long as {s} can think.", "{S} once met {job}, and that changed everything.")
    scene.say("{S} <love> " + job.loves + ".", "Most of all, {s} <love> " + job.loves + ".")
    scene.say("{Time}, {s} {was} allowed to visit {workplace}.", "{Time}, {kin} took {o} to {workplace}.")
    scene.set(workplace=job.place)
    scene.say("{S} asked so many questions that the people there had to laugh.", "{S} watched everything and did not want to go home.", "{S} {was} allowed to help, and {p} hands were shaking with joy.")
    scene.maybe(0.6, "\"You will be a good one,\" somebody said.", "\"Come back in ten years,\" somebody said with a smile.", "\"It is hard work,\" said {kin}, \"but it is good work.\"")
    scene.say("Until then, {s} <learn> as much as {s} can.", "{S} still <have> to grow a little, but {s} can wait.", "{f} wants to be something else every week, but {s} will not change {p} mind.")
    return scene.text()


def trait(rng: random.Random) -> str:
    """My name is Clara and I am afraid of the dark."""
    scene = Scene(rng, first_person=rng.random() < 0.75)
    what, why, change, now = scene.pick_subject(TRAITS)
    scene.fix(what=what)
    if scene.first_person:
        scene.say(GREETING + " and I am {what}.", GREETING + "[,|] and I am {what}.", GREETING + ", and I am [nine|ten|eight|eleven|twelve] years old. I am {what}.", "I am {what}. My name is {name}.")
    else:
        scene.say("{name} is {what}.", "{name} is [nine|ten|eight|eleven] years old and {what}.", "There is a {gender} named {name} who is {what}.")
    scene.say(why + ".", "It is true: " + why + ".")
    scene.maybe(0.6, "{kin} says that there is nothing wrong with that.", "Some people laugh about it, but {f} never does.", "It is not always easy.", "It has always been like this.")
    scene.say("{Time}, " + change + ".", "Then, {time}, " + change + ".", "But {time}, " + change + ".")
    scene.maybe(0.6, "\"[You are not alone|It will be fine|I am like that too],\" said {f}.", "\"You are fine just as you are,\" said {kin}.")
    scene.say(now + ".", "Well, " + now + ".")
    scene.maybe(0.5, "And that is {p} story.", "{S} <smile> when {s} <think> of it.", "{S} <be> glad about that.")
    return scene.text()
