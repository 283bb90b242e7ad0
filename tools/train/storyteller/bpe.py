"""Byte-level BPE as GPT-2 does it: training, encoding, decoding and Hugging Face's tokenizer.json."""

import heapq
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path

END_OF_TEXT = "<|endoftext|>"


def _character_class(is_member) -> str:
    """Regex class body of all characters for which is_member holds (the `re` module has no \\p{...})."""
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if not is_member(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


@lru_cache(maxsize=1)
def _pre_token_pattern() -> re.Pattern[str]:
    """GPT-2's pre-tokenization: what Hugging Face's ByteLevel applies with use_regex."""
    letter = _character_class(lambda c: unicodedata.category(c)[0] == "L")
    number = _character_class(lambda c: unicodedata.category(c)[0] == "N")
    # Unicode White_Space; Python's own \s also takes the four separators U+001C to U+001F.
    space = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
    return re.compile(
        f"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{number}]+| ?[^{space}{letter}{number}]+"
        f"|[{space}]+(?![^{space}])|[{space}]+"
    )


def pre_tokenize(text: str) -> list[str]:
    return _pre_token_pattern().findall(text)


def bytes_to_characters() -> dict[int, str]:
    """GPT-2's printable stand-in for each byte, in the order in which GPT-2 numbers them."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = [chr(byte) for byte in printable] + [chr(256 + n) for n in range(len(others))]
    return dict(zip(printable + others, characters))


BYTE_TO_CHARACTER = bytes_to_characters()
CHARACTER_TO_BYTE = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}


def _to_characters(pre_token: str) -> tuple[str, ...]:
    return tuple(BYTE_TO_CHARACTER[byte] for byte in pre_token.encode("utf-8"))


class Tokenizer:
    """Encodes text to ids and back; `merges` are in order of rank."""

    def __init__(self, merges: list[tuple[str, str]]):
        self.merges = merges
        pieces = [*BYTE_TO_CHARACTER.values(), *(left + right for left, right in merges), END_OF_TEXT]
        self.vocab = {piece: index for index, piece in enumerate(pieces)}
        self.end_of_text = self.vocab[END_OF_TEXT]
        self._pieces = pieces
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._cache: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Ids of plain text; the special token's own spelling gets no special treatment here."""
        ids: list[int] = []
        for pre_token in pre_tokenize(text):
            known = self._cache.get(pre_token)
            if known is None:
                known = self._cache[pre_token] = [self.vocab[p] for p in self._merge(_to_characters(pre_token))]
            ids.extend(known)
        return ids

    def decode_bytes(self, ids: list[int]) -> bytes:
        """Bytes of the ids, the special token left out."""
        characters = "".join(self._pieces[index] for index in ids if index != self.end_of_text)
        return bytes(CHARACTER_TO_BYTE[character] for character in characters)

    def decode(self, ids: list[int]) -> str:
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def _merge(self, pieces: tuple[str, ...]) -> list[str]:
        merged = list(pieces)
        while len(merged) > 1:
            pairs = list(zip(merged, merged[1:]))
            best = min(pairs, key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if best not in self._ranks:
                break
            merged = _merge_pair(merged, best)
        return merged

    def to_json(self) -> dict:
        """The tokenizer in Hugging Face tokenizers' format, with the fields of openai-community/gpt2."""
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        special = {"id": self.end_of_text, "content": END_OF_TEXT, "single_word": False, "lstrip": False}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{**special, "rstrip": False, "normalized": False, "special": True}],
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": {**byte_level, "trim_offsets": False},
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": "",
                "end_of_word_suffix": "",
                "fuse_unk": False,
                "byte_fallback": False,
                "vocab": self.vocab,
                "merges": [f"{left} {right}" for left, right in self.merges],
            },
        }

    @staticmethod
    def load(path: Path) -> "Tokenizer":
        merges = json.loads(path.read_text("utf-8"))["model"]["merges"]
        return Tokenizer([tuple(merge.split(" ")) for merge in merges])


def _merge_pair(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    merged: list[str] = []
    for piece in pieces:
        if merged and (merged[-1], piece) == pair:
            # The joined piece cannot match `pair` again: it is longer than the pair's left half.
            merged[-1] = merged[-1] + piece
        else:
            merged.append(piece)
    return merged


def train(texts, vocab_size: int) -> Tokenizer:
    """Learns vocab_size - 257 merges; equal counts go to the pair that sorts first, so the result is unique."""
    frequencies = Counter(pre_token for text in texts for pre_token in pre_tokenize(text))
    words = [list(_to_characters(word)) for word in frequencies]
    counts = list(frequencies.values())
    pair_counts: Counter[tuple[str, str]] = Counter()
    where: dict[tuple[str, str], set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pair_counts[pair] += counts[index]
            where[pair].add(index)
    queue = [(-count, pair) for pair, count in pair_counts.items()]
    heapq.heapify(queue)

    merges: list[tuple[str, str]] = []
    while len(merges) < vocab_size - 257 and queue:
        count, pair = heapq.heappop(queue)
        if -count != pair_counts[pair] or count == 0:
            continue  # an entry from before another merge changed this pair's count
        merges.append(pair)
        changed: set[tuple[str, str]] = set()
        for index in where.pop(pair):
            before, after = words[index], _merge_pair(words[index], pair)
            for old in zip(before, before[1:]):
                pair_counts[old] -= counts[index]
                changed.add(old)
            for new in zip(after, after[1:]):
                pair_counts[new] += counts[index]
                where[new].add(index)
                changed.add(new)
            words[index] = after
        for candidate in changed:
            if pair_counts[candidate] > 0:
                heapq.heappush(queue, (-pair_counts[candidate], candidate))
    if len(merges) < vocab_size - 257:
        raise ValueError(f"Expected text for {vocab_size - 257} merges, got only {len(merges)}: use a larger corpus")
    return Tokenizer(merges)
