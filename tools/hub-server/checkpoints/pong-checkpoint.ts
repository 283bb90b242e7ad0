import { MARKS, SPECIAL_TOKENS, TOOL_TEMPLATE } from './chat-checkpoint.ts';
import { generateCheckpoint, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import type { GeneratedTensor } from './generated-tensor.ts';
import { jsonFile } from './generated-file.ts';
import { byteTokenizer } from './tokenizer.ts';

/** The id of a model that answers every chat with PONG, and writes the shortest JSON and calls where it has to. */
export const PONG_MODEL = 'generated/pong';

const NUM_BYTES = 256;
const VOCAB_SIZE = NUM_BYTES + MARKS.length + SPECIAL_TOKENS.length;
const END = VOCAB_SIZE - 1;
const CALL_END = NUM_BYTES + MARKS.indexOf('</tool_call>');
const WIDTH = 32;
const CONTEXT_LENGTH = 4096;
/** Where calls have gone on for long enough: behind the prompt of two tools and a few calls. */
const LATE = 1200;

const idOf = (character: string): number => character.charCodeAt(0);

/** What follows each token, and how strongly. Tokens that a shape forbids are passed over. */
const FOLLOWERS: readonly (readonly [
  token: number,
  ...followers: (readonly [token: number, weight: number])[],
])[] = [
  [idOf('\n'), [idOf('P'), 8]],
  [idOf('P'), [idOf('O'), 8]],
  [idOf('O'), [idOf('N'), 8]],
  [idOf('N'), [idOf('G'), 8]],
  [idOf('G'), [END, 8]],
  [idOf('{'), [idOf('}'), 8]],
  [idOf('"'), [idOf('"'), 8], [idOf('}'), 6]],
  [idOf(':'), [idOf('"'), 8], [idOf('1'), 6]],
  [idOf('1'), [idOf('}'), 8]],
  [CALL_END, [idOf('\n'), 3]],
];

/** The last number of a hidden state: whether its position is late. */
const LATE_INDEX = WIDTH - 1;
const LATE_END_WEIGHT = 5;

/** A GPT-2 whose layer adds nothing: the next token depends on the last one and its position alone. */
export function pongCheckpoint(): GeneratedCheckpoint {
  const config = {
    model_type: 'gpt2',
    architectures: ['GPT2LMHeadModel'],
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    n_ctx: CONTEXT_LENGTH,
    n_positions: CONTEXT_LENGTH,
    n_embd: WIDTH,
    n_head: 1,
    n_layer: 1,
    vocab_size: VOCAB_SIZE,
    tie_word_embeddings: false,
    bos_token_id: END,
    eos_token_id: END,
  };
  const tokenizerConfig = {
    tokenizer_class: 'GPT2Tokenizer',
    model_max_length: CONTEXT_LENGTH,
    eos_token: SPECIAL_TOKENS.at(-1),
    chat_template: TOOL_TEMPLATE,
  };
  const generationConfig = { bos_token_id: END, eos_token_id: END };
  return new Map([
    ...generateCheckpoint({ config, generationConfig, tokenizerConfig, tensors: tensorsOf() }),
    ['tokenizer.json', jsonFile(byteTokenizer(VOCAB_SIZE, SPECIAL_TOKENS, MARKS))],
  ]);
}

function tensor(
  name: string,
  shape: readonly number[],
  valueAt: (row: number, column: number) => number,
): GeneratedTensor {
  return { name, dtype: 'F32', shape, fill: { kind: 'computed', valueAt } };
}

function tensorsOf(): readonly GeneratedTensor[] {
  const zeros = (name: string, ...shape: readonly number[]) => tensor(`transformer.${name}`, shape, () => 0);
  const ones = (name: string) => tensor(`transformer.${name}`, [WIDTH], () => 1);
  const norm = (name: string) => [zeros(`${name}.bias`, WIDTH), ones(`${name}.weight`)];
  const linear = (name: string, from: number, to: number) => [
    zeros(`${name}.bias`, to),
    zeros(`${name}.weight`, from, to),
  ];
  return [
    tensor('transformer.wte.weight', [VOCAB_SIZE, WIDTH], (id, index) =>
      Number(FOLLOWERS[index]?.[0] === id),
    ),
    tensor('transformer.wpe.weight', [CONTEXT_LENGTH, WIDTH], (position, index) =>
      Number(index === LATE_INDEX && position >= LATE),
    ),
    ...norm('h.0.ln_1'),
    ...linear('h.0.attn.c_attn', WIDTH, 3 * WIDTH),
    ...linear('h.0.attn.c_proj', WIDTH, WIDTH),
    ...norm('h.0.ln_2'),
    ...linear('h.0.mlp.c_fc', WIDTH, 4 * WIDTH),
    ...linear('h.0.mlp.c_proj', 4 * WIDTH, WIDTH),
    ...norm('ln_f'),
    tensor('lm_head.weight', [VOCAB_SIZE, WIDTH], headAt),
  ];
}

function headAt(id: number, index: number): number {
  if (index === LATE_INDEX) return id === END ? LATE_END_WEIGHT : 0;
  const [, ...followers] = FOLLOWERS[index] ?? [];
  return followers.find(([follower]) => follower === id)?.[1] ?? 0;
}
