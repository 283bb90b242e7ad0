import { beforeAll, describe, expect, it } from 'vitest';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { GenerationRequest } from '../../batching/generation/request.ts';
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
  type Token,
} from '../testing/hybrid-engine.ts';
import { CpuBackend } from './cpu-backend.ts';

// Small models with state of a fixed size. A text is right if it has the tokens and the bits of the logprobs that it has alone, in one piece.

const SIZES = {
  vocab_size: VOCAB_SIZE,
  max_position_embeddings: CONTEXT_LENGTH,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 4,
  num_attention_heads: 2,
  num_key_value_heads: 1,
};

/** With the bytes that a row and a token take. */
const MODELS = [
  {
    name: 'Qwen3.5',
    config: {
      ...SIZES,
      model_type: 'qwen3_5_text',
      head_dim: 64,
      linear_num_key_heads: 2,
      linear_num_value_heads: 4,
      linear_key_head_dim: 8,
      linear_value_head_dim: 12,
    },
    // Three layers of four matrices, and of three tokens that the convolution keeps.
    bytesPerRow: 3 * 4 * (4 * 8 * 12 + 3 * (2 * 16 + 48)),
    bytesPerToken: 4 * 2 * 64,
  },
  {
    name: 'LFM2',
    config: {
      ...SIZES,
      model_type: 'lfm2',
      norm_eps: 1e-5,
      layer_types: ['conv', 'full_attention', 'conv', 'conv'],
    },
    // Three layers that keep two tokens.
    bytesPerRow: 3 * 4 * 2 * 32,
    bytesPerToken: 4 * 2 * 16,
  },
];

const PROMPT_LENGTHS = [1, 5, 5, 12, 40, 23, 3, 61];

const REQUESTS = PROMPT_LENGTHS.map((length, i) =>
  hybridRequest('abcdefgh'.charAt(i), promptOf(i + 1, length), { maxNewTokens: 4 + 2 * i }),
);

