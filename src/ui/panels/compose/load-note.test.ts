import { describe, expect, it, vi } from 'vitest';

import { lastStartMs, noteStartTime } from './start-times.ts';
import { applyEvents, createServeStore } from '../../state/serve-store.ts';
import { createStatus, WEBGPU } from '../../testing/test-support.ts';
import { describeStart } from './load-note.tsx';

const COMPILING = createStatus({
  state: 'warming-up',
  backend: WEBGPU,
  progress: { phase: 'compile', loaded: 12, total: 40, fraction: 0.4 },
});

function stubStorage(): void {
  const items = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
  });
}

describe('while the model loads, the page', () => {
  it('says what takes long, and that prompts wait', () => {
    expect(describeStart({ status: COMPILING })).toBe(
      'The GPU compiles shaders: 12 of 40. Prompts wait until then.',
    );
  });

  it('says how long the last start on this backend took', () => {
    stubStorage();
    vi.spyOn(performance, 'now').mockReturnValueOnce(17_400);
    const store = createServeStore(COMPILING);
    noteStartTime(store);
    applyEvents(store, [{ type: 'status', status: createStatus({ backend: WEBGPU }), receivedAtMs: 0 }], 0);
    expect(lastStartMs({ backend: WEBGPU })).toBe(17_400);
    expect(describeStart({ status: COMPILING })).toContain('Last time it took 18 s.');
    const onWasm = createStatus({ ...COMPILING, backend: { ...WEBGPU, name: 'wasm', rung: 'wasm' } });
    expect(describeStart({ status: onWasm })).not.toContain('Last time');
  });

  it('says nothing of it once the model is ready, and why nothing can be sent without one', () => {
    expect(describeStart({ status: createStatus() })).toBeUndefined();
    expect(describeStart({ status: createStatus({ state: 'failed' }) })).toBe(
      'No model is running, so nothing can be sent.',
    );
  });
});
