"""Texts of all kinds, the same ones each time."""

from __future__ import annotations

import random

NUM_TEXTS = 2000

WORDS = """the quick brown Fox it's WE'LL don't can't I'd you've they're it'ſ TEST naïve café Ångström ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ας
ἈΡΧΑΊΑ ᾂ Москва ПРИВЕТ ёж İstanbul ISPARTA ılık ß STRASSE ẞ ﬁn ﬂat ﬀ ﬆ Ǆ ǅ ﷺ ½ ² ٣ ४ Ⅷ ① 𝟙 ⑩ 〇 一 三 12345 3.14 1,000 0x1F
שלום עולם مرحبا بِالْعَالَم नमस्ते दुनिया สวัสดีชาวโลก 你好 世界 今天天气 こんにちは カタカナ ﾊﾝｶｸ 안녕하세요 \u1112\u1161\u11ab \u1100\u1161 ᄀᄀ
გამარჯობა Ⴀ Ბ ᎣᏏᏲ ꮳ Ꭰ ႟ ᠮᠣ ខ្មែរ བོད ລາວ မြန်မာ አማርኛ தமிழ் বাংলা ქ 𐐀 𐐨 𞤀 𝔘𝔫𝔦 𠜎 𠀀 𫝀 𫠠 𮯠 鿿 﨎 丽 Ｆｕｌｌ ｗｉｄｅ ㍿ ㋿ ℃ Å K
e\u0301 E\u0301\u0323 n\u0303 o\u0302\u0323 q\u0307\u0323 \u0344 \u0958 \u2126 \u1e9b\u0323 a\u0328\u0301 \u05d0\u05b7\u05bc x\u20dd \U000105d2\u0307 \U00011935\U00011930 \u0d4b
🙂 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 🇩 ❤️ #️⃣ 🧑🏿‍🚀 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ☃ \U0001faea \U0001f6d8 \u20c1
!!! ... --- «a» “b” ‘c’ „d“ – — … ¿? ؟ 、。 ！ ・ ፡ ༄ ៖ ‿ ⁀ _ __init__ a_b ﹏ $5 €9 +1 <b> =~ ^ ` | ~ ¬ ° § ¶ · @x #y a.b@c.de https://x.y/?q=1&b=%20 {k: 'v'} [0] (z) \\n C:\\x
\u061d \u1b4e \u166d \u09fd \u2e5d \U000111c9 \u0295 \u0250 \ua7ce \ua7d2 \u088f \U00016ea0 \u0c5c \U000323b0 \u0378 \ufdd0 \U0001fffe \U000e0001 \U0010fffd \ue000
▁ ▁▁x Ġ Ċ Ã© <0x41> <s> </s> <unk> <|end|> <|x|> [CLS] [MASK] [SEP] [PAD] <sp> <w> word words <l> <r> <lr> <N> ABC abc Abc aΣ ς""".split()
SPACES = [
    " ", " ", " ", " ", "  ", "   ", "      ", "\t", "\n", "\n\n", "\r\n", "\r", " \n ", "\v", "\f", "\u0085", "\u00a0", "\u1680", "\u2000", "\u2003\u2003",
    "\u200a", "\u200b", "\u200c", "\u200d", "\u200e", "\u2028", "\u2029", "\u202f", "\u205f", "\u2060", "\u3000", "\ufeff", "\x00", "\x01", "\x1c", "\x1f", "\x7f",
    "\u0080", "\u009f", "\u00ad", "\ufffd", "\ufe0f", "\u0301", "\u20e3", "", "", "",
]
BLOCKS = [(0x20, 0x7F), (0x80, 0x24F), (0x250, 0x3FF), (0x400, 0x52F), (0x590, 0x8FF), (0x900, 0xDFF), (0xE00, 0x11FF), (0x1200, 0x1FFF), (0x2000, 0x2BFF),
          (0x2C00, 0x33FF), (0x3400, 0xA4CF), (0xA4D0, 0xABFF), (0xAC00, 0xD7FF), (0xF900, 0xFFFF), (0x10000, 0x11FFF), (0x12000, 0x1D7FF), (0x1E000, 0x1FAFF), (0x20000, 0x323AF)]


def make_text(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.03:
        return source.choice(WORDS) * source.randrange(1, 30)
    if kind < 0.06:
        return "".join(source.choice(SPACES) for _ in range(source.randrange(0, 12)))
    if kind < 0.16:
        block = source.choice(BLOCKS)
        return "".join(chr(source.randrange(*block)) for _ in range(source.randrange(1, 16)))
    few = [source.choice(WORDS) for _ in range(4)] if kind < 0.5 else WORDS
    parts = []
    for _ in range(source.randrange(1, 9)):
        parts += [source.choice(few), source.choice(SPACES)]
    return "".join(parts[source.randrange(0, 2):])


def make_texts() -> list[str]:
    source = random.Random(44)
    texts = ["", " ", "a", "ΟΔΥΣΣΕΥΣ ΣΑΣ", "\ufeff\ufeff", "  <s>  x", "word words word"]
    while len(texts) < NUM_TEXTS:
        texts.append(make_text(source))
    return texts
