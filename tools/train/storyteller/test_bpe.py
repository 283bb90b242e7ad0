import random
import unittest

import bpe

TEXT = ["Once upon a time, there was a fox. It's the fox's 12 apples!", "The fox wasn't here; they'll see.\n\n  ok"] * 5


class PreTokenize(unittest.TestCase):
    def test_splits_as_gpt2_does(self):
        self.assertEqual(
            bpe.pre_tokenize("It's we'll  see 42 (naïve)…\n\n x\u00a0y"),
            ["It", "'s", " we", "'ll", " ", " see", " 42", " (", "naïve", ")…", "\n\n", " x", "\u00a0", "y"],
        )

    def test_loses_nothing(self):
        text = "a\u001cb \u2028 ½²Ⅷ漢字🙂\t'D 'd_x\u200b"
        self.assertEqual("".join(bpe.pre_tokenize(text)), text)


class Training(unittest.TestCase):
    def setUp(self):
        self.tokenizer = bpe.train(TEXT, vocab_size=290)

    def test_end_of_text_is_the_last_id(self):
        self.assertEqual(self.tokenizer.end_of_text, 289)
        self.assertEqual(len(self.tokenizer.vocab), 290)

    def test_every_byte_has_an_id(self):
        for byte in range(256):
            self.assertLess(self.tokenizer.vocab[bpe.BYTE_TO_CHARACTER[byte]], 256)

    def test_round_trip_of_arbitrary_text(self):
        rng = random.Random(7)
        for _ in range(200):
            text = "".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xD800), rng.randrange(0x1F300, 0x1F600)])) for _ in range(30))
            self.assertEqual(self.tokenizer.decode(self.tokenizer.encode(text)), text)

    def test_round_trip_of_every_byte(self):
        ids = [self.tokenizer.vocab[bpe.BYTE_TO_CHARACTER[byte]] for byte in range(256)]
        self.assertEqual(self.tokenizer.decode_bytes(ids), bytes(range(256)))

    def test_the_most_frequent_pair_is_merged_first(self):
        tokenizer = bpe.train(["ababab ab", "xy"], vocab_size=258)
        self.assertEqual(tokenizer.merges, [("a", "b")])

    def test_equal_counts_go_to_the_pair_that_sorts_first(self):
        self.assertEqual(bpe.train(["cd", "ab"], vocab_size=258).merges, [("a", "b")])

    def test_merges_apply_by_rank_not_from_left_to_right(self):
        tokenizer = bpe.Tokenizer([("b", "c"), ("a", "b")])
        self.assertEqual(tokenizer.encode("abc"), [tokenizer.vocab["a"], tokenizer.vocab["bc"]])

    def test_too_little_text_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "larger corpus"):
            bpe.train(["ab"], vocab_size=300)

    def test_json_has_the_merges_and_the_special_token(self):
        content = self.tokenizer.to_json()
        self.assertEqual(len(content["model"]["merges"]), 290 - 257)
        self.assertEqual(content["added_tokens"][0]["content"], "<|endoftext|>")
        self.assertEqual(content["model"]["vocab"]["<|endoftext|>"], 289)


if __name__ == "__main__":
    unittest.main()
