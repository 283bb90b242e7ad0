import { jsonFile } from './generated-file.ts';
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';
import { gpt2Checkpoint } from './gpt2-checkpoint.ts';
import { byteTokenizer } from './tokenizer.ts';

/** The id of a generated model that takes chats. */
export const CHAT_MODEL = 'generated/chat';

/** The id of a generated model that takes tools, and may think. */
export const TOOL_MODEL = 'generated/tools';

const NUM_BYTES = 256;
/** The last one ends a message. */
export const SPECIAL_TOKENS = ['<|im_start|>', '<|endoftext|>', '<|im_end|>'];
export const MARKS = ['<tool_call>', '</tool_call>', '<think>', '</think>'];

/**
 * ChatML, as Qwen and SmolLM write it. It refuses a system message that isn't the first, and takes the variable
 * `enable_thinking` as Qwen3's does.
 */
const TEMPLATE = `{%- for message in messages %}
{%- if message.role == 'system' and not loop.first %}
{{- raise_exception('the system message has to be the first') }}
{%- endif %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}`;

/** Calls in the style of Hermes. The variable `begin_thinking` begins the answer's thinking, else it doesn't think. */
export const TOOL_TEMPLATE = `{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- for tool in tools %}
{{- tool.function | tojson + '\\n' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments | tojson + '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n<think>\\n' }}
{%- if not begin_thinking %}
{{- '\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}`;

/** A model of two layers that answers chats with small letters and spaces, each a token. Its weights are random. */
export function chatCheckpoint(): GeneratedCheckpoint {
  return generatedChat({ template: TEMPLATE, marks: [], contextLength: 1024, spoken: /^[a-z ]$/ });
}

/** As that, with all characters of ASCII and a longer context. */
export function toolCheckpoint(): GeneratedCheckpoint {
  return generatedChat({
    template: TOOL_TEMPLATE,
    marks: MARKS,
    contextLength: 2048,
    spoken: /^[\x20-\x7e\n]$/,
  });
}

interface ChatSpec {
  readonly template: string;
  readonly marks: readonly string[];
  readonly contextLength: number;
  /** Characters that the model says. */
  readonly spoken: RegExp;
}

function generatedChat({ template, marks, contextLength, spoken }: ChatSpec): GeneratedCheckpoint {
  const vocabSize = NUM_BYTES + marks.length + SPECIAL_TOKENS.length;
  const config = {
    n_embd: 64,
    n_head: 2,
    n_layer: 2,
    n_positions: contextLength,
    vocab_size: vocabSize,
    tie_word_embeddings: false,
  };
  const isMute = (tokenId: number): boolean =>
    tokenId !== vocabSize - 1 && !spoken.test(String.fromCharCode(tokenId));
  return new Map([
    ...gpt2Checkpoint({ config, prefix: 'transformer.', hasHead: true, isMute }),
    ['tokenizer.json', jsonFile(byteTokenizer(vocabSize, SPECIAL_TOKENS, marks))],
    [
      'tokenizer_config.json',
      jsonFile({
        tokenizer_class: 'GPT2Tokenizer',
        model_max_length: config.n_positions,
        eos_token: '<|im_end|>',
        chat_template: template,
      }),
    ],
  ]);
}
