import random
import re
import unittest

from corpus import story, train_tokenizer
from stories import RULES, Scene, finish, present, read_rules, starts_with_vowel_sound

STORIES = [story(seed=0, index=index) for index in range(3_000)]


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


class Rules(unittest.TestCase):
    def tell(self, text: str, first_person: bool = True) -> str:
        scene = Scene(random.Random(1), first_person)
        scene.tell(read_rules(text)["rule"][0])
        return scene.text()

    def test_every_rule_that_is_told_exists(self):
        lines = [line for blocks in RULES.values() for block in blocks for line in block.lines if line.is_rule]
        named = {rule for line in lines for _, rules in line.alternatives for rule in rules.split()}
        self.assertEqual(named - set(RULES), set())
        self.assertEqual(set(RULES) - named, {"story"})

    def test_present_tense_agrees_with_the_hero(self):
        self.assertEqual([present(verb, True) for verb in ("be", "have", "try")], ["am", "have", "try"])
        self.assertEqual([present(verb, False) for verb in ("be", "have", "try", "play", "watch")], ["is", "has", "tries", "plays", "watches"])

    def test_choices_nest_and_slots_expand(self):
        self.assertEqual(self.tell("== rule\n\nwhat = a [red|[red]] [hat]\nI <have> {what}[!]"), "I have a red hat!")

    def test_slots_of_lines_not_told_need_not_exist(self):
        self.assertEqual(self.tell("== rule\n\n0% One {missing}.\nOne more."), "One more.")

    def test_a_fixed_slot_shows_the_same_words_each_time(self):
        numbers = "|".join(map(str, range(1000)))
        first, second = self.tell(f"== rule\n\nn := [{numbers}]\n{{n}} {{n}}").split()
        self.assertEqual(first, second)

    def test_conditions_choose_by_who_tells(self):
        text = "== rule\n\nI: I. / they: They.\nI: Only I."
        self.assertEqual((self.tell(text, True), self.tell(text, False)), ("I. Only I.", "They."))

    def test_finish_mends_articles_capitals_and_marks(self):
        self.assertEqual(finish('a  old man saw a hour . "look" , said I'), 'An old man saw an hour. "Look", I said')
        self.assertEqual(finish('"who?," he said'), '"Who?" he said')

    def test_articles_follow_sound_not_spelling(self):
        self.assertEqual([starts_with_vowel_sound(word) for word in ("apple", "hour", "unicorn", "umbrella")], [True, True, False, True])


class Tokens(unittest.TestCase):
    def test_any_text_survives_and_the_end_of_text_is_the_last_id(self):
        tokenizer = train_tokenizer(STORIES[:200], 600)
        for text in (*STORIES[:20], "a\u001cb \u2028 ½²Ⅷ漢字🙂\t'D 'd_x\u200b"):
            self.assertEqual(tokenizer.decode(tokenizer.encode(text).ids), text)
        self.assertEqual(tokenizer.token_to_id("<|endoftext|>"), 599)

    def test_too_little_text_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "more stories"):
            train_tokenizer(["ab"], 300)


if __name__ == "__main__":
    unittest.main()
