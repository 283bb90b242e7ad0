import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planModel } from '../checkpoint/model-plan.ts';
import { WASM } from '../checkpoint/test-support.ts';
import { TINY_CONFIG } from '../../testing/tiny-checkpoint.ts';
import { readModel } from './families.ts';
import { HUB_CONFIGS } from '../../testing/hub-configs.ts';
import { errorWith } from '../../testing/error-with.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

describe('readModel', () => {
  it.each([
    ['config.json', { eos_token_id: [1, 2] }, undefined, [1, 2]],
    ['config.json, with a generation_config.json of other things', { eos_token_id: 3 }, { top_k: 5 }, [3]],
    ['generation_config.json where both name some', { eos_token_id: 3 }, { eos_token_id: [4, 5] }, [4, 5]],
  ])('takes the end tokens of %s', (_, change, generationConfig, eosTokenIds) => {
    const { config } = readModel({ ...TINY_CONFIG, ...change }, generationConfig);
    expect(config.eosTokenIds).toEqual(eosTokenIds);
  });
});

describe('rejects', () => {
  it('a model type that no family reads', () => {
    expect(() => readModel({ ...TINY_CONFIG, model_type: 'mamba' }, undefined)).toThrow(
      errorWith(
        'UNSUPPORTED_MODEL',
        'Models of type "mamba" (model_type in config.json) don\'t run here: their layers keep a state',
      ),
    );
  });

  it.each([
    ['gemma4_text', 'embeddings of its own for each layer'],
    ['qwen3_moe', 'mixtures of experts'],
    ['qwen2_5_vl', 'they read pictures'],
    ['siglip', 'write no text'],
    ['whisper', 'sound'],
    ['t5', 'an encoder and a decoder'],
  ])('%s with what it lacks', (model_type, lack) => {
    expect(() => readModel({ ...TINY_CONFIG, model_type }, undefined)).toThrow(
      errorWith('UNSUPPORTED_MODEL', lack),
    );
  });

  it('a config that is not an object', () => {
    expect(() => readModel(null, undefined)).toThrow(errorWith('MODEL_FILE_CORRUPT', 'not a JSON object'));
  });
});

describe('sizes that no device holds', () => {
  const CONFIGS: readonly Readonly<Record<string, unknown>>[] = [TINY_CONFIG, ...Object.values(HUB_CONFIGS)];

  it.each(['n_layer', 'n_embd', 'n_head', 'n_positions', 'vocab_size', 'n_inner'])(
    'are refused by the name of their field before anything is built: %s',
    (name) => {
      expect(() => readModel({ ...TINY_CONFIG, [name]: 1e9 }, undefined)).toThrow(
        errorWith('MODEL_FILE_CORRUPT', `\`${name}\` is 1000000000, expected an integer from 1 to`),
      );
    },
  );

  it('end in an error with a code or in a plan of few tensors, in whatever field they are', () => {
    const hostile = fc.constantFrom<unknown>(
      1e9,
      1e15,
      2 ** 53,
      2 ** 24,
      1024,
      -1,
      0,
      1.5,
      'x',
      null,
      [],
      {},
    );
    fc.assert(
      fc.property(fc.constantFrom(...CONFIGS), fc.nat(), hostile, (config, field, value) => {
        const names = Object.keys(config);
        const name = names[field % names.length] ?? '';
        const outcome = outcomeOf({ ...config, [name]: value });
        expect(outcome.numTensors < 20_000 || outcome.code !== undefined).toBe(true);
      }),
      { numRuns: runsOf({ whole: 2000, part: 400 }) },
    );
  });
});

function outcomeOf(config: Readonly<Record<string, unknown>>) {
  try {
    const model = readModel(config, undefined);
    planModel({ model }, 'auto', WASM);
    return { numTensors: model.program.weights.length };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { numTensors: Infinity, code: error.code };
    throw error;
  }
}

it('names a model_type that no text can be made of', () => {
  const odd = { model_type: { toString: 1, valueOf: 1 } };
  expect(() => readModel(odd, {})).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_MODEL' }));
});
