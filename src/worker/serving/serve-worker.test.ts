import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import { defineDeployment } from '../../protocol/deployment.ts';
import { createRequestId, type ClientId } from '../../protocol/ids.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import { parseClientMessages, type ClientMessage } from '../../protocol/client-messages.ts';
import type { KnobSettings } from '../../protocol/status.ts';
import type { RequestUpdate, Resumption } from '../../protocol/requests.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import { ServeWorker } from './serve-worker.ts';
import type { Outgoing } from '../../client/links/link.ts';
import type { Outbox } from './tab-messages.ts';
import { createKnobs, createServeHost, overrideId } from '../test-support.ts';

const WORK_MS = 50;

interface Sent {
  readonly to: ClientId | 'all';
  readonly message: WorkerMessage;
}

/** Records the worker's messages, cloned as a channel would. */
class RecordingOutbox implements Outbox {
  readonly sent: Sent[] = [];

  toAll(message: WorkerMessage): void {
    this.sent.push({ to: 'all', message: structuredClone(message) });
  }

  toClient(to: ClientId, message: WorkerMessage): void {
    this.sent.push({ to, message: structuredClone(message) });
  }
}

function createWorker() {
  const runs: string[] = [];
  const shout = defineDeployment({
    name: 'shout',
    checkInput: (input) => String(input),
    batchOptions: { maxBatchSize: 4 },
    async handler(texts) {
      runs.push(texts.join(' '));
      await new Promise((resolve) => setTimeout(resolve, WORK_MS));
      return texts.map((text) => {
        if (text === 'silence') return new Error('nothing to shout');
        return text === 'function' ? () => text : text.toUpperCase();
      });
    },
  });
  const outbox = new RecordingOutbox();
  const worker = new ServeWorker([shout], outbox, createServeHost());
  /** A tab that has been welcomed. */
  const tab = (name: string) => {
    const id = clientId(name);
    const send = (message: Outgoing): void =>
      worker.receive({ version: PROTOCOL_VERSION, clientId: id, ...message } satisfies ClientMessage);
    const hello = (knobs?: KnobSettings): void => send({ type: 'hello', ...(knobs && { knobs }) });
    /** Updates that went to this tab, one list per message. */
    const updates = (): (readonly RequestUpdate[])[] =>
      messagesTo(id).flatMap((message) => (message.type === 'updates' ? [message.updates] : []));
    hello();
    outbox.sent.length = 0;
    return {
      id,
      send,
      hello,
      updates,
      submit(deployment: string, input: unknown, given: { id?: string; resumption?: Resumption } = {}) {
        const { resumption } = given;
        const submitted = given.id === undefined ? createRequestId() : requestId(given.id);
        const message = { requestId: submitted, deployment, input, options: {}, elapsedMs: 0 };
        send({ type: 'submit', ...message, ...(resumption && { resumption }) });
        return submitted;
      },
      cancel: (name_: string) => send({ type: 'cancel', requestId: requestId(name_) }),
      /** `id type`, whatever the messages that they came in. */
      lives: () =>
        updates().flatMap((batch) => batch.map(({ requestId: updated, type }) => `${updated} ${type}`)),
    };
  };
  const messagesTo = (to: Sent['to']): WorkerMessage[] =>
    outbox.sent.filter((sent) => sent.to === to).map(({ message }) => message);
  const last = <Type extends WorkerMessage['type']>(type: Type) =>
    outbox.sent
      .map(({ message }) => message)
      .findLast((message): message is Extract<WorkerMessage, { type: Type }> => message.type === type);
  return { worker, outbox, runs, tab, messagesTo, last };
}

