import { describe, expect, it } from 'vitest';
import { readGenerationDefaults } from './generation-config.ts';

describe('readGenerationDefaults', () => {
  it("reads a model's own defaults", () => {
    const config = {
      do_sample: true,
      temperature: 0.7,
      top_k: 50,
      top_p: 0.9,
      min_p: 0.05,
      repetition_penalty: 1.2,
      max_new_tokens: 20,
      num_return_sequences: 3,
      stop_strings: ['END', '', 7],
    };
    expect(readGenerationDefaults(config, 512)).toEqual({
      maxNewTokens: 20,
      temperature: 0.7,
      topK: 50,
      topP: 0.9,
      minP: 0.05,
      repetitionPenalty: 1.2,
      presencePenalty: 0,
      frequencyPenalty: 0,
      n: 3,
      stop: ['END'],
    });
  });

  it.each([
    [0, 1],
    [2.5, 2],
    [1000, 16],
  ])('counts %d return sequences as %d, which a request may have', (given, n) => {
    expect(readGenerationDefaults({ num_return_sequences: given }, 512).n).toBe(n);
  });

  it.each([
    ['topK', { top_k: -1 }, 0],
    ['topP', { top_p: 0 }, 1],
    ['repetitionPenalty', { repetition_penalty: 1e9 }, 1],
    ['maxNewTokens', { max_new_tokens: -5 }, 64],
    ['temperature', { do_sample: true, temperature: -1 }, 1],
  ] as const)('has its own %s for %o, which no request may have', (name, config, own) => {
    expect(readGenerationDefaults(config, 512)[name]).toBe(own);
  });

  it('takes one stop string for a list of one', () => {
    expect(readGenerationDefaults({ stop_strings: 'END' }, 512).stop).toEqual(['END']);
  });

  it('is greedy where the model does not ask for sampling', () => {
    expect(readGenerationDefaults({ temperature: 0.7 }, 512).temperature).toBe(0);
  });

  it.each([[null], [{}], [{ top_k: 'all', do_sample: 1 }]])('has defaults of its own for %o', (config) => {
    expect(readGenerationDefaults(config, 512)).toEqual({
      maxNewTokens: 64,
      temperature: 0,
      topK: 0,
      topP: 1,
      minP: 0,
      repetitionPenalty: 1,
      presencePenalty: 0,
      frequencyPenalty: 0,
      n: 1,
      stop: [],
    });
  });

  it('asks for no more tokens than the context holds', () => {
    expect(readGenerationDefaults({}, 32).maxNewTokens).toBe(32);
  });
});
