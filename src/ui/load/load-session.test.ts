import { describe, expect, it } from 'vitest';

import { DEFAULT_LOAD_FORM } from './load-form.ts';
import { LoadSession } from './load-session.ts';
import { createFakeServe } from './test-support.ts';

const FORM = { ...DEFAULT_LOAD_FORM, arrivals: 'burst', burstSize: '2', durationSeconds: '0.5' } as const;

describe('the results of a load test', () => {
  it('are whole once all of it has run', async () => {
    const session = new LoadSession(createFakeServe('continuous').serve, { ...FORM, mode: 'suggest' });
    await session.start();
    const { results } = session.store.getState();
    expect(results?.trials).toHaveLength(8);
    expect(results?.isWhole).toBe(true);
  });

  it('are not whole where it was stopped, though no request was', async () => {
    const session = new LoadSession(createFakeServe('continuous').serve, { ...FORM, mode: 'suggest' });
    session.store.subscribe(({ results }) => {
      if (results?.trials.length === 5) session.stop();
    });
    await session.start();
    const { results } = session.store.getState();
    expect(results?.trials.map(({ summary }) => summary.numCancelled)).toEqual([0, 0, 0, 0, 0]);
    expect(results?.isWhole).toBe(false);
  });
});