/** Lets this many batches run. */
const work = (numBatches = 1) => vi.advanceTimersByTimeAsync(numBatches * WORK_MS);

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('ServeWorker', () => {
  it('passes a request to its deployment and tells the batch to all, then the answer to its owner', async () => {
    const { outbox, tab } = createWorker();
    const owner = tab('a');
    const id = owner.submit('shout', 'hey');
    await work();
    expect(outbox.sent).toMatchObject([
      {
        to: 'all',
        message: { batch: { deployment: 'shout', batchIndex: 0, batchSize: 1, reason: 'idle' } },
      },
      { to: owner.id, message: { updates: [{ type: 'answered', requestId: id, result: 'HEY' }] } },
    ]);
  });

  it('answers each call and request that it cannot read with the reason', () => {
    const { worker, tab, messagesTo } = createWorker();
    const { id } = tab('a');
    const sent = { version: PROTOCOL_VERSION, clientId: id };
    const request = { input: 1, options: {}, elapsedMs: 0 };
    for (const message of [
      { ...sent, type: 'tokenize', callId: 1, text: 5, addSpecialTokens: true },
      { ...sent, type: 'submit', deployment: 5, requestId: 'r', ...request },
      { ...sent, type: 'submit-all', deployment: 5, requests: [{ requestId: 's', ...request }] },
    ])
      for (const received of parseClientMessages(message)) worker.receive(received);
    const error = { code: 'INVALID_OPTION', message: expect.stringContaining("can't be sent to the worker") };
    expect(messagesTo(id)).toMatchObject([
      { type: 'call-refused', callId: 1, error: { ...error, param: 'text' } },
      { updates: [{ type: 'failed', requestId: 'r', error }] },
      { updates: [{ type: 'failed', requestId: 's', error }] },
    ]);
  });

  it('answers each tab in one message per batch, with nobody else’s answers', async () => {
    const { tab } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.submit('shout', 'blocker', { id: 'blocker' });
    for (const id of ['a1', 'a2']) a.submit('shout', id, { id });
    b.submit('shout', 'b1', { id: 'b1' });
    await work(2);
    expect(a.updates().map((updates) => updates.map(({ requestId: id }) => id))).toEqual([
      ['blocker'],
      ['a1', 'a2'],
    ]);
    expect(b.lives()).toEqual(['b1 answered']);
  });

  it('fails the caller alone whose answer cannot be sent', async () => {
    const { tab } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.submit('shout', 'blocker', { id: 'blocker' });
    a.submit('shout', 'hey', { id: 'good' });
    a.submit('shout', 'function', { id: 'bad' });
    b.submit('shout', 'ho', { id: 'other' });
    await work(2);
    expect(a.lives()).toEqual(['blocker answered', 'good answered', 'bad failed']);
    expect(a.updates().at(-1)).toMatchObject([{ error: { message: expect.stringContaining('plain data') } }]);
    expect(b.lives()).toEqual(['other answered']);
  });

  it('refuses a request for a deployment that it has not, naming those it has', () => {
    const { tab } = createWorker();
    const a = tab('a');
    a.submit('whisper', 'hey');
    expect(a.updates()).toMatchObject([
      [
        {
          type: 'failed',
          error: {
            code: 'UNKNOWN_DEPLOYMENT',
            message:
              'There is no deployment `whisper`: the deployments are text-generator, embedder, reranker, shout.',
          },
        },
      ],
    ]);
  });

  it('keeps a prompt that comes before the model, until it is cancelled', () => {
    const { tab } = createWorker();
    const a = tab('a');
    const id = a.submit('text-generator', 'Once');
    expect(a.updates()).toEqual([]);
    for (const _ of [1, 2]) a.cancel(id);
    expect(a.updates()).toMatchObject([
      [{ type: 'failed', requestId: id, error: { code: 'REQUEST_CANCELLED' } }],
    ]);
  });

  it('turns knobs live, tells all tabs and answers the one that asked', () => {
    const { outbox, tab } = createWorker();
    const a = tab('a');
    a.send({ type: 'configure', callId: 1, deployment: 'shout', knobs: { maxBatchSize: 3 } });
    a.send({ type: 'configure', callId: 2, deployment: 'text-generator', knobs: { policy: 'off' } });
    const knobs = { maxBatchSize: 3, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 };
    expect(outbox.sent).toMatchObject([
      {
        to: 'all',
        message: { status: { knobs: { revision: 1, deployments: [{ name: 'shout', knobs }] } } },
      },
      { to: a.id, message: { type: 'call-answered', callId: 1, result: knobs } },
      { to: 'all', message: { status: { knobs: { revision: 2, policy: { policy: 'off' } } } } },
      { to: a.id, message: { type: 'call-answered', callId: 2, result: { policy: 'off' } } },
    ]);
  });

  it.each([
    ['a bad knob', 'shout', { maxBatchSize: 0 }, 'INVALID_OPTION'],
    ['an unknown knob', 'text-generator', { size: 3 }, 'UNKNOWN_OPTION'],
    ['an unknown deployment', 'whisper', {}, 'UNKNOWN_DEPLOYMENT'],
  ])('refuses %s, and tells nobody else', (_, deployment, knobs, code) => {
    const { outbox, tab } = createWorker();
    const a = tab('a');
    a.send({ type: 'configure', callId: 7, deployment, knobs });
    expect(outbox.sent).toMatchObject([
      { to: a.id, message: { type: 'call-refused', callId: 7, error: { code } } },
    ]);
  });

  it('counts batches, refusals and cancellations in its metrics', async () => {
    const { tab, last } = createWorker();
    const a = tab('a');
    a.submit('shout', 'hey');
    a.submit('shout', 'silence');
    a.cancel(a.submit('shout', 'too late'));
    await work(2);
    a.send({ type: 'metrics', callId: 1 });
    const text = (await vi.waitUntil(() => last('call-answered'))).result;
    expect(text).toContain('serve_batches_processed_total{deployment="shout"} 2\n');
    expect(text).toContain('serve_requests_cancelled_total{deployment="shout"} 1\n');
  });

  it('has a log of who asked for what, and what it came to', async () => {
    const { worker, tab, last } = createWorker();
    worker.openTab(clientId('a'));
    const [a, bridge] = [tab('a'), tab('bridge')];
    a.submit('shout', 'hey');
    a.submit('shout', 'silence');
    const sent = {
      requestId: createRequestId(),
      deployment: 'shout',
      input: 'ho',
      options: {},
      // It was at the worker before this one, or on its way.
      elapsedMs: 700,
    };
    bridge.send({ type: 'submit', ...sent, caller: ['loopback', 'key', ''] });
    await work(2);
    a.send({ type: 'read-log', callId: 1, cursor: '' });
    const { result } = await vi.waitUntil(() => last('call-answered'));
    const error = { message: expect.stringContaining('nothing to shout') };
    expect(result).toMatchObject({
      requests: [
        { number: 1, tab: 1, deployment: 'shout', durationMs: WORK_MS },
        { number: 2, tab: 1, durationMs: 2 * WORK_MS, error },
        { number: 3, caller: ['loopback', 'key', ''], durationMs: 700 + 2 * WORK_MS },
      ],
    });
  });

  it('survives an input without a text form, which its deployment refuses', () => {
    const { tab } = createWorker();
    const a = tab('a');
    a.submit('shout', { toString: 1, large: 7n }, { id: 'poison' });
    expect(a.lives()).toEqual(['poison failed']);
  });

  it('signs all that it sends with an id of its own', () => {
    const workers = [createWorker(), createWorker()];
    const ids = workers.map(({ worker, tab, outbox }) => {
      const a = tab('a');
      worker.announce();
      a.hello();
      return outbox.sent.map(({ message }) => message.workerId);
    });
    for (const [first, second] of ids) expect(first).toBe(second);
    expect(new Set(ids.flat()).size).toBe(2);
  });

  it('says to all that it serves, and which tabs', () => {
    const { worker, messagesTo } = createWorker();
    worker.announce();
    for (const name of ['a', 'b']) worker.openTab(clientId(name));
    expect(messagesTo('all')).toMatchObject([
      { type: 'serving' },
      { type: 'status', status: { state: 'loading', tabs: { tabs: [{ clientId: 'a', number: 1 }] } } },
      { type: 'status', status: { tabs: { tabs: [{ number: 1 }, { clientId: 'b', number: 2 }], last: 2 } } },
    ]);
  });
});

