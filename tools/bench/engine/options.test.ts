import { describe, expect, it } from 'vitest';

import { parseOptions } from './options.ts';

describe('parseOptions', () => {
  it('measures the embedded model, three rounds of 64 tokens', () => {
    expect(parseOptions([])).toMatchObject({ model: 'storyteller', rounds: 3, maxNewTokens: 64 });
  });

  it('measures the real model once, in each precision, with shorter texts', () => {
    expect(parseOptions(['--model', 'smollm2'])).toMatchObject({
      model: 'smollm2',
      dtypes: ['fp32', 'q8'],
      rows: [1, 2, 4, 8, 16],
      rounds: 1,
      maxNewTokens: 32,
    });
  });

  it('takes the precisions and the amount that are named', () => {
    const options = parseOptions(['--model', 'smollm2', '--dtypes', 'q8', '--rows', '8', '--rounds', '2']);
    expect(options).toMatchObject({ dtypes: ['q8'], rows: [8], rounds: 2 });
  });

  it.each([
    [['--model', 'gpt2'], 'Expected `--model` to be storyteller or smollm2, got `gpt2` (string)'],
    [['--dtypes', 'q2'], 'Expected `--dtypes` to list some of fp32, q8, got `q2`'],
    [['--model', 'smollm2', '--backend', 'webgpu'], 'Expected `--model smollm2` on wasm, got webgpu'],
  ])('refuses %j', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message);
  });
});
