"""What `tokenizers` makes of the texts: see README.md. Arguments: the file to write."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
from pathlib import Path

from tokenizers import Tokenizer

import variants
from texts import make_texts

BLOCK = 100
NUM_SAMPLES = 4
NUM_DECODED = 300
BYTE_CHARACTERS = "".join(variants.pre_tokenizers.ByteLevel.alphabet())


def boundaries(texts: list[str]) -> dict:
    """A model that has a token for each character where a word begins, and another where it goes on: ids show all cuts."""
    return {"alphabet": "".join(sorted(set("".join(texts)) | set(BYTE_CHARACTERS))), "prefix": "##"}


def expanded(model: dict) -> dict:
    if "alphabet" not in model:
        return model
    alphabet, prefix = model["alphabet"], model["prefix"]
    tokens = [f"<0x{byte:02X}>" for byte in range(256)] + list(alphabet) + [prefix + character for character in alphabet]
    vocab = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    return {"type": "BPE", "continuing_subword_prefix": prefix, "byte_fallback": True, "vocab": vocab, "merges": []}


def digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6]).decode()


def encodings(tokenizer: Tokenizer, texts: list[str]) -> dict:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = []
    for at, text in enumerate(texts):
        ids.append(tokenizer.encode(text, add_special_tokens=at % 2 == 0).ids)
    return {"digests": [digest(ids[at : at + BLOCK]) for at in range(0, len(ids), BLOCK)], "samples": ids[3 : 3 + NUM_SAMPLES]}


def load(parts: dict, model: dict) -> Tokenizer | str:
    file = {"version": "1.0", "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None, **parts, "model": model}
    file["added_tokens"] = [{"id": index, **token} for index, token in enumerate(parts.get("added_tokens", []))]
    try:
        return Tokenizer.from_str(json.dumps(file))
    except BaseException as error:  # noqa: BLE001 -- Rust panics are no exceptions
        return str(error)[:120]


def main() -> None:
    texts = make_texts()
    models = {"boundaries": boundaries(texts), **variants.learned_models(texts)}
    cases: list[dict] = []

    def add(parts: dict, model: str = "boundaries", changes: dict | None = None) -> None:
        whole = {**expanded(models[model]), **(changes or {})}
        case = {"parts": parts, "model": model, **({"changes": changes} if changes else {})}
        tokenizer = load(parts, whole)
        if isinstance(tokenizer, str):
            cases.append({**case, "error": tokenizer})
            return
        try:
            cases.append({**case, **encodings(tokenizer, texts)})
        except BaseException as error:  # noqa: BLE001
            cases.append({**case, "error": str(error)[:120]})

    for part in variants.normalizers():
        add({"normalizer": part})
    for part in variants.pre_tokenizers_():
        add({"pre_tokenizer": part})
    for tokens in variants.added_tokens():
        for normalizer in (None, variants.one("Lowercase"), variants.one("Prepend", prepend="▁")):
            add({"added_tokens": tokens, "normalizer": normalizer, "pre_tokenizer": variants.metaspace("first")})
    for part in variants.processors():
        add({"post_processor": part})
    for name, changes, part in variants.model_variants():
        add({"pre_tokenizer": part}, name, changes)
    write(Path(sys.argv[1]), {"texts": texts, "blockSize": BLOCK, "models": models, "cases": cases, "decoders": decodings(models)})


def decodings(models: dict) -> list[dict]:
    result = []
    source = random.Random(44)
    for name, decoder in variants.decoders():
        tokens = [variants.token("<s>", True), variants.token("<new>", True), variants.token("new word", False), variants.token("É", False, True)]
        parts = {"decoder": decoder, "added_tokens": tokens, "normalizer": variants.one("Lowercase")}
        tokenizer = load(parts, models[name])
        case = {"parts": parts, "model": name}
        if isinstance(tokenizer, str):
            result.append({**case, "error": tokenizer})
            continue
        size = tokenizer.get_vocab_size()
        plain = [i for i in range(size) if not (tokenizer.id_to_token(i) or "<0x").startswith("<0x")]
        ids = [[source.choice(plain) for _ in range(source.randrange(1, 12))] for _ in range(NUM_DECODED)]
        decoded = {str(skip).lower(): digest([tokenizer.decode(row, skip_special_tokens=skip) for row in ids]) for skip in (True, False)}
        result.append({**case, "ids": ids, "decoded": decoded, "samples": [tokenizer.decode(row) for row in ids[:4]]})
    return result


def write(target: Path, value: dict) -> None:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    target.write_text(text + "\n")
    print(f"{target.name}: {len(text) // 1000} kB, {len(value['cases'])} tokenizers")


main()
