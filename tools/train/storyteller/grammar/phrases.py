"""Phrases that several kinds of story share."""

from grammar.scene import Scene

GREETING = "[Hi[,|] my name is|My name is|Hello[,|] my name is|Hi, I am|Hello, I am|I am|My name is|Hi my name is] {name}"


def age(scene: Scene) -> None:
    scene.maybe(0.3, "I am [nine|ten|eleven|eight|seven|twelve|thirteen] years old.", "I live {town}.", "I live with {kin} {town}.")


def closing_mark(words: str, otherwise: str) -> str:
    """The mark that ends a quotation: questions are known by their first or last words."""
    asks = words.split()[0] in {"Are", "Is", "Who", "How", "Where", "What", "May", "Did"} or words.endswith("is it")
    return "?" if asks and not words.startswith("What a") else otherwise
