import { beforeAll, expect, it } from 'vitest';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import { GREEDY, type Lookahead, type TokenConstraint } from '../../batching/generation/request.ts';
import { allowToken, emptyMask } from '../../batching/sampling/token-mask.ts';
import { checkpointWeights } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import { readModel } from '../models/families/families.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import type { PackedModel } from '../runtime/model-backend.ts';
import {
  CONTEXT_LENGTH,
  HybridEngine,
  hybridRequest,
  promptOf,
  VOCAB_SIZE,
} from '../testing/hybrid-engine.ts';
import { CpuBackend } from './cpu-backend.ts';

/** A small model whose greedy texts soon go round in circles. */
const model = readModel(
  {
    model_type: 'llama',
    vocab_size: VOCAB_SIZE,
    max_position_embeddings: CONTEXT_LENGTH,
    hidden_size: 32,
    intermediate_size: 48,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
  },
  undefined,
);
const packed: PackedModel = {
  model,
  ...checkpointWeights(
    { tensors: seededTensors(model, 1) },
    { layout: layOut(model.program.weights, 'fp32', 'float32') },
  ),
};

const SAMPLINGS = [
  {},
  { temperature: 0.3, seed: 3 },
  { presencePenalty: 0.4, frequencyPenalty: 0.1 },
  { repetitionPenalty: 1.05, temperature: 0.5, seed: 5 },
];

/** Behind a token that 5 divides, only 7, 8, 9 and 10 may come, in order. Elsewhere none that 3 divides may. */
function placeBefore(forced: readonly number[] = []): Lookahead {
  const [next] = forced;
  const mask = emptyMask(VOCAB_SIZE);
  for (let id = 0; id < VOCAB_SIZE; id += 1)
    if (next === undefined ? id % 3 > 0 : id === next) allowToken(mask, id);
  const after = (tokenId: number): Lookahead =>
    placeBefore(next === undefined && tokenId % 5 === 0 ? [7, 8, 9, 10] : forced.slice(1));
  return { mask, forced: next, after };
}

function createShape(): TokenConstraint {
  let place = placeBefore();
  const accept = (tokenId: number): boolean => {
    place = place.after(tokenId) ?? place;
    return false;
  };
  return { accept, mask: () => place.mask, ahead: () => place };
}

/** With logprobs, so that bits are compared and not tokens alone. */
const createRequests = () =>
  [2, 5, 12, 40, 23, 3, 61, 9, 2, 7, 12, 40].map((length, i) =>
    hybridRequest('abcdefghijkl'.charAt(i), promptOf(i + 1, length), {
      maxNewTokens: 40 + i,
      sampling: { ...GREEDY, logprobs: 0, ...SAMPLINGS[i % SAMPLINGS.length] },
      ...(i > 7 && { constraint: createShape() }),
    }),
  );

async function run(policy: Partial<BatchingPolicy>) {
  const engine = new HybridEngine(policy, await CpuBackend.create(packed));
  const texts = await engine.run(...createRequests());
  return { texts, numSteps: engine.steps.filter(({ kind }) => kind === 'decode').length };
}

let plain: Awaited<ReturnType<typeof run>>;

beforeAll(async () => {
  plain = await run({ promptLookup: false, policy: 'off' });
});

it.each([
  ['one by one', { policy: 'off' }],
  ['together', {}],
  ['three at a time', { maxBatchSize: 3 }],
  ['without prefixes', { prefixCaching: false, maxBatchedTokens: 7 }],
] as const)('texts with guesses are to the bit as without, %s', async (_, policy) => {
  const { texts } = await run(policy);
  expect(texts).toEqual(plain.texts);
});

it('a text that goes round in circles takes fewer steps', async () => {
  const { numSteps } = await run({ policy: 'off' });
  expect(numSteps).toBeLessThan(plain.numSteps);
});
