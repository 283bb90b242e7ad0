import { describe, expect, it } from 'vitest';

import type { EncoderRow } from '../encoder-inputs.ts';
import { sumOf } from '../encoder-inputs.ts';
import { EncoderRunner } from './encoder-runner.ts';
import { RunCost } from '../run-cost.ts';

function rowOf(length: number): EncoderRow {
  return { tokenIds: Array.from({ length }, () => 1), numFirst: length };
}

/** A device whose runs take a fixed time and a time for each token, in ms. Its first run takes a second longer. */
function createBackend(name: 'webgpu' | 'wasm', fixedMs: number, tokenMs: number) {
  const cost = new RunCost();
  const ran: number[] = [];
  return {
    name,
    cost,
    ran,
    maxTokens: name === 'webgpu' ? 512 : 256,
    fits: (rows: readonly EncoderRow[]) => rows.length < 40,
    run(rows: readonly EncoderRow[], isMeasured = true) {
      const numTokens = sumOf(rows);
      const ms = fixedMs + tokenMs * numTokens + (ran.length === 0 ? 1000 : 0);
      ran.push(numTokens);
      if (isMeasured) cost.record(numTokens, ms);
      return Promise.resolve(rows.map(() => Float32Array.of(1)));
    },
    release: () => Promise.resolve(),
  };
}

async function measured(gpu: ReturnType<typeof createBackend>) {
  const cpu = createBackend('wasm', 1, 0.5);
  const runner = new EncoderRunner([gpu, cpu]);
  await runner.measure();
  return { runner, cpu };
}

describe('an encoder on a GPU and a CPU', () => {
  it('runs a short text on the CPU and a large batch on the GPU, from the measured crossover on', async () => {
    const { runner } = await measured(createBackend('webgpu', 20, 0.01));
    expect(runner.crossover).toBe(64);
    expect((await runner.run([rowOf(8)])).backend).toBe('wasm');
    expect((await runner.run(Array.from({ length: 32 }, () => rowOf(128)))).backend).toBe('webgpu');
  });

  it('runs all on the CPU beside a GPU that is slower at any size', async () => {
    const { runner } = await measured(createBackend('webgpu', 50, 2));
    expect(runner.crossover).toBeUndefined();
    expect((await runner.run(Array.from({ length: 32 }, () => rowOf(128)))).backend).toBe('wasm');
  });

  it('follows a CPU that becomes slower', async () => {
    const { runner, cpu } = await measured(createBackend('webgpu', 20, 0.01));
    for (let i = 0; i < 16; i++) cpu.cost.record(8 + i, 100);
    expect((await runner.run([rowOf(8)])).backend).toBe('webgpu');
  });

  it('takes rows that both devices hold, and says how many tokens end in time', async () => {
    const { runner } = await measured(createBackend('webgpu', 20, 0.01));
    expect(runner.maxTokens).toBe(256);
    expect(runner.fits(Array.from({ length: 40 }, () => rowOf(1)))).toBe(false);
    expect([runner.tokensWithin(11), runner.tokensWithin(22)]).toEqual([20, expect.closeTo(200, -1)]);
  });
});

describe('the cost of runs', () => {
  it('grows with tokens from one size on, and is never negative', () => {
    const cost = new RunCost();
    expect([cost.msOf(5), cost.tokensWithin(1)]).toEqual([0, Infinity]);
    cost.record(10, 20);
    expect([cost.msOf(5), cost.tokensWithin(8)]).toEqual([10, 4]);
    // The larger run was faster by chance.
    cost.record(30, 16);
    expect(cost.msOf(1)).toBe(18);
    expect(cost.tokensWithin(1)).toBe(Infinity);
  });
});
