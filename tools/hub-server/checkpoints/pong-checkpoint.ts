import { asToolChat, CALL_END, VOCAB_SIZE } from './chat-checkpoint.ts';
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';
import type { GeneratedTensor } from './generated-tensor.ts';

/** The id of a model that answers every chat with PONG, and writes the shortest JSON and calls where it has to. */
export const PONG_MODEL = 'generated/pong';

const END = VOCAB_SIZE - 1;
const WIDTH = 32;
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
    n_positions: 4096,
    n_embd: WIDTH,
    n_head: 1,
    n_layer: 1,
    vocab_size: VOCAB_SIZE,
    tie_word_embeddings: false,
  };
  return asToolChat({ config, prefix: 'transformer.', hasHead: true, fillOf });
}

function fillOf(name: string): GeneratedTensor['fill'] {
  return { kind: 'computed', valueAt: VALUES[name] ?? (/ln_.*weight/.test(name) ? () => 1 : () => 0) };
}

const VALUES: Readonly<Record<string, (row: number, column: number) => number>> = {
  'transformer.wte.weight': (id, index) => Number(FOLLOWERS[index]?.[0] === id),
  'transformer.wpe.weight': (position, index) => Number(index === LATE_INDEX && position >= LATE),
  'lm_head.weight'(id, index) {
    if (index === LATE_INDEX) return id === END ? LATE_END_WEIGHT : 0;
    const [, ...followers] = FOLLOWERS[index] ?? [];
    return followers.find(([follower]) => follower === id)?.[1] ?? 0;
  },
};
