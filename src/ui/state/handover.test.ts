import { describe, expect, it } from 'vitest';

import { describeHandover } from '../header/describe-handover.ts';
import { createRequest, createStatus, idOf, OTHER_TAB } from '../test-support.ts';
import { updateHandover } from './handover.ts';

const MODEL = { id: 'm', backend: 'wasm', precision: 'fp32' } as const;
const READY = createStatus();
const TAKING_OVER = createStatus({ state: 'loading', isHandover: true });
const TABLES = {
  requests: new Map(
    [
      createRequest('running', { status: 'running' }),
      createRequest('waiting', { status: 'waiting' }),
      createRequest('over'),
      createRequest('theirs', { status: 'running', clientId: OTHER_TAB }),
    ].map((request) => [request.id, request] as const),
  ),
};

describe('a handover', () => {
  const begun = updateHandover(undefined, { before: READY, after: TAKING_OVER }, TABLES, [], 1000);

  it('counts the texts of this tab that go on, and how long ago it was', () => {
    expect(begun && describeHandover(begun, 13_200)).toBe(
      'The tab that ran the model was closed 12 s ago. 2 texts went on here; no token was lost.',
    );
  });

  it('says so where a text began again', () => {
    const updates = [{ type: 'restarted', requestId: idOf('running'), model: MODEL }] as const;
    const statuses = { before: TAKING_OVER, after: READY };
    const events = [{ type: 'requests', updates, receivedAtMs: 3000 }] as const;
    const handover = updateHandover(begun, statuses, TABLES, events, 3000);
    expect(handover && describeHandover(handover, 3000)).toMatch(/2 texts went on here; 1 began again\.$/);
  });

  it('is remembered until the next one', () => {
    const statuses = { before: TAKING_OVER, after: READY };
    expect(updateHandover(begun, statuses, TABLES, [], 2000)).toBe(begun);
    expect(updateHandover(undefined, { before: READY, after: READY }, TABLES, [], 2000)).toBeUndefined();
  });
});