describe.each(MODELS)('$name', ({ config, bytesPerRow, bytesPerToken }) => {
  const model = readModel(config, undefined);
  const packed: PackedModel = {
    model,
    ...checkpointWeights(
      { tensors: seededTensors(model, 1) },
      { layout: layOut(model.program.weights, 'fp32', 'float32') },
    ),
  };

  let alone: readonly (readonly Token[])[];

  beforeAll(async () => {
    alone = await Promise.all(REQUESTS.map(textOf));
  });

  async function engineWith(policy: Partial<BatchingPolicy> = {}): Promise<HybridEngine> {
    return new HybridEngine(policy, await CpuBackend.create(packed));
  }

  async function textOf(request: GenerationRequest): Promise<readonly Token[]> {
    const [text = []] = await (await engineWith()).run(request);
    return text;
  }

  describe('texts of rows', () => {
    it.each([
      ['together', {}],
      ['one by one', { policy: 'off' }],
      ['in static batches', { policy: 'static', maxBatchSize: 3 }],
      ['without prefixes', { prefixCaching: false }],
    ] as const)('are right %s', async (_, policy) => {
      expect(await (await engineWith(policy)).run(...REQUESTS)).toEqual(alone);
    });

    it.each(Array.from({ length: 12 }, (_, i) => i + 1))(
      'are right where prompts are cut each %i tokens',
      async (maxBatchedTokens) => {
        const requests = [REQUESTS[3], REQUESTS[5]].filter((request) => request !== undefined);
        const texts = await (await engineWith({ maxBatchedTokens })).run(...requests);
        expect(texts).toEqual([alone[3], alone[5]]);
      },
    );

    it('are right where requests join and leave, and are cancelled', async () => {
      const [first, second, third, ...others] = REQUESTS;
      if (!first || !second || !third) throw new Error('Expected requests');
      const hybrid = await engineWith();
      hybrid.engine.submitAll([second, third]);
      await hybrid.until(() => hybrid.of(third).length >= 2);
      hybrid.engine.abortAll([second.id]);
      const texts = await hybrid.run(first, ...others);
      expect([...texts, ...(await hybrid.end(third))]).toEqual([alone[0], ...alone.slice(3), alone[2]]);
    });

    it.each([1, 3])('go on in another engine after %i tokens', async (numTokens) => {
      const lost = await engineWith();
      lost.engine.submitAll(REQUESTS);
      await lost.until(() => REQUESTS.every((request) => lost.of(request).length >= numTokens));
      const resumed = REQUESTS.map((request) => ({
        ...request,
        resumedTokenIds: lost
          .of(request)
          .slice(0, request.maxNewTokens - 1)
          .map(({ tokenId }) => tokenId),
      }));
      await lost.engine.close();
      const texts = await (await engineWith()).run(...resumed);
      expect(texts).toEqual(alone.map((text, i) => text.slice(resumed[i]?.resumedTokenIds.length)));
    });

    it('go on from what a row has read', async () => {
      const hybrid = await engineWith();
      const first = hybridRequest('p', promptOf(8, 40), { maxNewTokens: 8 });
      const [text = []] = await hybrid.run(first);
      const read = [...first.promptTokenIds, ...text.map(({ tokenId }) => tokenId)];
      const turn = hybridRequest('q', [...read, ...promptOf(9, 6)]);
      expect(await hybrid.run(turn)).toEqual([await textOf(turn)]);
      expect(hybrid.numReusedBy(turn)).toBe(47);
    });
  });

  describe('snapshots', () => {
    it.each([
      // The last token of an answer wasn't read.
      ['its own tokens', false, 1 + 28],
      ['the end of the prompt before, where the template drops tokens of it', true, 16 - 3 + 8 - 1 + 28],
    ])('let each of three turns of a chat read %s', async (_, isCut, numNew) => {
      const numRead: number[] = [];
      const hybrid = await engineWith();
      let promptTokenIds = promptOf(20, 48);
      for (const turn of [0, 1, 2]) {
        const request = hybridRequest(`t${turn}`, promptTokenIds, { maxNewTokens: 8 });
        const [text = []] = await hybrid.run(request);
        expect(text).toEqual(await textOf(request));
        numRead.push(numReadBy(hybrid, request));
        const kept = promptTokenIds.slice(0, isCut ? -3 : undefined);
        const answer = text.map(({ tokenId }) => tokenId).slice(isCut ? 1 : 0);
        promptTokenIds = [...kept, ...answer, ...promptOf(21 + turn, 28)];
      }
      expect(numRead).toEqual([48, numNew, numNew]);
    });

    it('let eight rows read the prompt that they share once', async () => {
      const hybrid = await engineWith();
      const requests = Array.from('abcdefgh', (name, i) =>
        hybridRequest(name, [...promptOf(30, 40), 40 + i, ...promptOf(31 + i, 5)]),
      );
      expect(await hybrid.run(...requests)).toEqual(
        await Promise.all(requests.map(async (request) => textOf(request))),
      );
      expect(requests.map((request) => numReadBy(hybrid, request))).toEqual([46, 6, 6, 6, 6, 6, 6, 6]);
    });

    it('serve their own texts alone, of two that are as long', async () => {
      const hybrid = await engineWith();
      const prompts = [50, 51].map((seed) => promptOf(seed, 60));
      for (const [i, prompt] of prompts.entries()) await hybrid.run(hybridRequest(`${i}`, prompt));
      for (const [i, prompt] of prompts.entries()) {
        const request = hybridRequest(`${3 + i}`, [...prompt.slice(0, 57), ...promptOf(53 + i, 9)]);
        expect(await hybrid.run(request)).toEqual([await textOf(request)]);
        expect(numReadBy(hybrid, request)).toBe(16 - 3 + 9);
      }
    });

    it('are given up where the memory becomes less, and the texts stay as they are', async () => {
      const hybrid = await engineWith();
      const [first, second] = ['x', 'y'].map((name) =>
        hybridRequest(name, promptOf(42, 60), { maxNewTokens: 4 }),
      );
      if (!first || !second) throw new Error('Expected texts');
      const [text] = await hybrid.run(first);
      hybrid.engine.configure({ kvCacheMemoryBytes: 2 * (bytesPerRow + 64 * bytesPerToken) });
      expect(await hybrid.run({ ...second, sampling: first.sampling })).toEqual([text]);
      expect(hybrid.numReusedBy(second)).toBe(0);
    });
  });

  it('takes the memory that is counted: state, latest tokens, keys and values', async () => {
    const { kvCacheLimits } = await CpuBackend.create(packed);
    expect(kvCacheLimits).toMatchObject({ bytesPerRow, bytesPerToken });
  });
});

/** Tokens of its prompt that a request read itself. */
function numReadBy(hybrid: HybridEngine, request: GenerationRequest): number {
  return request.promptTokenIds.length - (hybrid.numReusedBy(request) ?? 0);
}
