import { describe, expect, it } from 'vitest';

import type { BenchCase } from './bench-case.ts';
import { parseOptions, usageOf } from './options.ts';

const bench: BenchCase = {
  summary: 'a case',
  rounds: 3,
  choices: { backend: ['wasm', 'webgpu'], precision: ['fp32', 'q8'] },
  run: () => Promise.resolve(),
};

describe('parseOptions', () => {
  it("takes the case's defaults", () => {
    expect(parseOptions(bench, [])).toMatchObject({
      rounds: 3,
      backend: 'wasm',
      precision: 'fp32',
      isShort: false,
    });
  });

  it('measures once in a short run, unless told otherwise', () => {
    expect(parseOptions(bench, ['--short']).rounds).toBe(1);
    expect(parseOptions(bench, ['--short', '--rounds', '2']).rounds).toBe(2);
  });

  it('names the known values if one is unknown', () => {
    expect(() => parseOptions(bench, ['--backend', 'cuda'])).toThrow('wasm or webgpu, got `--backend cuda`');
    expect(() => parseOptions(bench, ['--rounds', '0'])).toThrow('integer >= 1');
  });

  it('refuses options that the case does not read', () => {
    expect(() => parseOptions(bench, ['--model', 'smollm2'])).toThrow('no such option');
    expect(() => parseOptions(bench, ['--beside', 'HEAD~1'])).toThrow('measures no page');
  });
});

describe('usageOf', () => {
  it('tells the options of the case', () => {
    expect(usageOf(bench)).toContain('--backend NAME    wasm, webgpu (default wasm)');
    expect(usageOf(bench)).not.toContain('--beside');
  });
});
