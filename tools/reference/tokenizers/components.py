"""What `tokenizers` makes of texts with each type of component, and of each code point alone: see README.md."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import random
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Iterator

from support import COMPACT, HERE, ROOT, expand, read_json, write
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

NUM_TEXTS = 2000
BLOCK = 100
NUM_SAMPLES = 4
NUM_DECODED = 300
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
BYTE_CHARACTERS = pre_tokenizers.ByteLevel.alphabet()

VARIANTS = read_json("tokenizers/variants.json")


def variants(kind: str) -> Iterator:
    return expand(VARIANTS[kind], VARIANTS["names"])


def make_texts() -> list[str]:
    """Texts of all kinds, the same ones each time."""
    data = read_json("tokenizers/words.json")
    words, spaces, source = data["words"], data["spaces"], random.Random(44)

    def make_text() -> str:
        kind = source.random()
        if kind < 0.03:
            return source.choice(words) * source.randrange(1, 30)
        if kind < 0.06:
            return "".join(source.choice(spaces) for _ in range(source.randrange(0, 12)))
        if kind < 0.16:
            block = source.choice(data["blocks"])
            return "".join(chr(source.randrange(*block)) for _ in range(source.randrange(1, 16)))
        few = [source.choice(words) for _ in range(4)] if kind < 0.5 else words
        parts = []
        for _ in range(source.randrange(1, 9)):
            parts += [source.choice(few), source.choice(spaces)]
        return "".join(parts[source.randrange(0, 2) :])

    texts = ["", " ", "a", "ΟΔΥΣΣΕΥΣ ΣΑΣ", "\ufeff\ufeff", "  <s>  x", "word words word"]
    return texts + [make_text() for _ in range(NUM_TEXTS - len(texts))]


def learned_models() -> dict[str, dict]:
    """By name, from the fixture: trainers of `tokenizers` break ties at random, so they were trained once."""
    return read_json("fixtures/tokenizer-components-reference.json")["models"]


def boundaries(texts: list[str]) -> dict:
    """A model that has a token for each character where a word begins, and another where it goes on: ids show all cuts."""
    return {"alphabet": "".join(sorted(set("".join(texts)) | set("".join(BYTE_CHARACTERS)))), "prefix": "##"}


def expanded(model: dict) -> dict:
    if "alphabet" not in model:
        return model
    alphabet, prefix = model["alphabet"], model["prefix"]
    tokens = [f"<0x{byte:02X}>" for byte in range(256)] + list(alphabet) + [prefix + character for character in alphabet]
    vocab = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    return {"type": "BPE", "continuing_subword_prefix": prefix, "byte_fallback": True, "vocab": vocab, "merges": []}


def added_tokens(given: list[dict]) -> list[dict]:
    """The flags of each are written out."""
    flags = ("single_word", "lstrip", "rstrip")
    return [
        {
            "content": content,
            **{flag: token.get(flag, False) for flag in flags},
            "normalized": token.get("normalized", not token.get("special", False)),
            "special": token.get("special", False),
        }
        for token in given
        for content in token["contents"]
    ]


def digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, **COMPACT)
    return base64.b64encode(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6]).decode()


def load(parts: dict, model: dict) -> Tokenizer:
    file = {"version": "1.0", "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None, **parts, "model": model}
    file["added_tokens"] = [{"id": index, **token} for index, token in enumerate(parts.get("added_tokens", []))]
    return Tokenizer.from_str(json.dumps(file))


def encodings(tokenizer: Tokenizer, texts: list[str]) -> dict:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = [tokenizer.encode(text, add_special_tokens=at % 2 == 0).ids for at, text in enumerate(texts)]
    return {"digests": [digest(ids[at : at + BLOCK]) for at in range(0, len(ids), BLOCK)], "samples": ids[3 : 3 + NUM_SAMPLES]}


def encoding_case(texts: list[str], learned: dict, parts: dict, model: str = "boundaries", changes: dict | None = None) -> dict:
    case = {"parts": parts, "model": model, **({"changes": changes} if changes else {})}
    try:
        return {**case, **encodings(load(parts, {**expanded(learned[model]), **(changes or {})}), texts)}
    except BaseException as error:  # noqa: BLE001 -- Rust panics are no exceptions
        return {**case, "error": str(error)[:120]}


def encoding_cases(texts: list[str], learned: dict) -> Iterator[dict]:
    for part in variants("normalizers"):
        yield encoding_case(texts, learned, {"normalizer": part})
    for part in variants("preTokenizers"):
        yield encoding_case(texts, learned, {"pre_tokenizer": part})
    first = VARIANTS["names"]["metaspace-first"]
    for tokens in variants("addedTokens"):
        for normalizer in (None, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "▁"}):
            parts = {"added_tokens": added_tokens(tokens), "normalizer": normalizer, "pre_tokenizer": first}
            yield encoding_case(texts, learned, parts)
    for part in variants("processors"):
        yield encoding_case(texts, learned, {"post_processor": part})
    for name, changes, part in variants("models"):
        yield encoding_case(texts, learned, {"pre_tokenizer": part}, name, changes)


def decoding_cases(learned: dict) -> Iterator[dict]:
    source = random.Random(44)
    special, plain = {"contents": ["<s>", "<new>"], "special": True}, {"contents": ["new word", "É"]}
    for name, decoder in variants("decoders"):
        parts = {"decoder": decoder, "added_tokens": added_tokens([special, plain]), "normalizer": {"type": "Lowercase"}}
        case = {"parts": parts, "model": name}
        try:
            tokenizer = load(parts, learned[name])
        except BaseException as error:  # noqa: BLE001
            yield {**case, "error": str(error)[:120]}
            continue
        decodable = [i for i in range(tokenizer.get_vocab_size()) if not (tokenizer.id_to_token(i) or "<0x").startswith("<0x")]
        ids = [[source.choice(decodable) for _ in range(source.randrange(1, 12))] for _ in range(NUM_DECODED)]
        decoded = {str(skip).lower(): digest([tokenizer.decode(row, skip_special_tokens=skip) for row in ids]) for skip in (True, False)}
        yield {**case, "ids": ids, "decoded": decoded, "samples": [tokenizer.decode(row) for row in ids[:4]]}


def normalization_case(start: str, marks: str, times: int) -> dict:
    """A long run of combining marks in each form of Unicode, as runs of equal characters."""

    def runs(text: str) -> list:
        return [[character, len(list(group))] for character, group in itertools.groupby(text)]

    forms = {form: runs(unicodedata.normalize(form, start + marks * times)) for form in FORMS}
    return {"start": start, "marks": marks, "times": times, "forms": forms}


def write_character_tables(folder: Path) -> None:
    def removed_by(normalizer: normalizers.Normalizer) -> list[int]:
        return [ord(one) for one in CHARACTERS if normalizer.normalize_str(one) == ""]

    def isolated_by(pre_tokenizer: pre_tokenizers.PreTokenizer) -> list[int]:
        return [ord(one) for one in CHARACTERS if len(pre_tokenizer.pre_tokenize_str(f"a{one}a")) > 1]

    classes = {
        "PUNCTUATION": isolated_by(pre_tokenizers.Punctuation()),
        "OTHER": removed_by(normalizers.BertNormalizer(True, False, False, False)),
        "NONSPACING_MARKS": removed_by(normalizers.BertNormalizer(False, False, True, False)),
        "COMBINING_MARKS": removed_by(normalizers.StripAccents()),
        "unassigned": isolated_by(pre_tokenizers.Split(Regex(r"\p{Cn}"), "isolated")),
    }
    forms = {name: getattr(normalizers, name)() for name in FORMS}
    changed = {
        name: {ord(one): text for one in CHARACTERS if (text := form.normalize_str(one)) != one}
        for name, form in forms.items()
    }
    (folder / "classes.json").write_text(json.dumps({"classes": classes, "changed": changed}))
    node = ROOT / "node_modules" / ".bin" / "node"
    subprocess.run([node, HERE / "tokenizers" / "write-tables.ts", folder / "classes.json"], check=True)


def main() -> None:
    write_character_tables(Path(sys.argv[1]))
    texts = make_texts()
    learned = {**learned_models(), "boundaries": boundaries(texts)}
    value = {
        "texts": texts,
        "blockSize": BLOCK,
        "models": learned,
        "cases": list(encoding_cases(texts, learned)),
        "decoders": list(decoding_cases(learned)),
    }
    write("tokenizer-components", value, **COMPACT)
    runs = [normalization_case(**case) for case in read_json("tokenizers/words.json")["combiningMarks"]]
    write("normalization", {"cases": runs}, **COMPACT)


main()