describe('the welcome', () => {
  it('tells the tab that said hello how things stand: status, what waits or runs, the last batches', async () => {
    const { worker, outbox, tab } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    for (const { id } of [b, a]) worker.openTab(id);
    a.submit('shout', 'hey', { id: 'ended' });
    await work();
    a.submit('shout', 'ho', { id: 'running' });
    a.submit('text-generator', 'Once', { id: 'waiting' });
    outbox.sent.length = 0;
    b.hello();
    expect(outbox.sent).toMatchObject([
      {
        to: b.id,
        message: {
          type: 'welcome',
          status: {
            state: 'loading',
            tabs: { last: 2 },
            knobs: { revision: 0, deployments: [{ name: 'shout' }] },
          },
          activity: [
            { requestId: 'running', clientId: 'a', tab: 2, deployment: 'shout', inputPreview: 'ho' },
            { requestId: 'waiting', clientId: 'a', inputPreview: 'Once', state: 'waiting' },
          ],
          batches: [{ deployment: 'shout', batchIndex: 0 }],
        },
      },
    ]);
  });
});

describe('a request that arrives again', () => {
  it('runs once, whether it waits, runs or has ended', async () => {
    const { runs, tab } = createWorker();
    const a = tab('a');
    const replay = (): void => {
      for (const id of ['first', 'second']) a.submit('shout', id, { id });
    };
    replay();
    replay();
    await work();
    replay();
    await work();
    replay();
    await work(2);
    expect(runs).toEqual(['first', 'second']);
    expect(a.lives()).toEqual(['first answered', 'second answered']);
  });

  it('is new again once 4096 others have ended since: what is remembered is bounded', () => {
    const { tab } = createWorker();
    const a = tab('a');
    for (let index = 0; index <= 4096; index++) a.submit('nowhere', index, { id: `r${index}` });
    a.submit('nowhere', 1, { id: 'r1' });
    expect(a.lives()).toHaveLength(4097);
    a.submit('nowhere', 0, { id: 'r0' });
    expect(a.lives().slice(4097)).toEqual(['r0 failed']);
  });

  it('stays with the tab that sent it first', async () => {
    const { runs, tab } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.submit('shout', 'mine', { id: 'r' });
    b.submit('shout', 'stolen', { id: 'r' });
    await work(2);
    expect(runs).toEqual(['mine']);
    expect(a.lives()).toEqual(['r answered']);
    expect(b.updates()).toEqual([]);
  });

  it('of which a lost worker has generated tokens counts on from them', async () => {
    const { tab, last } = createWorker();
    const resumption = { choices: [{ tokenIds: [1, 2] }, { tokenIds: [3] }] };
    tab('a').submit('text-generator', 'Once', { resumption });
    await vi.advanceTimersByTimeAsync(100);
    expect(last('activity')?.activity).toMatchObject([{ state: 'waiting', numOutputTokens: 3 }]);
  });
});

