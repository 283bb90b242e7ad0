"""Tokenizers: each type of component of `tokenizers` with its options, one at a time and some together."""

from __future__ import annotations

import itertools

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WHITESPACE = r"\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + WHITESPACE
GPT4 = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s"
UPPER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
ENDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
O200K = rf"{UPPER}*{LOWER}+{ENDS}?|{UPPER}+{LOWER}*{ENDS}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{WHITESPACE}"
DEEPSEEK = (
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)
# Each is taken or refused by its name.
REGEXES = [
    GPT2, LLAMA3, GPT4, O200K, DEEPSEEK, r"\s?\p{P}+", "[0-9][0-9][0-9]", r"[^\n]+|[\n]+", r" ?[^(\s|.,!?…。，、।۔،)]+", r"([\t\n]|    |  )",
    r"\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}", r".", r"\w+", r"\W", r"[\w]+", r"[^\w]", r"\d+", r"\D", r"[\d\s]", r"\S+", r"\ba", r"a\b|b\B", r"^a", r"a$", r"(?<=a)b", r"(?<!a)b",
    r"(?=b)b", r"(?i:k)", r"(?i:[ks])", r"(?i:word)", r"(?i:ß)", r"(?i:ss)", r"(?i:\p{Lu})", r"\p{Lu}\p{Ll}+", r"\p{Han}", r"\p{Hiragana}|\p{Katakana}", r"[\p{Latin}]+", r"\p{Cyrillic}", r"\p{Arabic}+",
    r"\p{Lo}", r"\p{Ll}", r"\p{Mn}", r"\p{So}", r"\p{Pd}", r"\p{Nl}|\p{No}", r"\p{Alphabetic}+", r"\p{C}", r"\p{Cn}", r"\P{L}", r"[^\p{L}]", r"\p{^L}", r"\p{Alpha}", r"\p{Word}", r"\p{Emoji}",
    r"\h", r"\x41", r"\u0041", r"\xe9", r"\v", r"[\b]", r"[a-z]+", r"[\x61-\x66]", r"[a\-z]", r"[-a]", r"[a-]", r"[.\-*]", r"\-|\'|\"|\ ", r"\/|\.", r"a{2}", r"a{2}?", r"a{1,2}?b", r"a{,2}b", r"a?b", r"a??b",
    r"a+?b", r"a++", r"(?>a)b", r"(a)\1", r"(?x) a b", r"(?m:.)", r"(?-i:a)", r"\Aa", r"a\z", r"a\Z", r"\Ga", r"\R", r"\X", r"[[:alpha:]]", r"[a&&b]", r"a*", r"(?:)", r"a|", r"\b", r"(a+)+$", r"\p{L}+\d",
    r"☃|🙂", r"[🙂-🙅]", r"(?:a|b){2}", r"(a|bc)d", "\u0301", "\ufdd0", "e\u0301",
]
STRINGS = [" ", "  ", "a", "ab", "▁", "🙂", ".", "$&", "\u0301", "\n"]


def one(kind, **options):
    return {"type": kind, **options}


def sequence(kind, *parts):
    return one("Sequence", **{"normalizers" if kind == "normalizer" else "pretokenizers": list(parts)})


def bools(n):
    return itertools.product((False, True), repeat=n)


def normalizers():
    for clean, apart, lower in bools(3):
        for accents in (None, False, True):
            yield one("BertNormalizer", clean_text=clean, handle_chinese_chars=apart, strip_accents=accents, lowercase=lower)
    for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"):
        yield one(name)
    for left, right in bools(2):
        yield one("Strip", strip_left=left, strip_right=right)
    for text in STRINGS:
        for content in ("", "x", "$&", "▁▁"):
            yield one("Replace", pattern={"String": text}, content=content)
    for regex in (r"\s+", r" {2,}", r"\p{M}", r"[\r\n]", r"\p{Cn}", r"(a)", r"a*", r"(?=a)a", "``|''"):
        for content in ("", "$1", "▁"):
            yield one("Replace", pattern={"Regex": regex}, content=content)
    for text in ("", "▁", "xy", "\u0301"):
        yield one("Prepend", prepend=text)
    yield one("Precompiled", precompiled_charsmap="")
    yield sequence("normalizer")
    yield sequence("normalizer", one("NFD"), one("StripAccents"), one("Lowercase"))
    yield sequence("normalizer", one("Prepend", prepend="▁"), one("Replace", pattern={"String": " "}, content="▁"))
    yield sequence("normalizer", one("Lowercase"), one("NFKD"), one("Lowercase"), one("NFC"))
    yield sequence("normalizer", one("Strip", strip_left=True, strip_right=True), one("Prepend", prepend="▁"))
    yield sequence("normalizer", sequence("normalizer", one("NFC")), one("NFKC"), one("Nmt"))


