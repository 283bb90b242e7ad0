"""Answers to what visitors like to ask: `What is your favorite color?`, `Who are you?`"""

import random

from grammar.favorites import FAVORITES
from grammar.hobbies import HOBBIES
from grammar.hobby_stories import hobby_dream, hobby_event, hobby_lines
from grammar.people import TRAITS
from grammar.portraits import DAYS
from grammar.scene import Scene
from grammar.wishes import WISHES


def answer(rng: random.Random) -> str:
    scene = Scene(rng, first_person=True)
    scene.rng.choice([_favorite, _hobby, _name, _wish, _mood])(scene)
    return scene.text()


def _favorite(scene: Scene) -> None:
    what = scene.pick_subject(list(FAVORITES))
    thing, why, memory = scene.pick(FAVORITES[what])
    scene.fix(what=what, thing=thing)
    scene.say("What is your favorite {what}?", "Do you have a favorite {what}?", "Tell me about your favorite {what}.")
    scene.say("My favorite {what} is {thing}.", "It is {thing}, of course.", "That is easy: {thing}.")
    scene.say("I like it because " + why + ".", "Why? Because " + why + ".")
    scene.say("{Time}, " + memory + ".", "Once, " + memory + ".")
    scene.maybe(0.5, "And what is yours?", "I will never forget that.")


def _hobby(scene: Scene) -> None:
    hobby = scene.pick_subject(HOBBIES)
    scene.fix(inf0=hobby.inf)
    scene.say("What do you like to do?", "What is your hobby?", "What do you do after school?", "What are you good at?")
    scene.say("I like to {inf0}.", "Most of all, I like to {inf0}.", "I love to {inf0} because " + hobby.why + ".")
    hobby_lines(scene, hobby)
    hobby_event(scene, hobby)
    hobby_dream(scene, hobby)


def _name(scene: Scene) -> None:
    scene.say("Who are you?", "What is your name?", "Hello, who are you?", "Tell me about yourself.")
    scene.say("My name is {name}, and I live {town}.", "I am {name}, and I live with {kin} {town}.")
    what, why, change, now = scene.pick_subject(TRAITS)
    scene.say("I am " + what + ".")
    scene.say(why + ".")
    scene.say("{Time}, " + change + ".")
    scene.say(now + ".")


def _wish(scene: Scene) -> None:
    dream = scene.pick_subject(WISHES)
    scene.fix(inf0=dream.inf)
    scene.say("What is your greatest wish?", "What is your dream?", "What do you want more than anything?")
    scene.say("My greatest wish is to {inf0}.", "I want to {inf0}.")
    scene.say(dream.why + ".")
    scene.say(dream.step + ".")
    scene.say(dream.help + ".")
    scene.say("It may take years, but I know that the day will come.", "Until then, I keep dreaming.")


def _mood(scene: Scene) -> None:
    scene.say("How are you?", "How are you today?", "Hello, how are you?", "Hi! How are you?")
    scene.say("I am fine, thank you.", "Very well, thank you.", "I am a little tired, but happy.", "Better than yesterday.")
    opening, *rest = scene.pick_subject(DAYS)
    scene.say(opening + ", and that is a long story.", "Let me tell you about my day. " + opening + ".")
    for line in rest:
        scene.say(line + ".")
    scene.maybe(0.6, "And how are you?")
