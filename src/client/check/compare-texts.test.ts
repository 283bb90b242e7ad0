import { describe, expect, it } from 'vitest';
import { judgeTexts, judgeValues, partingOf, roundingOf } from './compare-texts.ts';

it('finds the first token in which two texts differ, or in which one has ended', () => {
  expect(partingOf([1, 2, 3], [1, 2, 3])).toBeUndefined();
  expect(partingOf([1, 2, 3], [1, 5, 3])).toBe(1);
  expect(partingOf([1, 2], [1, 2, 3])).toBe(2);
  expect(partingOf([], [1])).toBe(0);
});

describe('the margin up to which texts may part', () => {
  it('is none on the CPU, whose sums are the same in each batch', () => {
    expect(roundingOf({ rung: 'wasm' }, { rung: 'wasm-threads' })).toBe(0);
  });

  it('is that of the backend that rounds most', () => {
    const [fp16, fp32, cpu] = [{ rung: 'webgpu-fp16' }, { rung: 'webgpu-fp32' }, { rung: 'wasm' }] as const;
    expect(roundingOf(fp32, cpu)).toBe(roundingOf(fp32));
    expect(roundingOf(fp16, fp32)).toBe(roundingOf(fp16));
    expect(roundingOf(fp16)).toBeGreaterThan(roundingOf(fp32));
  });
});

describe('texts', () => {
  it('are right where none parts', () => {
    expect(judgeTexts(9, [], 0)).toEqual({ outcome: 'right', detail: '9 of 9 texts are the same.' });
  });

  it('are wrong where one parts on a CPU, however close', () => {
    const verdict = judgeTexts(9, [{ text: 2, token: 4, margin: 1e-6 }], 0);
    expect(verdict.outcome).toBe('wrong');
    expect(verdict.detail).toContain('1 of 9 texts differ: text 3 from its token 5 on');
  });

  it('are right where they part by rounding alone, and the largest margin is said', () => {
    const partings = [
      { text: 0, token: 3, margin: 0.002 },
      { text: 5, token: 1, margin: 0.009 },
    ];
    const { outcome, detail } = judgeTexts(9, partings, 0.01);
    expect(outcome).toBe('right');
    expect(detail).toContain('7 of 9 texts are the same');
    expect(detail).toContain('within 0.009');
  });

  it('are wrong where one margin is more than rounding', () => {
    const partings = [
      { text: 0, token: 3, margin: 0.002 },
      { text: 5, token: 1, margin: 0.01 },
    ];
    expect(judgeTexts(9, partings, 0.01)).toEqual({
      outcome: 'wrong',
      detail: '1 of 9 texts differ: text 6 from its token 2 on, at a margin of 0.010.',
    });
  });

  it('are wrong where the margin is not a number', () => {
    expect(judgeTexts(1, [{ text: 0, token: 0, margin: NaN }], 0.1).outcome).toBe('wrong');
  });
});

describe('known values', () => {
  const CPU = { place: 'CPU', values: 'right', why: '' } as const;

  it('are right where one backend computes them and no other fails, which says why', () => {
    const gpu = { place: 'GPU', values: 'not-run', why: 'No adapter.' } as const;
    expect(judgeValues([CPU, gpu])).toEqual({
      outcome: 'right',
      detail: 'CPU: as computed in float64. GPU: not run. No adapter.',
    });
  });

  it('are wrong where any backend computes others', () => {
    const gpu = { place: 'GPU', values: 'wrong', why: 'row 3 of a batch' } as const;
    expect(judgeValues([CPU, gpu])).toMatchObject({ outcome: 'wrong' });
    expect(judgeValues([CPU, gpu]).detail).toContain('GPU: wrong values (row 3 of a batch)');
  });

  it('are not run where nothing is known', () => {
    expect(judgeValues([{ place: 'CPU', values: 'unknown', why: '' }]).outcome).toBe('not-run');
    expect(judgeValues([]).outcome).toBe('not-run');
  });
});
