import { describe, expect, it } from 'vitest';

import { DEFAULT_LOAD_FORM } from './load-form.ts';
import { LoadSession } from './load-session.ts';
import { createFakeServe, NO_RECORDER } from '../../testing/fake-load.ts';

const FORM = { ...DEFAULT_LOAD_FORM, arrivals: 'burst', burstSize: '1', durationSeconds: '0.5' } as const;

function startSession(mode: 'run' | 'compare') {
  const fake = createFakeServe('static');
  const session = new LoadSession(fake.target, NO_RECORDER, { ...FORM, mode });
  const labels = () => session.store.getState().results?.trials.map(({ label }) => label);
  return { ...fake, session, labels };
}

describe('the policy of a load test', () => {
  it('is that of each run, and the users’ own again when it is stopped in the middle', async () => {
    const { session, configured, labels } = startSession('compare');
    session.store.subscribe(({ results }) => {
      if (results?.trials.length === 2) session.stop();
    });
    await session.start();
    expect(labels()).toEqual(['off', 'static']);
    expect(configured.map(({ policy }) => policy)).toEqual(['off', 'static', 'static']);
  });

  it('ends the test, with the reason, where the browser takes it away; no run counts from there on', async () => {
    const { session, lose, labels, configured } = startSession('compare');
    session.store.subscribe(({ results }) => {
      if (results?.trials.length === 1) lose(new Error('put away'));
    });
    await session.start();
    expect(session.store.getState()).toMatchObject({ isRunning: false, error: { message: 'put away' } });
    expect(labels()).toEqual(['off']);
    expect(configured.at(-1)?.policy).toBe('static');
  });

  it('is the users’ own where the runs name no knobs: then nothing is held', async () => {
    const { session, configured } = startSession('run');
    await session.start();
    expect(session.store.getState().results?.trials[0]?.policy.policy).toBe('static');
    expect(configured).toEqual([]);
  });
});