describe('cancellation', () => {
  it('is heeded from the request’s own tab alone', async () => {
    const { tab } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    for (const id of ['running', 'waiting']) a.submit('shout', id, { id });
    a.submit('text-generator', 'Once', { id: 'prompt' });
    for (const id of ['running', 'waiting', 'prompt', 'unknown']) b.cancel(id);
    await work(2);
    expect(a.lives()).toEqual(['running answered', 'waiting answered']);
    a.cancel('prompt');
    expect(a.lives().at(-1)).toBe('prompt failed');
    expect(b.updates()).toEqual([]);
  });

  it('takes all that a tab has left behind, and nobody else’s', async () => {
    const { worker, runs, tab } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    b.submit('shout', 'b running', { id: 'b running' });
    for (const owner of [a, b]) {
      owner.submit('shout', 'waiting', { id: `${owner.id} waiting` });
      owner.submit('text-generator', 'Once', { id: `${owner.id} prompt` });
    }
    worker.forget(a.id);
    await work(2);
    expect(a.lives().toSorted()).toEqual(['a prompt failed', 'a waiting failed']);
    expect(b.lives()).toEqual(['b running answered', 'b waiting answered']);
    expect(runs).toEqual(['b running', 'waiting']);
    b.cancel('b prompt');
    expect(b.lives().at(-1)).toBe('b prompt failed');
  });

  it('frees the place of a tab that is gone while its request runs', async () => {
    const { worker, tab, last } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.submit('shout', 'running', { id: 'a' });
    worker.forget(a.id);
    b.submit('shout', 'next', { id: 'b' });
    await work(2);
    b.hello();
    expect(b.lives()).toEqual(['b answered']);
    expect(last('welcome')?.activity).toEqual([]);
  });
});

