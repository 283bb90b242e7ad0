import { describe, expect, it } from 'vitest';

import { parseOptions } from './options.ts';

describe('parseOptions', () => {
  it('measures both models in all precisions at up to 32 rows', () => {
    const { shapes, precisions, matrix, rounds } = parseOptions([]);
    expect(shapes.map(({ id }) => id)).toEqual(['gpt2-124m', 'llama-135m']);
    expect(precisions).toEqual(['fp32', 'fp16', 'q4']);
    expect(matrix).toEqual({
      rows: [1, 2, 4, 8, 16, 32],
      prefillLengths: [128, 512],
      contextLengths: [128, 1024],
      numNewTokens: 32,
    });
    expect(rounds).toBe(3);
  });

  it('takes parts of the matrix, and a browser with further arguments', () => {
    const args = ['--models', 'llama-135m', '--precisions', 'q4', '--rows', '4,8,1,4', '--rounds', '2'];
    const chosen = parseOptions([...args, '--browser', '/opt/chrome', '--args=--use-angle=vulkan --a=b']);
    expect(chosen.shapes.map(({ id }) => id)).toEqual(['llama-135m']);
    expect(chosen.precisions).toEqual(['q4']);
    expect(chosen.matrix.rows).toEqual([1, 4, 8]);
    expect(chosen.rounds).toBe(2);
    expect(chosen.browser).toBe('/opt/chrome');
    expect(chosen.browserArgs).toEqual(['--use-angle=vulkan', '--a=b']);
  });

  it('runs tiny models of both families once with --short', () => {
    const { shapes, rounds, matrix, isShort } = parseOptions(['--short']);
    expect(shapes.map(({ family }) => family)).toEqual(['gpt2', 'llama']);
    expect([rounds, isShort, matrix.rows]).toEqual([1, true, [1, 2, 4]]);
  });

  it('refuses what it does not know', () => {
    expect(() => parseOptions(['--models', 'gpt3'])).toThrow('gpt2-124m, llama-135m, got `gpt3`');
    expect(() => parseOptions(['--rows', '0'])).toThrow('--rows');
    expect(() => parseOptions(['--fast'])).toThrow('--fast');
  });
});
