import { describe, expect, it } from 'vitest';

import type { ModelLoad, TabserveStatus } from '../../../client/index.ts';
import { createStatus, MODEL, WEBGPU } from '../../testing/test-support.ts';
import { describeChip, textOf } from './chip-text.ts';

const LOAD: ModelLoad = {
  id: 'owner/gpt2',
  isPaused: false,
  phase: 'download',
  loaded: 2,
  total: 5,
  fraction: 0.4,
};

const READY = createStatus({ model: MODEL, backend: WEBGPU, numTabs: 3 });

const wide = (change: Partial<TabserveStatus>): string => textOf(describeChip({ ...READY, ...change }));

const narrow = (change: Partial<TabserveStatus>): string =>
  textOf(describeChip({ ...READY, ...change }).filter(({ isExtra }) => !isExtra));

describe('the chip', () => {
  it('names the model, its size, where it runs, and the tabs', () => {
    expect(wide({})).toBe('storyteller 1.1M · WebGPU fp16 · 3 tabs');
    expect(wide({ numTabs: 1 })).toContain('· 1 tab');
  });

  it('says by which kernels the CPU computes, and on how many threads', () => {
    const backend = { ...WEBGPU, name: 'wasm', adapter: 'CPU, int8, relaxed SIMD, 2 threads' } as const;
    expect(wide({ backend })).toBe('storyteller 1.1M · CPU, int8, relaxed SIMD, 2 threads · 3 tabs');
  });

  it('is the name alone on a phone, without its owner', () => {
    expect(narrow({ model: { ...MODEL, id: 'owner/gpt2' } })).toBe('gpt2');
  });

  it('says that the GPU computes wrong values, where that is why another rung runs', () => {
    const recovery = { kind: 'wrong-values', message: '', attempt: 1 } as const;
    expect(wide({ recovery })).toContain(': the GPU computes wrong values · ');
    expect(wide({ recovery: { ...recovery, kind: 'device-lost' } })).not.toContain('wrong values');
  });

  it('leaves out what a server doesn’t report', () => {
    const backend = { ...WEBGPU, name: 'server', precision: 'unknown' } as const;
    expect(wide({ backend, model: { ...MODEL, id: 'llama', numParameters: 0 } })).toBe(
      'llama · Server · 3 tabs',
    );
  });

  it.each([
    ['loading', 'download', 'Loading the model 40 %', 'Loading 40 %'],
    ['warming-up', 'compile', 'Compiling shaders 2/5', 'Compiling 2/5'],
  ] as const)('says while %s how far the %s is', (state, phase, expected, onPhone) => {
    const progress = { phase, loaded: 2, total: 5, fraction: 0.4 };
    expect(wide({ state, progress })).toBe(expected);
    expect(narrow({ state, progress })).toBe(onPhone);
  });

  it('counts nothing while the size is unknown', () => {
    const progress = { phase: 'download', loaded: 2, total: 0, fraction: 0.4 } as const;
    expect(wide({ state: 'loading', progress })).toBe('Loading the model');
  });

  it('follows the load of another model while the old one serves', () => {
    expect(narrow({ load: LOAD })).toBe('Loading gpt2 40 %');
    expect(narrow({ load: { ...LOAD, phase: 'resolve', loaded: 0, total: 0 } })).toBe('Loading gpt2');
  });

  it('says that a load failed, and what still serves', () => {
    const loadFailure = { id: 'owner/bad', error: { code: 'MODEL_NOT_FOUND', message: 'none' } };
    expect(wide({ loadFailure })).toBe('storyteller · couldn’t load bad');
  });

  it('says that it recovers, hands over, failed, or is closed', () => {
    const recovery = { kind: 'device-lost', message: '', attempt: 1 } as const;
    expect(wide({ state: 'loading', recovery })).toBe('Recovering… loading the model');
    expect(narrow({ state: 'loading', isHandover: true })).toBe('Handing over…');
    const progress = { phase: 'prepare', loaded: 2, total: 5, fraction: 0.4 } as const;
    expect(wide({ state: 'loading', isHandover: true, progress })).toBe(
      'Handing over… preparing the model 40 %',
    );
    expect(wide({ state: 'failed' })).toBe('Failed to start');
    expect(wide({ state: 'closed' })).toBe('Closed: reload the page');
  });
});
