import { describe, expect, it } from 'vitest';

import { describeHandover } from '../panels/header/describe-handover.ts';
import { createRequest, createStatus, idOf } from '../testing/test-support.ts';
import { updateHandover } from './handover.ts';
import type { RequestsEvent } from './request-view.ts';

const MODEL = { id: 'm', backend: 'wasm', precision: 'fp32' } as const;
const [THIS, LEADER] = [
  { number: 2, isThis: true, isLeader: false },
  { number: 1, isThis: false, isLeader: true },
];
const READY = createStatus({ tabs: [LEADER, THIS], numTabs: 2 });
const TAKING_OVER = createStatus({ ...READY, state: 'loading', isHandover: true });
const TABLES = {
  requests: new Map(
    [
      createRequest('running', { status: 'running' }),
      createRequest('waiting', { status: 'waiting' }),
      createRequest('over'),
      createRequest('theirs', { status: 'running', sender: 1 }),
      createRequest('of a third', { status: 'running', sender: 3 }),
    ].map((request) => [request.id, request] as const),
  ),
};

const BEFORE = { status: READY, handover: undefined, ...TABLES };
const LOST = { type: 'status', status: TAKING_OVER, receivedAtMs: 1000 } as const;

describe('a handover', () => {
  const begun = updateHandover(BEFORE, [LOST]);

  it('counts the texts of this tab that go on, and how long ago it was', () => {
    expect(begun && describeHandover(begun, [LEADER, THIS], 13_200)).toBe(
      'Tab 1, which ran the model, was closed or stopped 12 s ago. 2 texts went on here; no token was lost.',
    );
  });

  it('counts the texts that ended with the closed tab, once it is known to be gone', () => {
    expect(begun && describeHandover(begun, [THIS], 13_200)).toMatch(
      /no token was lost\. 1 text ended with it\.$/,
    );
  });

  it('names no tab where the worker of this one was replaced', () => {
    const own = updateHandover({ ...BEFORE, status: createStatus() }, [LOST]);
    expect(own && describeHandover(own, [THIS], 1000)).toMatch(
      /^The tab that ran the model was closed or stopped 0 s/,
    );
  });

  it('counts those of its moment, though the page reads what came before and after at once', () => {
    const error = { code: 'REQUEST_CANCELLED', message: 'why' };
    const ended = (name: string): RequestsEvent => ({
      type: 'requests',
      updates: [{ type: 'failed', requestId: idOf(name), error }],
      receivedAtMs: 900,
    });
    expect(updateHandover(BEFORE, [ended('waiting'), LOST, ended('running')])?.requestIds).toEqual(
      new Set(['running']),
    );
  });

  it('says so where a text began again', () => {
    const updates = [{ type: 'restarted', requestId: idOf('running'), model: MODEL }] as const;
    const handover = updateHandover({ ...BEFORE, status: TAKING_OVER, handover: begun }, [
      { type: 'requests', updates, receivedAtMs: 3000 },
    ]);
    expect(handover && describeHandover(handover, [LEADER, THIS], 3000)).toMatch(
      /2 texts went on here; 1 began again\.$/,
    );
  });

  it('is remembered until the next one', () => {
    const ready = { type: 'status', status: READY, receivedAtMs: 2000 } as const;
    expect(updateHandover({ ...BEFORE, status: TAKING_OVER, handover: begun }, [ready])).toBe(begun);
    expect(updateHandover(BEFORE, [ready])).toBeUndefined();
  });
});