def metaspace(scheme="always", split=True, replacement="▁", **others):
    return one("Metaspace", replacement=replacement, prepend_scheme=scheme, split=split, **others)


def byte_level(prefix=False, regex=True):
    return one("ByteLevel", add_prefix_space=prefix, trim_offsets=True, use_regex=regex)


def split(pattern, behavior="Isolated", invert=False):
    return one("Split", pattern=pattern, behavior=behavior, invert=invert)


def pre_tokenizers_():
    for name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"):
        yield one(name)
    for prefix, regex in bools(2):
        yield byte_level(prefix, regex)
    for delimiter in (" ", "a", "🙂", "-"):
        yield one("CharDelimiterSplit", delimiter=delimiter)
    for each in (False, True):
        yield one("Digits", individual_digits=each)
    yield one("FixedLength")
    for length in (1, 2, 7):
        yield one("FixedLength", length=length)
    for scheme, cut, mark in itertools.product(("always", "first", "never"), (False, True), ("▁", " ", "_")):
        yield metaspace(scheme, cut, mark)
    yield one("Metaspace", replacement="▁", add_prefix_space=True)
    yield one("Metaspace", replacement="▁", add_prefix_space=False)
    yield one("Metaspace", replacement="▁", add_prefix_space=False, prepend_scheme="never", str_rep="▁")
    for behavior in BEHAVIORS:
        yield one("Punctuation", behavior=behavior)
        for inverted in (False, True):
            for text in STRINGS:
                yield split({"String": text}, behavior, inverted)
            for regex in (GPT2, LLAMA3, r"\s+", r"\s", r"\w+|[^\w\s]+", "a"):
                yield split({"Regex": regex}, behavior, inverted)
    for regex in REGEXES:
        yield split({"Regex": regex})
    yield sequence("pre_tokenizer")
    yield sequence("pre_tokenizer", one("Whitespace"), one("Digits", individual_digits=True))
    yield sequence("pre_tokenizer", one("WhitespaceSplit"), metaspace())
    yield sequence("pre_tokenizer", one("WhitespaceSplit"), metaspace("first"))
    yield sequence("pre_tokenizer", metaspace("first", False), one("Punctuation", behavior="Isolated"))
    yield sequence("pre_tokenizer", one("Digits", individual_digits=True), byte_level())
    yield sequence("pre_tokenizer", split({"Regex": LLAMA3}), byte_level(False, False))
    yield sequence("pre_tokenizer", split({"String": " "}, "MergedWithPrevious"), one("Punctuation", behavior="Contiguous"), byte_level(True, False))
    yield sequence("pre_tokenizer", sequence("pre_tokenizer", one("BertPreTokenizer")), one("FixedLength", length=3))


def token(content, special=False, normalized=None, **flags):
    names = ("single_word", "lstrip", "rstrip")
    options = {name: flags.get(name, False) for name in names}
    return {"content": content, **options, "normalized": not special if normalized is None else normalized, "special": special}


def added_tokens():
    for single, left, right in bools(3):
        for normalized in (False, True):
            flags = {"single_word": single, "lstrip": left, "rstrip": right}
            yield [token(text, False, normalized, **flags) for text in ("word", "<s>", "Fox", "ΣΑΣ", "  x", "🙂", "天", "a", "1", "क")]
    yield [token("<s>", True), token("</s>", True), token("<|end|>", True, rstrip=True), token("  ", False), token("   <s>", False), token(" \n", False, False)]
    yield [token("<s>", True, True), token("ABC"), token("ab"), token("abc def"), token("ab.", False, False), token("c", False, True, single_word=True)]
    yield [token("word", rstrip=True), token(" ", False), token("  words", False), token("words", lstrip=True)]
    yield [token("a", True), token("b", True, rstrip=True, lstrip=True), token(" b", True), token("b ", False, False)]


