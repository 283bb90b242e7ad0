import { describe, expect, it } from 'vitest';

import { curvesIn, curvesOf } from './curve.ts';
import { gpuReportOf, gpuSectionOf } from './report.ts';
import type { CellResult, GpuRun } from './results.ts';

const cell = (contender: CellResult['contender'], rows: number, rate: number, length = 128): CellResult => ({
  kind: 'decode',
  length,
  rows,
  contender,
  tokensPerSecond: { median: rate, min: rate, max: rate },
  ms: { count: 1, p50: 12, p95: 15 },
});

const RUN: GpuRun = {
  startedAt: '2026-01-02T03:04:05.000Z',
  command: 'npm run bench -- gpu',
  machine: { cpu: 'CPU', numCores: 8, memoryGiB: 16 },
  browser: 'Chromium 1',
  adapter: { name: 'a GPU', isSoftware: false, hasShaderF16: true },
  libraries: [{ name: 'Tabserve', version: '0.1.0', runtime: 'onnxruntime-web 1' }],
  model: 'A & B <1>',
  precision: 'fp16',
  numRounds: 3,
  entrants: [
    { library: 'tabserve', runsOn: 'a GPU, fp16' },
    { library: 'pipeline', runsOn: 'a GPU, fp16' },
    {
      library: 'wllama',
      runsOn: 'WebGPU',
      agreement: { numTokens: 48, numSame: 3, tolerance: 0.1, isRight: false },
      excluded: 'its tokens are wrong',
    },
  ],
  cells: [
    cell('tabserve', 4, 400),
    cell('tabserve', 1, 100),
    cell('tabserve', 1, 50, 1024),
    cell('pipeline-one', 1, 80),
    cell('pipeline-list', 4, 160),
    { kind: 'decode', length: 128, rows: 8, contender: 'tabserve', failure: 'no memory' },
  ],
};

describe('curvesIn', () => {
  it('takes the shortest context in order of rows, and leaves out what failed', () => {
    const [own] = curvesIn(RUN.cells);
    expect(own?.points).toEqual([
      { rows: 1, tokensPerSecond: 100 },
      { rows: 4, tokensPerSecond: 400 },
    ]);
  });

  it('draws one by one as a level line, at which lists begin', () => {
    const curves = new Map(curvesIn(RUN.cells).map(({ contender, points }) => [contender, points]));
    expect(curves.get('pipeline-one')?.map(({ tokensPerSecond }) => tokensPerSecond)).toEqual([80, 80]);
    expect(curves.get('pipeline-list')?.map(({ rows }) => rows)).toEqual([1, 4]);
    expect(curves.has('wllama')).toBe(false);
  });
});

describe('curvesOf', () => {
  const svg = curvesOf([RUN, { ...RUN, cells: [], obstacle: 'no fp16' }]);

  it('has a panel for each run with figures, and their names as text', () => {
    expect(svg.match(/class="title"/g)).toHaveLength(1);
    expect(svg).toContain('A &amp; B &lt;1>, fp16, context 128');
    expect(svg).toContain('prefers-color-scheme: dark');
  });

  it('puts four times the rate four times as high', () => {
    const heights = [...svg.matchAll(/<circle class="tabserve" cx="[\d.]+" cy="([\d.]+)"/g)].map(([, y]) =>
      Number(y),
    );
    const [one = NaN, four = NaN] = heights;
    const floor = 186;
    expect((floor - four) / (floor - one)).toBeCloseTo(4, 1);
  });

  it('never prints NaN, Infinity or undefined', () => {
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(curvesOf([])).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe('gpuReportOf', () => {
  it('says which library is wrong and leaves it out of the tables', () => {
    const report = gpuReportOf(RUN);
    expect(report).toContain('not timed: its tokens are wrong');
    expect(report).toContain('3 of 48: WRONG');
    expect(report).not.toContain('wllama, slots');
    expect(report).toContain('failed: no memory');
    expect(report).toContain('400; 12 / 15 ms');
  });

  it('says what the adapter lacks', () => {
    const obstacle = 'the adapter has no `shader-f16`';
    expect(gpuReportOf({ ...RUN, obstacle })).toBe(`**A & B <1>, fp16**: ${obstacle}.`);
  });
});

describe('gpuSectionOf', () => {
  it('says that nothing was measured until a run on hardware is recorded', () => {
    const software = { ...RUN, adapter: { ...RUN.adapter, isSoftware: true } };
    expect(gpuSectionOf([])).toBe('Not measured on a GPU.');
    expect(gpuSectionOf([software])).toBe('Not measured on a GPU.');
    expect(gpuSectionOf([software, RUN])).toContain('gpu-curve.svg');
  });
});
