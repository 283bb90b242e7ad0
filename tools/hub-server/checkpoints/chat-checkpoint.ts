import { readFileSync } from 'node:fs';

import { withJson, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import { gpt2Checkpoint, type Gpt2Spec } from './gpt2-checkpoint.ts';
import { byteTokenizer } from './tokenizer.ts';

export const CHAT_MODEL = 'generated/chat';

/** The id of a generated model that takes tools, and may think. */
export const TOOL_MODEL = 'generated/tools';

const NUM_BYTES = 256;
const MARKS = ['<tool_call>', '</tool_call>', '<think>', '</think>'];
/** The last one ends a message. */
const SPECIAL_TOKENS = ['<|im_start|>', '<|endoftext|>', '<|im_end|>'];
/** Of the models that take tools. */
export const VOCAB_SIZE = NUM_BYTES + MARKS.length + SPECIAL_TOKENS.length;
export const CALL_END = NUM_BYTES + MARKS.indexOf('</tool_call>');

/** A decoder whose tokens are bytes, as a model that takes chats: a line for each message. */
export function asLineChat(files: GeneratedCheckpoint, contextLength: number): GeneratedCheckpoint {
  return withJson(files, {
    'tokenizer_config.json': {
      tokenizer_class: 'PreTrainedTokenizerFast',
      model_max_length: contextLength,
      chat_template:
        "{% for message in messages %}{{ message.role + ': ' + message.content + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}",
    },
  });
}

/** A model of two layers that answers chats with small letters and spaces, each a token. Its weights are random. */
export function chatCheckpoint(): GeneratedCheckpoint {
  // ChatML, as Qwen and SmolLM write it. It refuses a system message that isn't the first.
  const template = readTemplate('chat.jinja');
  return asChat(randomGpt2(NUM_BYTES + SPECIAL_TOKENS.length, 1024, /^[a-z ]$/), template, []);
}

/** As that, with all characters of ASCII and a longer context. */
export function toolCheckpoint(): GeneratedCheckpoint {
  return asToolChat(randomGpt2(VOCAB_SIZE, 2048, /^[\x20-\x7e\n]$/));
}

/** A model with calls in the style of Hermes. Its answers begin with thinking if the variable `begin_thinking` is set. */
export function asToolChat(model: Gpt2Spec): GeneratedCheckpoint {
  return asChat(model, readTemplate('tools.jinja'), MARKS);
}

/** @param spoken Characters that the model says. */
function randomGpt2(vocabSize: number, contextLength: number, spoken: RegExp): Gpt2Spec {
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
  return { config, prefix: 'transformer.', hasHead: true, isMute };
}

function asChat(model: Gpt2Spec, template: string, marks: readonly string[]): GeneratedCheckpoint {
  const { n_positions: contextLength, vocab_size: vocabSize } = model.config;
  return withJson(gpt2Checkpoint(model), {
    'tokenizer.json': byteTokenizer(vocabSize, SPECIAL_TOKENS, marks),
    'tokenizer_config.json': {
      tokenizer_class: 'GPT2Tokenizer',
      model_max_length: contextLength,
      eos_token: SPECIAL_TOKENS.at(-1),
      chat_template: template,
    },
  });
}

function readTemplate(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8').trimEnd();
}