def processors():
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
        "pair": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}},
            {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "</s>", "type_id": 1}},
        ],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [4, 5], "tokens": ["</s>", "x"]}},
    }
    twice = {**template, "single": [{"Sequence": {"id": "A", "type_id": 0}}] * 2}
    level = byte_level(True)
    bert = {"type": "BertProcessing", "sep": ["</s>", 4], "cls": ["<s>", 3]}
    roberta = {"type": "RobertaProcessing", "sep": ["</s>", 4], "cls": ["<s>", 3], "trim_offsets": True, "add_prefix_space": False}
    yield from (template, twice, level, bert, roberta)
    yield {"type": "Sequence", "processors": [level, template]}
    yield {"type": "Sequence", "processors": [level]}
    yield {"type": "Sequence", "processors": [template, bert]}


def trained(texts, model, trainer, pre_tokenizer):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(texts, trainer)
    import json

    return json.loads(tokenizer.to_str())["model"]


def learned_models(texts):
    """By name; each is stored once."""
    white = pre_tokenizers.WhitespaceSplit()
    special = ["<unk>", "<s>", "</s>"]
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    common = {"vocab_size": 1100, "show_progress": False, "limit_alphabet": 500}
    return {
        "bytes": trained(texts, models.BPE(), trainers.BpeTrainer(special_tokens=["<unk>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), vocab_size=900, show_progress=False), pre_tokenizers.ByteLevel(add_prefix_space=False)),
        "characters": trained(texts, models.BPE(unk_token="<unk>"), trainers.BpeTrainer(special_tokens=special + byte_tokens, **common), white),
        "prefixed": trained(texts, models.BPE(unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="</w>"), trainers.BpeTrainer(special_tokens=special, continuing_subword_prefix="##", end_of_word_suffix="</w>", **common), white),
        "pieces": trained(texts, models.WordPiece(unk_token="<unk>"), trainers.WordPieceTrainer(special_tokens=special, **common), white),
    }


def model_variants():
    """The name of a learned model, its changes, and its pre-tokenizer."""
    white, level = one("WhitespaceSplit"), byte_level()
    for fuse, fallback, ignore in bools(3):
        for unknown in (None, "<unk>"):
            yield "characters", {"fuse_unk": fuse, "byte_fallback": fallback, "ignore_merges": ignore, "unk_token": unknown}, white
    yield "characters", {"fuse_unk": True, "byte_fallback": True}, None
    yield "characters", {"dropout": 0.0}, white
    yield "characters", {"dropout": 0.1}, white
    yield "bytes", {}, level
    yield "bytes", {"ignore_merges": True}, split({"Regex": r"\s+"}, "MergedWithNext")
    yield "bytes", {}, byte_level(True, False)
    for fuse, fallback in bools(2):
        yield "prefixed", {"fuse_unk": fuse, "byte_fallback": fallback}, white
    for longest in (0, 5, 100):
        yield "pieces", {"max_input_chars_per_word": longest}, white
    yield "pieces", {"continuing_subword_prefix": "▁"}, white
    yield "pieces", {}, one("BertPreTokenizer")
    yield "pieces", {"type": "WordLevel"}, white
    yield "pieces", {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.0]], "unk_id": 0}, white


def decoders():
    """With the name of the learned model."""
    space = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    fuse, fallback = {"type": "Fuse"}, {"type": "ByteFallback"}
    several = lambda *parts: {"type": "Sequence", "decoders": list(parts)}  # noqa: E731
    yield "bytes", byte_level()
    yield "bytes", several(byte_level())
    yield "characters", several(space, fallback, fuse, strip)
    yield "characters", several(space, fallback, fuse)
    yield "characters", several(fallback, fuse, {**strip, "start": 2}, space)
    yield "characters", several({**space, "pattern": {"String": "a"}, "content": "$&"}, fuse)
    yield "characters", several(space, strip, fuse)
    yield "characters", several(fuse, {"type": "Replace", "pattern": {"String": "ab"}, "content": "x"})
    yield "characters", several({"type": "Replace", "pattern": {"Regex": "a"}, "content": "x"}, fuse)
    yield "characters", several(fuse, {**strip, "start": 0, "stop": 1})
    yield "characters", {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    yield "characters", {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
    yield "characters", fuse
    yield "characters", fallback
    yield "characters", None
    yield "prefixed", {"type": "BPEDecoder", "suffix": "</w>"}
    for cleanup in (False, True):
        yield "pieces", {"type": "WordPiece", "prefix": "##", "cleanup": cleanup}
    yield "pieces", {"type": "WordPiece", "prefix": "a", "cleanup": True}
    yield "pieces", None
