import { describe, expect, it } from 'vitest';
import { TINY_CONFIG } from './gpt2/tiny-checkpoint.ts';
import { readModel } from './families.ts';

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
      expect.objectContaining({
        code: 'UNSUPPORTED_MODEL',
        message: expect.stringContaining('model_type "mamba", which is not one of gpt2'),
      }),
    );
  });

  it('a config that is not an object', () => {
    expect(() => readModel(null, undefined)).toThrow(
      expect.objectContaining({
        code: 'MODEL_FILE_CORRUPT',
        message: expect.stringContaining('not a JSON object'),
      }),
    );
  });
});
