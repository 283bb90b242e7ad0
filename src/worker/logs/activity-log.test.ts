import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../batching/testing/fake-clock.ts';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import type { RequestActivity, RequestUpdate } from '../../protocol/requests.ts';
import { createServedModel } from '../test-support.ts';
import { ActivityLog } from './activity-log.ts';

const [A, B] = [requestId('a'), requestId('b')];

interface Given {
  readonly input?: unknown;
  readonly deployment?: string;
  readonly numResumedTokens?: number;
}

function createLog() {
  const clock = new FakeClock();
  const sent: RequestActivity[][] = [];
  const log = new ActivityLog(clock, (activity) => sent.push([...activity]));
  const submit = (id = A, given: Given = {}): void =>
    log.recordSubmitted(
      { requestId: id, clientId: clientId('tab'), deployment: 'text-generator', input: 'Once', ...given },
      given.numResumedTokens,
    );
  return { clock, sent, log, submit };
}

const started = (id = A): RequestUpdate => ({
  type: 'started',
  requestId: id,
  queueWaitMs: 1,
  model: createServedModel(),
});

const chunk = (tokenIds: number[], id = A): RequestUpdate => ({
  type: 'chunk',
  requestId: id,
  index: 0,
  text: 'x',
  tokenIds,
});

const failed = (code: string, id = A): RequestUpdate => ({
  type: 'failed',
  requestId: id,
  error: { code, message: 'why' },
});

const answered = (id = A): RequestUpdate => ({ type: 'answered', requestId: id, result: 4 });

const statesOf = (activity: readonly RequestActivity[]): string[] =>
  activity.map(({ requestId: id, state, numOutputTokens }) => `${id} ${state} ${numOutputTokens}`);

