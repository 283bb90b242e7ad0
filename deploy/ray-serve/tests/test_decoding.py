import unittest

import numpy
import torch

from completion_request import Sampling
from counting_model import EOS_ID, CountingModel, decode, encode
from decoding import Job, decode_batch, logprobs_of, sample
from stop_strings import StopMatcher


def run(model, *jobs, max_length=32):
    steps = decode_batch(
        model, [Job(encode(prompt), sampling) for prompt, sampling in jobs],
        decode=decode, eos_ids=frozenset([EOS_ID]), max_length=max_length,
    )
    chunks = [[] for _ in jobs]
    for step in steps:
        for own, chunk in zip(chunks, step, strict=True):
            if chunk:
                own.append(chunk)
    return chunks


def text_of(chunks):
    return "".join(chunk.text for chunk in chunks)


class DecodeBatch(unittest.TestCase):
    def test_rows_of_different_lengths_go_on_each_from_its_own_end(self):
        model = CountingModel()
        chunks = run(model, ("abc", Sampling(max_tokens=4)), ("p", Sampling(max_tokens=2)))
        self.assertEqual([text_of(own) for own in chunks], ["defg", "qr"])
        self.assertEqual([own[-1].finish_reason for own in chunks], ["length", "length"])
        self.assertEqual([own[-1].num_prompt_tokens for own in chunks], [3, 1])
        self.assertEqual(model.batch_shapes, [(2, 3), (2, 1), (2, 1), (2, 1)])
        self.assertEqual(model.position_ids[:2], [[[0, 1, 2], [0, 0, 0]], [[3], [1]]])

    def test_a_row_ends_at_the_end_token_which_is_no_output(self):
        [chunks] = run(CountingModel(), ("y", Sampling(max_tokens=9)))
        self.assertEqual((text_of(chunks), chunks[-1].finish_reason), ("z", "stop"))
        self.assertEqual([i for chunk in chunks for i in chunk.token_ids], [25])

    def test_a_row_ends_before_a_stop_string_that_lies_across_tokens(self):
        [chunks] = run(CountingModel(), ("a", Sampling(max_tokens=9, stop=("dx", "def"))))
        self.assertEqual((text_of(chunks), chunks[-1].finish_reason), ("bc", "stop"))

    def test_what_was_held_for_a_stop_string_that_does_not_come_is_shown(self):
        [chunks] = run(CountingModel(), ("a", Sampling(max_tokens=3, stop=("dx",))))
        self.assertEqual((text_of(chunks), chunks[-1].finish_reason), ("bcd", "length"))

    def test_a_row_ends_where_the_context_does(self):
        [chunks] = run(CountingModel(), ("ab", Sampling(max_tokens=9)), max_length=4)
        self.assertEqual((text_of(chunks), chunks[-1].finish_reason), ("cd", "length"))

    def test_a_row_that_has_ended_near_the_end_of_the_context_leaves_the_others_theirs(self):
        chunks = run(CountingModel(), ("abcdefghijklmnopqrstuvwxyz", Sampling()), ("a", Sampling(max_tokens=20)))
        self.assertEqual([text_of(own) for own in chunks], ["", "bcdefghijklmnopqrstu"])

    def test_a_text_depends_on_its_seed_and_not_on_its_batch_mates(self):
        sampling = Sampling(max_tokens=12, temperature=5.0, seed=3)
        other = Sampling(max_tokens=12, temperature=5.0, seed=4)
        [alone] = run(CountingModel(), ("ab", sampling))
        together = run(CountingModel(), ("klmno", other), ("ab", sampling), ("c", other))
        self.assertEqual(text_of(together[1]), text_of(alone))
        self.assertNotEqual(text_of(together[0]), text_of(alone))


class Sample(unittest.TestCase):
    LOGITS = torch.tensor([1.0, 3.0, 2.0, -1.0, 0.0])

    def draw(self, sampling, output_ids=(), times=1):
        generator = torch.Generator().manual_seed(sampling.seed)
        return [sample(self.LOGITS, (4,), list(output_ids), sampling, generator) for _ in range(times)]

    def test_greedy_takes_the_likeliest_after_bias_and_penalties(self):
        self.assertEqual(self.draw(Sampling()), [1])
        self.assertEqual(self.draw(Sampling(logit_bias={3: 10})), [3])
        self.assertEqual(self.draw(Sampling(presence_penalty=2), output_ids=[1]), [2])
        self.assertEqual(self.draw(Sampling(frequency_penalty=1), output_ids=[1, 1]), [2])
        self.assertEqual(self.draw(Sampling(repetition_penalty=4), output_ids=[1]), [2])

    def test_top_k_top_p_and_min_p_keep_what_they_say(self):
        hot = {"temperature": 3.0, "seed": 1}
        self.assertEqual(set(self.draw(Sampling(**hot, top_k=2), times=200)), {1, 2})
        self.assertEqual(set(self.draw(Sampling(**hot, min_p=0.6), times=200)), {1, 2})
        self.assertEqual(set(self.draw(Sampling(**hot, top_p=0.01), times=50)), {1})

    def test_draws_follow_the_softmax(self):
        weights = numpy.exp(self.LOGITS.numpy().astype(numpy.float64) / 2)
        expected = weights / weights.sum()
        drawn = self.draw(Sampling(temperature=2.0, seed=5), times=4000)
        got = numpy.bincount(drawn, minlength=5) / len(drawn)
        # Five standard deviations of the largest.
        self.assertLess(numpy.abs(got - expected).max(), 5 * numpy.sqrt(0.25 / 4000))

    def test_logprobs_are_the_models_own(self):
        weights = numpy.exp(self.LOGITS.numpy().astype(numpy.float64))
        expected = numpy.log(weights / weights.sum())
        entry = logprobs_of(self.LOGITS, 0, 2)
        self.assertAlmostEqual(entry.logprob, expected[0], places=5)
        self.assertEqual([i for i, _ in entry.top], [1, 2])
        self.assertAlmostEqual(entry.top[1][1], expected[2], places=5)
        self.assertEqual(logprobs_of(self.LOGITS, 0, 0).top, ())


class Stops(unittest.TestCase):
    def test_the_cut_is_the_same_however_the_text_is_cut(self):
        text = "one two three"
        for size in range(1, len(text)):
            matcher = StopMatcher(["two thrx", "two t"])
            pieces = [matcher.push(text[i : i + size]) for i in range(0, len(text), size)]
            self.assertEqual("".join(pieces), "one ", size)
            self.assertTrue(matcher.is_stopped)


if __name__ == "__main__":
    unittest.main()
