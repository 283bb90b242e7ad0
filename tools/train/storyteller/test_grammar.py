import random
import re
import unittest

from corpus import story
from grammar.expand import expand, finish, present, starts_with_vowel_sound

STORIES = [story(seed=0, index=index) for index in range(5_000)]


class Stories(unittest.TestCase):
    def assert_none_match(self, pattern: str):
        found = [text for text in STORIES if re.search(pattern, text)]
        self.assertEqual(found[:3], [])

    def test_no_slot_alternative_or_verb_is_left(self):
        self.assert_none_match(r"[{}\[\]|<>\x00-\x1f]")

    def test_articles_agree_with_the_next_word(self):
        self.assert_none_match(r"\b[Aa] [aeio]")
        self.assert_none_match(r"\b[Aa]n [^aeiouh]")

    def test_spaces_are_single_and_not_before_punctuation(self):
        self.assert_none_match(r"  | [,.!?]|^\s|\s$")

    def test_sentences_end_and_the_next_begins_with_a_capital(self):
        self.assert_none_match(r"[^.!?\"]$")
        self.assert_none_match(r"[.!?] [a-z]")
        self.assert_none_match(r"[,.!?]{2}")

    def test_quotation_marks_come_in_pairs(self):
        self.assertEqual([text for text in STORIES if text.count('"') % 2], [])

    def test_verbs_agree_with_i(self):
        self.assert_none_match(r"\bI (is|has|does|likes|wants|loves|says|knows|goes|comes|thinks)\b")
        self.assert_none_match(r"\b(and|to|with|for|from) I[,.!?]| I and ")

    def test_no_word_is_doubled(self):
        self.assert_none_match(r"(?i)\b(?!far\b|that\b|had\b|her\b|round\b|higher\b)(\w+) \1\b")

    def test_lengths_suit_the_context(self):
        words = sorted(len(text.split()) for text in STORIES)
        self.assertGreater(words[len(words) // 2], 60)
        self.assertLess(words[-1], 260)

    def test_a_story_depends_on_its_seed_and_index_alone(self):
        self.assertEqual(story(seed=0, index=17), STORIES[17])
        self.assertGreater(len(set(STORIES)), 0.99 * len(STORIES))


class Expansion(unittest.TestCase):
    def test_present_tense_agrees_with_the_hero(self):
        self.assertEqual([present(verb, True) for verb in ("be", "have", "try")], ["am", "have", "try"])
        self.assertEqual([present(verb, False) for verb in ("be", "have", "try", "play", "watch")], ["is", "has", "tries", "plays", "watches"])

    def test_alternatives_nest_and_slots_expand(self):
        slots = {"what": "a [red] [hat]"}
        self.assertEqual(expand("I <have> {what}[!]", slots, random.Random(1), True), "I have a red hat!")

    def test_slots_of_alternatives_not_taken_need_not_exist(self):
        text = expand("[one|one {missing}]", {"missing": ""}, random.Random(1), True)
        self.assertEqual(text.strip(), "one")

    def test_finish_mends_articles_capitals_and_spaces(self):
        self.assertEqual(finish('a  old man saw a hour . "look" , said I'), 'An old man saw an hour. "Look", I said')

    def test_articles_follow_sound_not_spelling(self):
        self.assertEqual([starts_with_vowel_sound(word) for word in ("apple", "hour", "unicorn", "umbrella")], [True, True, False, True])


if __name__ == "__main__":
    unittest.main()