describe('ActivityLog', () => {
  it.each([
    [
      'what the user said last',
      [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
        { role: 'assistant', content: 'Fo' },
      ],
      'Three',
    ],
    ['the whole where the user said nothing', [{ role: 'system' }], '[{"role":"system"}]'],
    ['the whole where a message is none', [{ role: 'user' }, 5], '[{"role":"user"},5]'],
  ])('tells of a chat %s', (_, input, inputPreview) => {
    const { clock, sent, submit } = createLog();
    submit(A, { input });
    clock.advance(100);
    expect(sent).toMatchObject([[{ inputPreview }]]);
  });

  it('tells whose request it is, for what, and how its input begins', () => {
    const { clock, sent, submit } = createLog();
    submit();
    clock.advance(100);
    expect(sent).toEqual([
      [
        {
          requestId: A,
          clientId: 'tab',
          deployment: 'text-generator',
          inputPreview: 'Once',
          state: 'waiting',
          numOutputTokens: 0,
        },
      ],
    ]);
  });

  it('collects changes and sends each request’s last state, once per 100 ms', () => {
    const { clock, sent, log, submit } = createLog();
    submit(A);
    clock.advance(60);
    submit(B);
    log.recordUpdate(started());
    log.recordUpdate(chunk([1, 2]));
    clock.advance(39);
    expect(sent).toEqual([]);
    clock.advance(1);
    expect(sent.map(statesOf)).toEqual([['a running 2', 'b waiting 0']]);
  });

  it('sends only what changed since the last time', () => {
    const { clock, sent, log, submit } = createLog();
    submit(A);
    submit(B);
    clock.advance(100);
    log.recordUpdate(started(B));
    clock.advance(100);
    expect(sent.slice(1).map(statesOf)).toEqual([['b running 0']]);
  });

  it('is silent, with no timer, while nothing happens', () => {
    const { clock, sent, submit } = createLog();
    expect(clock.pendingTimers).toBe(0);
    submit();
    clock.advance(1000);
    expect(sent).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('has live what waits or runs, and tells an end once', () => {
    const { clock, sent, log, submit } = createLog();
    submit(A);
    submit(B);
    log.recordUpdate(started());
    log.recordUpdate(answered(B));
    log.recordUpdate(failed('LATE', B));
    expect(statesOf(log.readLive())).toEqual(['a running 0']);
    clock.advance(100);
    expect(sent.map(statesOf)).toEqual([['a running 0', 'b waiting 0', 'b finished 0']]);
  });

  it('tells of a request that has come and gone since the last time as both, and later of its end alone', () => {
    const { clock, sent, log, submit } = createLog();
    submit(A);
    submit(B);
    log.recordUpdate(started());
    log.recordUpdate(chunk([1, 2]));
    log.recordUpdate(answered());
    clock.advance(100);
    log.recordUpdate(answered(B));
    clock.advance(100);
    expect(sent.map(statesOf)).toEqual([['a waiting 0', 'a finished 2', 'b waiting 0'], ['b finished 0']]);
  });

  it('tells why a text has ended, and counts the end token, as its sender does', () => {
    const { clock, sent, log, submit } = createLog();
    submit();
    const choice = { text: '', generatedText: '', tokenIds: [5], finishReason: 'stop', seed: 0 } as const;
    const usage = { numPromptTokens: 1, numCachedTokens: 0, numOutputTokens: 2 };
    const timings = { queueWaitMs: 0, ttftMs: 0, e2eMs: 0, tpotMs: 0 };
    const result = { ...choice, choices: [choice], usage, timings };
    log.recordUpdate({ type: 'finished', requestId: A, result });
    clock.advance(100);
    const ended = { state: 'finished', finishReason: 'stop', numOutputTokens: 2 };
    expect(sent).toMatchObject([[{ state: 'waiting' }, ended]]);
  });

  it.each([
    ['REQUEST_CANCELLED', 'cancelled'],
    ['MODEL_RUN_FAILED', 'failed'],
  ])('tells an end with %s as %s', (code, state) => {
    const { clock, sent, log, submit } = createLog();
    submit();
    log.recordUpdate({ type: 'accepted', requestId: A });
    log.recordUpdate(failed(code));
    clock.advance(100);
    expect(sent.map(statesOf)).toEqual([['a waiting 0', `a ${state} 0`]]);
    expect(log.readLive()).toEqual([]);
  });

  it('tells nobody of a request that is refused at once, but its caller', () => {
    const { clock, sent, log, submit } = createLog();
    submit(A);
    expect(log.recordUpdate(failed('NO_CHAT_TEMPLATE'))).toMatchObject({ requestId: A, state: 'failed' });
    clock.advance(60);
    submit(B);
    clock.advance(40);
    expect(sent.map(statesOf)).toEqual([['b waiting 0']]);
    submit(A);
    log.recordUpdate(failed('NO_CHAT_TEMPLATE'));
    clock.advance(100);
    expect(sent).toHaveLength(1);
    expect([clock.pendingTimers, statesOf(log.readLive())]).toEqual([0, ['b waiting 0']]);
  });

  it.each<readonly [string, (created: ReturnType<typeof createLog>) => unknown, Given]>([
    ['every tab has heard of', ({ clock }) => clock.advance(100), {}],
    ['a tab that came meanwhile knows', ({ log }) => log.readLive(), {}],
    ['may have run, at a deployment that accepts all', () => {}, { deployment: 'adder' }],
    ['the worker before had', () => {}, { numResumedTokens: 0 }],
  ])('tells the end of a refused request that %s', (_, meet, given) => {
    const created = createLog();
    created.submit(A, given);
    meet(created);
    created.log.recordUpdate(failed('LATE'));
    created.clock.advance(100);
    expect(created.sent.flatMap(statesOf)).toEqual(['a waiting 0', 'a failed 0']);
  });

  it('counts on from the tokens that a lost worker had generated', () => {
    const { log, submit } = createLog();
    submit(A, { numResumedTokens: 5 });
    log.recordUpdate(chunk([7]));
    expect(statesOf(log.readLive())).toEqual(['a running 6']);
  });

  it('says nothing of a request that it does not know', () => {
    const { clock, sent, log } = createLog();
    log.recordUpdate(started());
    clock.advance(100);
    expect(sent).toEqual([]);
  });
});

describe('the preview of an input', () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;

  it.each([
    ['text as it is', 'Once "upon"', 'Once "upon"'],
    ['a number', 3, '3'],
    ['a list', [1, 2], '[1,2]'],
    ['nothing', undefined, 'undefined'],
    ['a bigint, which has no JSON form', 7n, '7'],
    ['a cycle, which has none either', cyclic, '[object Object]'],
    ['what refuses to be text', { toString: 1, valueOf: 1, large: 7n }, '[object Object]'],
    ['at most 200 characters', 'x'.repeat(201), `${'x'.repeat(200)}…`],
    ['200 characters whole', 'x'.repeat(200), 'x'.repeat(200)],
  ])('shows %s', (_, input, preview) => {
    const { log, submit } = createLog();
    submit(A, { input });
    expect(log.readLive()[0]?.inputPreview).toBe(preview);
  });
});