describe('the knobs that a tab has last seen', () => {
  const deployments = [
    { name: 'shout', knobs: { maxBatchSize: 7, batchWaitTimeoutMs: 5, maxConcurrentBatches: 2 } },
  ];
  const policy = { ...createKnobs().policy, maxBatchSize: 5 };

  it('are taken over where they have changed more often than this worker’s', () => {
    const { tab, last, messagesTo } = createWorker();
    const knobs = createKnobs({ revision: 2, policy, deployments });
    tab('a').hello(knobs);
    expect(last('welcome')?.status.knobs).toEqual(knobs);
    expect(messagesTo('all')).toMatchObject([{ type: 'status', status: { knobs } }]);
  });

  it.each([0, 1])('are ignored where they have changed no more often: %d times of 1', (revision) => {
    const { tab, last, messagesTo } = createWorker();
    const a = tab('a');
    a.send({ type: 'configure', callId: 1, deployment: 'shout', knobs: { maxBatchSize: 2 } });
    const numToAll = messagesTo('all').length;
    a.hello(createKnobs({ revision, policy, deployments }));
    expect(last('welcome')?.status.knobs).toMatchObject({
      revision: 1,
      policy: { maxBatchSize: 8 },
      deployments: [{ name: 'shout', knobs: { maxBatchSize: 2 } }],
    });
    expect(messagesTo('all')).toHaveLength(numToAll);
  });

  it('are counted on from', () => {
    const { tab, last } = createWorker();
    const a = tab('a');
    a.hello(createKnobs({ revision: 4, deployments }));
    a.send({ type: 'configure', callId: 1, deployment: 'shout', knobs: {} });
    expect(last('status')?.status.knobs.revision).toBe(5);
  });

  it('do no harm where they cannot be: what can be is taken over', async () => {
    const { tab, last } = createWorker();
    const a = tab('a');
    const [shout] = deployments;
    const impossible = [
      { name: 'whisper', knobs: { maxBatchSize: 1, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 } },
      { name: 'shout', knobs: { maxBatchSize: 0, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 } },
    ];
    a.hello(createKnobs({ revision: 1, policy: { ...policy, maxBatchSize: 1e6 }, deployments: impossible }));
    expect(last('welcome')?.status.knobs).toMatchObject({
      policy: { maxBatchSize: 8 },
      deployments: [{ name: 'shout', knobs: { maxBatchSize: 4 } }],
    });
    if (shout) a.hello(createKnobs({ revision: 2, deployments: [...impossible, shout] }));
    expect(last('welcome')?.status.knobs.deployments).toEqual([shout]);
    a.submit('shout', 'hey', { id: 'r' });
    await work(2);
    expect(a.lives()).toEqual(['r answered']);
  });
});

