"""What `tokenizers` makes of each code point alone, as JSON for write-tables.ts. Argument: the file to write."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tokenizers import Regex, normalizers, pre_tokenizers

CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
FORMS = {name: getattr(normalizers, name)() for name in ("NFC", "NFD", "NFKC", "NFKD")}


def removed_by(normalizer: normalizers.Normalizer) -> list[int]:
    return [ord(one) for one in CHARACTERS if normalizer.normalize_str(one) == ""]


def isolated_by(pre_tokenizer: pre_tokenizers.PreTokenizer) -> list[int]:
    return [ord(one) for one in CHARACTERS if len(pre_tokenizer.pre_tokenize_str(f"a{one}a")) > 1]


def main() -> None:
    classes = {
        "PUNCTUATION": isolated_by(pre_tokenizers.Punctuation()),
        "OTHER": removed_by(normalizers.BertNormalizer(True, False, False, False)),
        "NONSPACING_MARKS": removed_by(normalizers.BertNormalizer(False, False, True, False)),
        "COMBINING_MARKS": removed_by(normalizers.StripAccents()),
        "unassigned": isolated_by(pre_tokenizers.Split(Regex(r"\p{Cn}"), "isolated")),
    }
    changed = {
        name: {ord(one): text for one in CHARACTERS if (text := form.normalize_str(one)) != one}
        for name, form in FORMS.items()
    }
    Path(sys.argv[1]).write_text(json.dumps({"classes": classes, "changed": changed}))


main()
