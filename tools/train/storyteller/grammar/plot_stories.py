"""Stories with a plot: fairy tales, space adventures, everyday adventures and animal stories."""

import random

from grammar.animals import ANIMAL_PLOTS, ANIMALS, KINDS
from grammar.everyday import EVERYDAY
from grammar.fairy import FAIRY
from grammar.plot import HERO_ENDINGS, TALE_ENDINGS, Plot
from grammar.scene import PRONOUNS, Scene
from grammar.space import SPACE


def fairy(rng: random.Random) -> str:
    """Once upon a time, ..."""
    scene = Scene(rng, first_person=False)
    ruler, words = scene.pick([("king", PRONOUNS["boy"]), ("queen", PRONOUNS["girl"])])
    scene.set(ruler=ruler, rs=words["s"])
    plot = scene.pick_subject(FAIRY)
    royal = scene.pick(["princess", "prince"])
    words = PRONOUNS["girl" if royal == "princess" else "boy"]
    scene.set(ps=words["s"], po=words["o"], pp=words["p"])
    opening = scene.pick(["Once upon a time, ", "Once upon a time, ", "Once upon a time ", "Long ago, ", "A long time ago, ", "Many years ago, ", "In a faraway land, ", ""])
    if "princess" in plot.slots:
        # Her or his pronouns are chosen, so the plot may not choose the word again.
        plot = Plot(plot.beats, {"princess": royal})
    return tell_plot(scene, plot, opening)


def space(rng: random.Random) -> str:
    """In a galaxy far far away, ..."""
    scene = Scene(rng, first_person=False)
    opening = scene.pick([
        "In a galaxy far far away, ", "In a galaxy far, far away, ", "In a galaxy far far away ", "In a galaxy far away, ", "Far away in space, ",
        "Somewhere between the stars, ", "A thousand years from now, ", "In the year 3000, ", "On the other side of the sun, ",
    ])  # fmt: skip
    return tell_plot(scene, scene.pick_subject(SPACE), opening)


def everyday(rng: random.Random) -> str:
    """One day, a shy boy named Theo lost his red hat in the park."""
    scene = Scene(rng, first_person=rng.random() < 0.4)
    if scene.first_person:
        opening = scene.pick([
            "{Time}, I", "{Time} I", "Yesterday, I", "When I was [six|seven|eight|nine] years old, I", "Today, I", "I", "Yesterday I", "Today I", "It was [a Sunday|an ordinary day|a quiet Monday] when I",
        ])  # fmt: skip
    else:
        opening = scene.pick([
            "{Time}, {name}", "{Time}, a {little} {gender} named {name}", "{name}", "A {little} {gender} named {name}", "There was a {little} {gender} named {name}. {Time}, {s}",
            "{Town}, there lived a {little} {gender} named {name}. {Time}, {s}", "Yesterday, {name}", "It was [a Sunday|an ordinary day|a quiet Monday] when {name}",
        ])  # fmt: skip
        scene.fix(little="[little|young|small|brave|curious|shy]")
    scene.fix(Open=opening)
    return tell_plot(scene, scene.pick_subject(EVERYDAY), "", HERO_ENDINGS)


def animal(rng: random.Random) -> str:
    """A little fox found a red apple on the path."""
    scene = Scene(rng, first_person=False)
    kinds = rng.sample(ANIMALS, 2)
    kind = scene.pick(KINDS)
    scene.set(a=kinds[0], b=kinds[1])
    plot = scene.pick_subject(ANIMAL_PLOTS)
    scene.fix(**plot.slots)
    openings = [f"a {kind} {{a}}", "a {a}", f"the {kind} {{a}}", "the {a}"]
    if not plot.habitual:
        openings += [f"one day, a {kind} {{a}}", f"there was a {kind} {{a}}. One day, the {{a}}", f"once there was a {kind} {{a}}. One day, the {{a}}"]
    opening = scene.pick(openings)
    request = scene.pick(["Tell me a story about a {a}.", "Write a story about a {a}.", "A story about a {a}:"]) if scene.chance(0.15) else ""
    scene.fix(A=opening)
    return tell_plot(scene, Plot(plot.beats), request + " ")


def tell_plot(scene: Scene, plot: Plot, opening: str, endings: tuple[str, ...] = TALE_ENDINGS) -> str:
    """The plot line by line, one paraphrase of each beat."""
    scene.fix(**plot.slots)
    first, *rest = plot.beats
    scene.lines.append(opening + scene.pick(first))
    for beat in rest:
        scene.say(*beat)
    scene.maybe(0.25, *endings)
    return scene.text()
