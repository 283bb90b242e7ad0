import { describe, expect, it } from 'vitest';

import type { LoadProgress } from '../../worker/protocol/models.ts';
import type { ServeStatus } from '../../worker/protocol/status.ts';
import { createStatus } from '../test-support.ts';
import { describeDetail, describeState, describeTabs } from './describe-state.ts';

function statusOf(state: ServeStatus['state'], progress?: LoadProgress): ServeStatus {
  return createStatus({ state, ...(progress && { progress }) });
}

describe('state in words', () => {
  it('names the phase of a load and counts bytes of a download', () => {
    const status = statusOf('loading', { phase: 'download', loaded: 2_100_000, total: 4_300_000 });
    expect(describeState(status)).toBe('Downloading the model');
    expect(describeDetail(status)).toBe('2.1 of 4.3 MB');
  });

  it('counts steps where a phase has no bytes', () => {
    const status = statusOf('warming-up', { phase: 'compile', loaded: 1, total: 4 });
    expect(describeState(status)).toBe('Compiling shaders');
    expect(describeDetail(status)).toBe('1 of 4 steps');
  });

  it('speaks of shaders only where there are some', () => {
    const status = statusOf('warming-up', { phase: 'compile', loaded: 1, total: 4 });
    const backend = {
      name: 'wasm',
      rung: 'wasm',
      precision: 'fp32',
      adapter: '',
      isSoftwareAdapter: false,
    } as const;
    expect(describeState({ ...status, backend: { ...backend, fallbackReason: '' } })).toBe('Warming up');
  });

  it('says what it can while sizes are unknown', () => {
    expect(describeDetail(statusOf('loading'))).toBe('starting the worker');
    expect(describeDetail(statusOf('loading', { phase: 'download', loaded: 5e5, total: 0 }))).toBe('0.5 MB');
  });

  it('forgets the progress once the load is over', () => {
    const progress = { phase: 'compile', loaded: 4, total: 4 } as const;
    expect(describeState(statusOf('ready', progress))).toBe('Ready');
    expect(describeState(statusOf('failed', progress))).toBe('Failed');
  });

  it('says that there is a hand-over, and how far it is', () => {
    const handover = { ...statusOf('loading'), isHandover: true };
    expect(describeState(handover)).toBe('Handing over: Loading the model');
    const progress = { phase: 'download', loaded: 1, total: 2 } as const;
    expect(describeState({ ...handover, progress })).toBe('Handing over: Downloading the model');
  });
});

describe('a recovery in words', () => {
  const recovery = { kind: 'device-lost', message: 'unplugged', attempt: 1 } as const;
  const recovering = { ...statusOf('loading'), isHandover: true, recovery };

  it('says what has happened, and what becomes of the requests', () => {
    expect(describeState(recovering)).toBe('Recovering: Loading the model');
    expect(describeDetail(recovering)).toBe('the GPU device was lost: all requests go on in a new worker');
  });

  it('counts what has failed in a row', () => {
    const again = { ...recovering, recovery: { ...recovery, attempt: 2 } };
    expect(describeDetail(again)).toBe(
      'the GPU device was lost, 2 times in a row: all requests go on in a new worker',
    );
  });

  it('says so still when all is well again', () => {
    const ready = { ...statusOf('ready'), recovery };
    expect(describeState(ready)).toBe('Ready');
    expect(describeDetail(ready)).toBe('recovered: the GPU device was lost, and no request was lost');
  });

  it('claims no more than is so where a request was to blame', () => {
    const blamed = { ...recovering, recovery: { ...recovery, isCondemning: true } };
    expect(describeDetail(blamed)).toBe(
      'the GPU device was lost: all requests but the one that has caused it go on in a new worker',
    );
    expect(describeDetail({ ...blamed, state: 'ready' })).toBe(
      'recovered: the GPU device was lost, and the request that has caused it fails',
    );
  });
});

describe('the tabs in words', () => {
  const ready = statusOf('ready');

  it.each([
    ['leader', 'this one runs the model', 'prompts are answered in this tab'],
    ['follower', 'another one runs the model', 'prompts are answered by another tab'],
  ] as const)('say who runs the model where this tab is %s', (role, tabs, detail) => {
    expect(describeTabs({ ...ready, role })).toBe(tabs);
    expect(describeDetail({ ...ready, role })).toBe(detail);
  });

  it('say that an upstream answers, where one does', () => {
    const backend = {
      name: 'upstream',
      precision: 'unknown',
      adapter: 'http://gpu:8000',
      isSoftwareAdapter: false,
      fallbackReason: '',
    } as const;
    expect(describeTabs({ ...ready, backend })).toBe('this one asks the upstream');
    expect(describeTabs({ ...ready, backend, role: 'follower' })).toBe('another one asks the upstream');
    expect(describeDetail({ ...ready, backend })).toBe('prompts are answered by the upstream');
  });

  it('do not claim that one runs the model after a failure', () => {
    const status = { ...ready, state: 'failed' } as const;
    expect(describeTabs(status)).toBe('no model runs');
    expect(describeTabs({ ...status, isolationReason: 'alone' })).toBe('no model runs');
    expect(describeTabs({ ...status, state: 'closed' })).toBe('this one is disconnected');
  });

  it('say why this tab is alone, where it is', () => {
    const isolationReason = 'This browser has no Web Locks here: this tab runs a worker of its own.';
    expect(describeTabs({ ...ready, isolationReason })).toBe(isolationReason);
  });
});