describe('the override of a tab', () => {
  const [first, second] = [overrideId('first'), overrideId('second')];
  const off = { ...createKnobs().policy, policy: 'off' } as const;

  it('is told to all with the policy in force beside the users’ own, and ends at its release', () => {
    const { outbox, tab } = createWorker();
    const a = tab('a');
    a.send({
      type: 'set-override',
      callId: 1,
      overrideId: first,
      deployment: 'text-generator',
      knobs: { policy: 'off' },
    });
    a.send({ type: 'release-override', callId: 2, overrideId: first });
    const knobs = { revision: 0, policy: { policy: 'continuous' } };
    expect(outbox.sent).toMatchObject([
      {
        to: 'all',
        message: {
          status: { knobs, override: { overrideId: first, deployment: 'text-generator', knobs: off } },
        },
      },
      { to: a.id, message: { type: 'call-answered', callId: 1, result: off } },
      { to: 'all', message: { status: { knobs } } },
      { to: a.id, message: { type: 'call-answered', callId: 2 } },
    ]);
    expect(outbox.sent[2]?.message).not.toHaveProperty('status.override');
  });

  it('is refused to a second tab', () => {
    const { tab, last, outbox } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.send({
      type: 'set-override',
      callId: 1,
      overrideId: first,
      deployment: 'text-generator',
      knobs: { policy: 'off' },
    });
    outbox.sent.length = 0;
    b.send({
      type: 'set-override',
      callId: 2,
      overrideId: second,
      deployment: 'text-generator',
      knobs: { policy: 'static' },
    });
    b.send({ type: 'release-override', callId: 3, overrideId: second });
    expect(outbox.sent).toMatchObject([
      { to: b.id, message: { type: 'call-refused', callId: 2, error: { code: 'OVERRIDE_HELD' } } },
      { to: b.id, message: { type: 'call-answered', callId: 3 } },
    ]);
    b.hello();
    expect(last('welcome')?.status.override).toEqual({
      overrideId: first,
      deployment: 'text-generator',
      knobs: off,
    });
  });

  it('is hidden from the knobs that a tab remembers: what is configured meanwhile comes into force at its end', () => {
    const { tab, last, worker } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.send({
      type: 'set-override',
      callId: 1,
      overrideId: first,
      deployment: 'text-generator',
      knobs: { policy: 'off' },
    });
    b.send({ type: 'configure', callId: 2, deployment: 'text-generator', knobs: { maxBatchSize: 3 } });
    expect(last('call-answered')?.result).toMatchObject({ policy: 'continuous', maxBatchSize: 3 });
    expect(last('status')?.status).toMatchObject({
      knobs: { revision: 1, policy: { policy: 'continuous', maxBatchSize: 3 } },
      override: { knobs: off },
    });
    worker.forget(a.id);
    expect(last('status')?.status).not.toHaveProperty('override');
    expect(last('status')?.status.knobs.policy).toMatchObject({ policy: 'continuous', maxBatchSize: 3 });
  });

  it('ends with its tab, and with no other', () => {
    const { tab, last, worker } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.send({
      type: 'set-override',
      callId: 1,
      overrideId: first,
      deployment: 'text-generator',
      knobs: { policy: 'off' },
    });
    worker.forget(b.id);
    expect(last('status')?.status.override?.overrideId).toBe(first);
    worker.forget(a.id);
    expect(last('status')?.status).not.toHaveProperty('override');
  });

  it('goes on where its tab brings it from a worker that is gone, over the users’ policy that any tab brings', () => {
    const { tab, last } = createWorker();
    const [a, b] = [tab('a'), tab('b')];
    a.send({ type: 'hello', override: { overrideId: first, deployment: 'text-generator', knobs: off } });
    const policy = { ...createKnobs().policy, maxBatchSize: 3 };
    b.hello(createKnobs({ revision: 2, policy }));
    expect(last('welcome')?.status).toMatchObject({
      knobs: { revision: 2, policy },
      override: { overrideId: first, deployment: 'text-generator', knobs: off },
    });
    b.send({ type: 'hello', override: { overrideId: second, deployment: 'text-generator', knobs: policy } });
    expect(last('welcome')?.status.override?.overrideId).toBe(first);
  });
});

describe('what goes on in other tabs', () => {
  it('is told to all at most every 100 ms, and only what changed', async () => {
    const { tab, messagesTo } = createWorker();
    const activityOf = () =>
      messagesTo('all').flatMap((message) =>
        message.type === 'activity'
          ? [message.activity.map(({ requestId: id, state }) => `${id} ${state}`)]
          : [],
      );
    const a = tab('a');
    a.submit('text-generator', 'Once', { id: 'prompt' });
    a.submit('shout', 'hey', { id: 'answered' });
    await vi.advanceTimersByTimeAsync(99);
    expect(activityOf()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(activityOf()).toEqual([['prompt waiting', 'answered waiting', 'answered finished']]);
    a.cancel('prompt');
    await vi.advanceTimersByTimeAsync(1000);
    expect(activityOf().slice(1)).toEqual([['prompt cancelled']]);
  });

  it('says which requests an HTTP client sent', async () => {
    const { tab, last } = createWorker();
    const bridge = tab('bridge');
    const request = { requestId: requestId('http'), input: 'Once', options: {}, elapsedMs: 0 };
    bridge.send({
      type: 'submit',
      deployment: 'text-generator',
      caller: ['127.0.0.1', '', ''],
      ...request,
    });
    tab('a').submit('text-generator', 'Once', { id: 'own' });
    await vi.advanceTimersByTimeAsync(100);
    expect(last('activity')?.activity.map(({ requestId: id, isHttp }) => [id, isHttp])).toEqual([
      ['http', true],
      ['own', undefined],
    ]);
  });
});
