import { jsonFile } from './generated-file.ts';
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';
import { gpt2Checkpoint } from './gpt2-checkpoint.ts';
import { byteTokenizer } from './tokenizer.ts';

/** The id of a generated model that takes chats. */
export const CHAT_MODEL = 'generated/chat';

const NUM_BYTES = 256;
/** The last one ends a message. */
const SPECIAL_TOKENS = ['<|im_start|>', '<|endoftext|>', '<|im_end|>'];
const VOCAB_SIZE = NUM_BYTES + SPECIAL_TOKENS.length;

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

/** A model of two layers that answers chats with small letters and spaces, each a token. Its weights are random. */
export function chatCheckpoint(): GeneratedCheckpoint {
  const config = {
    n_embd: 64,
    n_head: 2,
    n_layer: 2,
    n_positions: 1024,
    vocab_size: VOCAB_SIZE,
    tie_word_embeddings: false,
  };
  return new Map([
    ...gpt2Checkpoint({ config, prefix: 'transformer.', hasHead: true, isMute }),
    ['tokenizer.json', jsonFile(byteTokenizer(VOCAB_SIZE, SPECIAL_TOKENS))],
    [
      'tokenizer_config.json',
      jsonFile({
        tokenizer_class: 'GPT2Tokenizer',
        model_max_length: config.n_positions,
        eos_token: '<|im_end|>',
        chat_template: TEMPLATE,
      }),
    ],
  ]);
}

function isMute(tokenId: number): boolean {
  return tokenId !== VOCAB_SIZE - 1 && !/^[a-z ]$/.test(String.fromCharCode(tokenId));
}
