import { describe, expect, it } from 'vitest';

import type { LoadProgress, TabserveStatus } from '../../../client/index.ts';
import { createStatus, WEBGPU } from '../../testing/test-support.ts';
import { describeDetail, describeRecovery, describeTabs } from './describe-facts.ts';
import { describeState } from './describe-state.ts';

function statusOf(state: TabserveStatus['state'], progress?: LoadProgress): TabserveStatus {
  return createStatus({ state, ...(progress && { progress }) });
}

describe('state in words', () => {
  it('names the phase of a load and counts bytes of a download', () => {
    const status = statusOf('loading', {
      phase: 'download',
      loaded: 2_100_000,
      total: 4_300_000,
      fraction: 0.4,
    });
    expect(describeState(status)).toBe('Loading the model');
    expect(describeDetail(status)).toBe('2.1 of 4.3 MB');
  });

  it('counts steps where a phase has no bytes', () => {
    const status = statusOf('warming-up', { phase: 'compile', loaded: 1, total: 4, fraction: 0.4 });
    expect(describeState(status)).toBe('Compiling shaders');
    expect(describeDetail(status)).toBe('1 of 4 steps');
  });

  it('counts tokens while a GPU is checked', () => {
    const status = statusOf('loading', { phase: 'check', loaded: 46, total: 91, fraction: 0.4 });
    expect(describeState(status)).toBe('Checking the GPU');
    expect(describeDetail(status)).toBe('46 of 91 tokens');
  });

  it('speaks of shaders only where there are some', () => {
    const status = statusOf('warming-up', { phase: 'compile', loaded: 1, total: 4, fraction: 0.4 });
    const backend = { ...WEBGPU, name: 'wasm', rung: 'wasm' } as const;
    expect(describeState({ ...status, backend })).toBe('Warming up');
  });

  it('says what it can while sizes are unknown', () => {
    expect(describeDetail(statusOf('loading'))).toBe('Starting the worker');
    expect(
      describeDetail(statusOf('loading', { phase: 'download', loaded: 5e5, total: 0, fraction: 0.4 })),
    ).toBe('0.5 MB');
  });

  it('forgets the progress once the load is over', () => {
    const progress = { phase: 'compile', loaded: 4, total: 4, fraction: 0.4 } as const;
    expect(describeState(statusOf('ready', progress))).toBe('Ready');
    expect(describeState(statusOf('failed', progress))).toBe('Failed');
  });

  it('says that there is a hand-over, and how far it is', () => {
    const handover = { ...statusOf('loading'), isHandover: true };
    expect(describeState(handover)).toBe('Handing over: Loading the model');
    const progress = { phase: 'prepare', loaded: 1, total: 2, fraction: 0.4 } as const;
    expect(describeState({ ...handover, progress })).toBe('Handing over: Preparing the model');
  });
});

describe('a recovery in words', () => {
  const recovery = { kind: 'device-lost', message: 'unplugged', attempt: 1 } as const;
  const recovering = { ...statusOf('loading'), isHandover: true, recovery };

  it('says what happened, and what becomes of the requests', () => {
    expect(describeState(recovering)).toBe('Recovering: Loading the model');
    expect(describeRecovery(recovering)).toBe(
      'The GPU device was lost. All requests continue in a new worker.',
    );
  });

  it('counts failures in a row', () => {
    const again = { ...recovering, recovery: { ...recovery, attempt: 2 } };
    expect(describeRecovery(again)).toBe(
      'The GPU device was lost, 2 times in a row. All requests continue in a new worker.',
    );
  });

  it('stays after it is over', () => {
    const ready = { ...statusOf('ready'), recovery };
    expect(describeState(ready)).toBe('Ready');
    expect(describeRecovery(ready)).toBe('The GPU device was lost. No request was lost.');
    expect(describeRecovery(statusOf('ready'))).toBe('None');
  });

  it('doesn’t claim that a request was kept that failed', () => {
    const blamed = { ...recovering, recovery: { ...recovery, hasFatalRequest: true } };
    expect(describeRecovery(blamed)).toBe(
      'The GPU device was lost. All requests except the one that caused it continue in a new worker.',
    );
    expect(describeRecovery({ ...blamed, state: 'ready' })).toBe(
      'The GPU device was lost. Only the request that caused it failed.',
    );
  });
});

describe('the tabs in words', () => {
  const ready = statusOf('ready');

  it('say that a server answers, where one does', () => {
    const backend = { ...WEBGPU, name: 'server', precision: 'unknown' } as const;
    expect(describeTabs({ ...ready, backend })).toBe('This tab sends prompts to the server');
  });

  it('do not claim that one runs the model after a failure', () => {
    const status = { ...ready, state: 'failed' } as const;
    expect(describeTabs(status)).toBe('No model is running');
    expect(describeTabs({ ...status, isolationReason: 'alone' })).toBe('No model is running');
    expect(describeTabs({ ...status, state: 'closed' })).toBe('This tab is disconnected');
  });

  it('say why this tab is alone, where it is', () => {
    const isolationReason = 'This tab runs its own worker.';
    expect(describeTabs({ ...ready, isolationReason })).toBe(isolationReason);
  });
});
