import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import {
  BackPressureError,
  ClosedError,
  InvalidOptionError,
  ModelRunError,
  RequestCancelledError,
} from '../base/errors.ts';
import { modelRunFailed } from './generation-errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { Engine } from './engine.ts';
import type { RequestEvent } from './events.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from './policy.ts';
import { allowToken, emptyMask } from '../sampling/token-mask.ts';
import { GREEDY, type TokenConstraint } from './request.ts';
import { RuntimeLostError } from './runtime-lost-error.ts';
import {
  createKvCacheLimits,
  createPolicy,
  createEngine,
  createRequest,
  EOS,
  nextToken,
  nextTokenWithoutEnd,
  RecordingListener,
  requestId,
  ScriptedRunner,
  settle,
  tokensAlone,
  type RequestOverrides,
} from './test-support.ts';

function endAtFive(history: readonly number[]): number {
  return history.length < 5 ? 7 : EOS;
}

/** The tokens that `nextTokenWithoutEnd` appends to a prompt. */
function nextTokens(
  { promptTokenIds }: { readonly promptTokenIds: readonly number[] },
  count: number,
): number[] {
  const history = [...promptTokenIds];
  while (history.length < promptTokenIds.length + count) history.push(nextTokenWithoutEnd(history));
  return history.slice(promptTokenIds.length);
}

/** A device that is lost in the n-th run. */
function loseAt(runIndex: number): () => void {
  let numRuns = 0;
  return () => {
    numRuns += 1;
    if (numRuns === runIndex) throw new RuntimeLostError(new Error('device lost'), [requestId('a')]);
  };
}

describe('the loop', () => {
  it('schedules, runs, updates and emits until nothing is left', async () => {
    const { submit, listener, engine } = createEngine();
    submit('a', { maxNewTokens: 3 });
    submit('b', { maxNewTokens: 2 });
    await settle();
    expect(listener.log).toEqual([
      'prefill of 1',
      'a started',
      'a token',
      'prefill of 1',
      'b started',
      'b token',
      'decode of 2',
      'a token',
      'b token',
      'b finished length',
      'decode of 1',
      'a token',
      'a finished length',
    ]);
    expect([engine.numRunning, engine.numWaiting]).toEqual([0, 0]);
  });

  it('starts in a microtask, so that nine requests of one turn form a batch of eight', async () => {
    const { submit, steps, engine } = createEngine({ policy: { policy: 'static', maxBatchSize: 8 } });
    for (const name of 'abcdefghi') submit(name, { maxNewTokens: 2 });
    expect(steps()).toEqual([]);
    expect(engine.numWaiting).toBe(9);
    await settle();
    expect(steps().filter((step) => step.startsWith('decode'))).toEqual([
      'decode a b c d e f g h',
      'decode i',
    ]);
  });

  it('lets a request that arrives during a step join the next one', async () => {
    const { submit, steps, runner } = createEngine();
    const release = runner.hold();
    submit('a');
    await settle();
    submit('b');
    release();
    await settle();
    expect(steps().slice(0, 3)).toEqual(['prefill a 0+3 @0 last', 'prefill b 0+3 @1 last', 'decode a b']);
  });

  it('never overlaps two runs', async () => {
    const { submit, runner, engine } = createEngine();
    submit('a');
    await settle(3);
    submit('b');
    engine.configure({ maxBatchSize: 4 });
    engine.abortAll([requestId('a')]);
    await settle();
    expect(runner.violations).toEqual([]);
  });

  it('runs again after it was idle', async () => {
    const { submit, listener } = createEngine();
    submit('a', { maxNewTokens: 1 });
    await settle();
    submit('a', { maxNewTokens: 1 });
    await settle();
    expect(listener.of('finished')).toHaveLength(2);
  });

  it('uses the default policy unless told otherwise', () => {
    const [runner, clock, listener] = [new ScriptedRunner(), new FakeClock(), new RecordingListener()];
    const engine = new Engine({ runner, clock, listener, contextLength: 8, eosTokenIds: [] });
    expect(engine.policy).toEqual(DEFAULT_POLICY);
  });
});

describe('the result', () => {
  it('is what the sequence yields alone, without the end token', async () => {
    const { engine, listener } = createEngine({ runner: { nextToken } });
    const requests = 'abcdefghijkl'.split('').map((name) => createRequest(name, { maxNewTokens: 30 }));
    for (const request of requests) engine.submitAll([request]);
    await settle(2000);
    const finished = new Map(listener.of('finished').map((event) => [event.requestId, event]));
    for (const request of requests) {
      expect(finished.get(request.id)?.tokenIds).toEqual(await tokensAlone(request, 64));
    }
    expect(new Set(listener.of('finished').map((event) => event.finishReason))).toEqual(
      new Set(['stop', 'length']),
    );
  });

  it('fails a request alone whose constraint throws: its mates and those after it go on', async () => {
    const { engine, submit, listener } = createEngine();
    submit('a', {
      maxNewTokens: 9,
      constraint: {
        accept: () => {
          throw new Error('no such stop');
        },
      },
    });
    submit('b', { maxNewTokens: 3 });
    await settle();
    expect(listener.of('failed')).toMatchObject([
      {
        requestId: 'a',
        error: { code: 'STOP_CONDITION_FAILED', message: expect.stringContaining('no such stop') },
      },
    ]);
    submit('c', { maxNewTokens: 2 });
    await settle();
    expect(listener.of('finished').map((event) => event.requestId)).toEqual(['b', 'c']);
    expect(engine.numRunning).toBe(0);
  });

  it('lets a request abort itself in its constraint: it ends once', async () => {
    const { engine, submit, listener } = createEngine();
    submit('a', { maxNewTokens: 9, constraint: { accept: () => engine.abortAll([requestId('a')]) } });
    submit('b', { maxNewTokens: 3 });
    await settle();
    expect(listener.log.filter((line) => line.startsWith('a'))).toEqual(['a failed AbortError']);
    expect([listener.of('finished').length, engine.numRunning]).toEqual([1, 0]);
  });

  it('ends after the token that its request stops after, and its slot is free at once', async () => {
    const { submit, listener, engine, steps } = createEngine();
    const numsRunning: number[] = [];
    let numTokens = 0;
    const accept = () => {
      numTokens += 1;
      return numTokens === 2;
    };
    submit('a', { maxNewTokens: 9, constraint: { accept } });
    submit('b', { maxNewTokens: 3 });
    vi.spyOn(listener, 'onStep').mockImplementation((event) => {
      RecordingListener.prototype.onStep.call(listener, event);
      numsRunning.push(engine.numRunning);
    });
    await settle();
    expect(listener.log.filter((line) => line.startsWith('a'))).toEqual([
      'a started',
      'a token',
      'a token',
      'a finished stop',
    ]);
    expect(numsRunning).toEqual([1, 2, 1, 0]);
    expect(steps().at(-1)).toBe('decode b, 1→0');
    const { tokenIds, numOutputTokens } = listener.of('finished')[0] ?? {};
    expect([tokenIds?.length, numOutputTokens]).toEqual([2, 2]);
  });

  it('ends with stop, not length, where its last token stops it', async () => {
    const { submit, listener } = createEngine();
    submit('a', { maxNewTokens: 1, constraint: { accept: () => true } });
    await settle();
    expect(listener.log.filter((line) => line.startsWith('a'))).toEqual([
      'a started',
      'a token',
      'a finished stop',
    ]);
  });

  it('is not asked whether it stops after the end token, nor after tokens that it was resumed with', async () => {
    const { submit, listener } = createEngine({ runner: { nextToken: endAtFive } });
    const seen: number[] = [];
    const constraint = { accept: (tokenId: number): boolean => seen.push(tokenId) > 1 };
    submit('a', { promptLength: 3, resumedTokenIds: [9], maxNewTokens: 5, constraint });
    await settle();
    expect(seen).toEqual([7]);
    expect(listener.of('finished')).toMatchObject([
      { finishReason: 'stop', tokenIds: [9, 7], numOutputTokens: 3 },
    ]);
  });

  it('counts the end token but neither shows nor streams it', async () => {
    const { submit, listener } = createEngine({ runner: { nextToken: endAtFive } });
    submit('a', { promptLength: 3 });
    await settle();
    const counts = { numPromptTokens: 3, numOutputTokens: 3 };
    expect(listener.of('finished')).toEqual([
      expect.objectContaining({ finishReason: 'stop', tokenIds: [7, 7], ...counts }),
    ]);
    expect(listener.of('token').map((event) => event.tokenId)).toEqual([7, 7]);
  });

  it('streams every token that it holds, in order', async () => {
    const { submit, listener } = createEngine();
    submit('a', { maxNewTokens: 5 });
    await settle();
    expect(listener.of('token').map((event) => event.tokenId)).toEqual(listener.of('finished')[0]?.tokenIds);
  });

  it('comes with the logprobs of the rows that asked for them', async () => {
    const { submit, listener } = createEngine({
      runner: {
        logprobs: (tokenIds) =>
          tokenIds.map((tokenId, row) => (row === 0 ? { tokenId, logprob: -1, top: [] } : undefined)),
      },
    });
    submit('a', { maxNewTokens: 3 });
    submit('b', { maxNewTokens: 3 });
    await settle();
    const [ofA, ofB] = ['a', 'b'].map((name) =>
      listener.of('token').filter((event) => event.requestId === name),
    );
    expect(ofA?.map((event) => event.logprobs?.tokenId)).toEqual(ofA?.map((event) => event.tokenId));
    // The first token of B comes from its own prefill, where it is row 0.
    expect(ofB?.map((event) => 'logprobs' in event)).toEqual([true, false, false]);
  });
});

describe('a pipelined device', () => {
  const pipelined = { isPipelined: true };

  it('is given the next decode step while the tokens of the last are on their way, but for the last of all', async () => {
    const { submit, steps, runner, listener } = createEngine({ runner: pipelined });
    submit('a', { maxNewTokens: 5 });
    submit('b', { maxNewTokens: 5 });
    await settle();
    expect(steps().slice(2)).toEqual([
      'decode a b',
      'decode a b, behind',
      'decode a b, behind',
      'decode a b, behind',
    ]);
    expect(listener.steps.map(({ isBehind }) => isBehind)).toEqual([false, false, false, true, true, true]);
    expect(runner.violations).toEqual([]);
  });

  it('has two steps in flight, never three', async () => {
    const { submit, runner, steps, listener } = createEngine({ runner: pipelined });
    submit('a', { maxNewTokens: 9 });
    await settle();
    const first = steps().length;
    submit('b', { maxNewTokens: 9 });
    const release = runner.hold();
    await settle();
    const [inFlight, ended] = [steps().length - first, listener.steps.length - first];
    release();
    await settle();
    expect(inFlight - ended).toBe(1);
    expect(runner.violations).toEqual([]);
  });

  /** The most steps that are in flight at once. */
  async function mostInFlight(runMs: number, ...requests: readonly RequestOverrides[]) {
    let most = 0;
    const { submit, runner, listener } = createEngine({
      runner: {
        ...pipelined,
        runMs,
        readbackMs: 0,
        onStart: () => (most = Math.max(most, runner.steps.length - listener.steps.length)),
      },
    });
    for (const [i, request] of requests.entries()) submit(`r${i}`, { maxNewTokens: 40, ...request });
    await settle(500);
    expect(listener.of('finished').map(({ tokenIds }) => tokenIds.length)).toEqual(requests.map(() => 40));
    expect(runner.violations).toEqual([]);
    return most;
  }

  it('has so many steps in flight that all are over within 16 ms, and two to eight', async () => {
    expect(await mostInFlight(20, {})).toBe(2);
    expect(await mostInFlight(5, {})).toBe(4);
    expect(await mostInFlight(1, {})).toBe(8);
  });

  it('has two in flight where a token decides what may follow it, not where it may end the text', async () => {
    const constraint = { accept: () => false };
    expect(await mostInFlight(1, { constraint: { ...constraint, mask: () => undefined } }, {})).toBe(2);
    expect(await mostInFlight(1, { constraint })).toBe(8);
  });

  it('is given no step behind one that changes the rows: a row is to end, or another waits to join', async () => {
    const { submit, steps, runner } = createEngine({ runner: pipelined });
    submit('a', { maxNewTokens: 3 });
    submit('b', { maxNewTokens: 5 });
    await settle();
    expect(steps().slice(2)).toEqual([
      'decode a b',
      'decode a b, behind',
      'decode b, 1→0',
      'decode b, behind',
    ]);
    expect(runner.violations).toEqual([]);
  });

  it('samples in vain for a row that has ended unforeseen, and for the others as ever', async () => {
    const { submit, listener, engine } = createEngine({ runner: { ...pipelined, nextToken } });
    const requests = Array.from('abcdefgh', (name) => createRequest(name, { maxNewTokens: 20 }));
    for (const { id } of requests) submit(id, { maxNewTokens: 20 });
    await settle(2000);
    const tokenIds = new Map(listener.of('finished').map((event) => [event.requestId, event.tokenIds]));
    for (const request of requests) expect(tokenIds.get(request.id)).toEqual(await tokensAlone(request, 64));
    expect(listener.of('finished').some(({ finishReason }) => finishReason === 'stop')).toBe(true);
    expect(engine.numRunning).toBe(0);
  });

  it('samples in vain for a row whose request stops after its token', async () => {
    const { submit, steps, runner, listener, engine } = createEngine({ runner: pipelined });
    let numTokens = 0;
    submit('a', { maxNewTokens: 9, constraint: { accept: () => (numTokens += 1) === 3 } });
    submit('b', { maxNewTokens: 6 });
    await settle();
    expect(steps().slice(2)).toEqual([
      'decode a b',
      'decode a b, behind',
      'decode a b, behind',
      'decode b, 1→0',
      'decode b, behind',
    ]);
    expect(listener.log.filter((line) => line.startsWith('a')).slice(-2)).toEqual([
      'a token',
      'a finished stop',
    ]);
    expect([numTokens, engine.numRunning, runner.violations]).toEqual([3, 0, []]);
  });

  it('gives a request that was cancelled and submitted again none of the tokens in flight', async () => {
    const { submit, runner, engine, listener } = createEngine({ runner: pipelined });
    submit('a', { maxNewTokens: 8 });
    await settle(10);
    const release = runner.hold();
    await settle();
    engine.abortAll([requestId('a')]);
    submit('a', { maxNewTokens: 3 });
    release();
    await settle();
    const alone = [...nextTokens(createRequest('a'), 3)];
    expect(listener.of('finished').map((event) => event.tokenIds)).toEqual([alone]);
    expect(runner.violations).toEqual([]);
  });

  it('whose step fails fails the one behind it too, and goes on with the next request', async () => {
    let numRuns = 0;
    const { submit, listener } = createEngine({
      runner: {
        ...pipelined,
        onRun: () => {
          numRuns += 1;
          if (numRuns === 3) throw new Error('device lost');
        },
      },
    });
    submit('a', { maxNewTokens: 9 });
    await settle();
    submit('b', { maxNewTokens: 2 });
    await settle();
    expect(listener.log.filter((line) => /failed|finished/.test(line))).toEqual([
      'a failed ModelRunError',
      'b finished length',
    ]);
  });
});

describe('timings', () => {
  it('are taken from submit to the end of the step that brought the token', async () => {
    const { submit, clock, listener, runner } = createEngine({ runner: { runMs: 10, readbackMs: 2 } });
    const release = runner.hold();
    submit('a', { maxNewTokens: 3 });
    await settle();
    clock.advance(5);
    submit('b', { maxNewTokens: 1 });
    release();
    await settle();
    // a: prefill 5 + 12; b: 12 + 12 after it; a again 36 - 17 = 24 after its first, then 12.
    expect(listener.of('started').map((event) => event.queueWaitMs)).toEqual([0, 12]);
    expect(listener.of('token').map(({ ttftMs, itlMs }) => [ttftMs, itlMs])).toEqual([
      [17, undefined],
      [24, undefined],
      [undefined, 24],
      [undefined, 12],
    ]);
    expect(listener.of('finished').map((event) => event.timings)).toEqual([
      { queueWaitMs: 12, ttftMs: 24, e2eMs: 24, tpotMs: 0 },
      { queueWaitMs: 0, ttftMs: 17, e2eMs: 53, tpotMs: 18 },
    ]);
  });

  it('of a step run from the end of the last one, or from scheduling after an idle period', async () => {
    const { submit, clock, listener } = createEngine({ runner: { runMs: 10, readbackMs: 2 } });
    const onStep = vi.spyOn(listener, 'onStep').mockImplementation(function slow(
      this: RecordingListener,
      event,
    ) {
      this.steps.push(event);
      clock.advance(3);
    });
    submit('a', { maxNewTokens: 2 });
    await settle();
    clock.advance(1000);
    submit('b', { maxNewTokens: 1 });
    await settle();
    expect(onStep).toHaveBeenCalledTimes(3);
    expect(listener.steps.map(({ stepMs, runMs, readbackMs }) => [stepMs, runMs, readbackMs])).toEqual([
      [12, 10, 2],
      [15, 10, 2],
      [12, 10, 2],
    ]);
  });

  it('come with what the step was', async () => {
    const { submit, listener } = createEngine({ policy: { maxBatchSize: 2, maxBatchedTokens: 4 } });
    submit('a', { promptLength: 6, maxNewTokens: 2 });
    submit('b', { promptLength: 2, maxNewTokens: 2 });
    submit('c', { promptLength: 2, maxNewTokens: 1 });
    await settle();
    const facts = listener.steps.map(({ stepIndex, kind, batchSize, numTokens, queueLength, endedAtMs }) => {
      return [stepIndex, kind, batchSize, numTokens, queueLength, endedAtMs];
    });
    expect(facts).toEqual([
      [0, 'prefill', 1, 4, 2, 12],
      [1, 'prefill', 1, 2, 2, 24],
      [2, 'prefill', 1, 2, 1, 36],
      [3, 'decode', 2, 2, 1, 48],
      [4, 'prefill', 1, 2, 0, 60],
    ]);
    // a started with the first of its two chunks.
    expect(listener.of('finished').map(({ timings }) => timings.queueWaitMs)).toEqual([0, 24, 48]);
  });
});

describe('the queue length of a step', () => {
  it('is that of the moment when the step was scheduled', async () => {
    const { submit, listener, runner } = createEngine();
    const release = runner.hold();
    submit('a', { maxNewTokens: 1 });
    submit('b', { maxNewTokens: 1 });
    await settle();
    submit('c', { maxNewTokens: 1 });
    release();
    await settle();
    expect(listener.steps.map((step) => step.queueLength)).toEqual([1, 1, 0]);
  });
});

describe('the batch wait', () => {
  it('sets one timer for the oldest request, which later ones do not push back', async () => {
    const { submit, clock, steps } = createEngine({ policy: { policy: 'static', batchWaitTimeoutMs: 100 } });
    submit('a');
    await settle();
    clock.advance(60);
    submit('b');
    await settle();
    expect(clock.pendingTimers).toBe(1);
    clock.advance(39);
    await settle();
    expect(steps()).toEqual([]);
    clock.advance(1);
    await settle();
    expect(steps().slice(0, 3)).toEqual(['prefill a 0+3 @0 last', 'prefill b 0+3 @1 last', 'decode a b']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps no timer when the batch fills up or the last waiting request is aborted', async () => {
    const { submit, clock, engine } = createEngine({ policy: { maxBatchSize: 2, batchWaitTimeoutMs: 100 } });
    submit('a');
    await settle();
    submit('b');
    await settle();
    expect(clock.pendingTimers).toBe(0);
    submit('c');
    await settle();
    expect(clock.pendingTimers).toBe(1);
    engine.abortAll([requestId('c')]);
    expect(clock.pendingTimers).toBe(0);
    await settle();
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends at once when it is configured away', async () => {
    const { submit, steps, engine } = createEngine({ policy: { batchWaitTimeoutMs: 1000 } });
    submit('a');
    await settle();
    expect(steps()).toEqual([]);
    engine.configure({ batchWaitTimeoutMs: 0 });
    await settle();
    expect(steps()[0]).toBe('prefill a 0+3 @0 last');
  });

  it('takes in what was sent together before a late timer ends it', async () => {
    const { submit, steps, clock } = createEngine({ policy: { maxBatchSize: 2, batchWaitTimeoutMs: 10 } });
    submit('a');
    await settle();
    const atArrival: number[] = [];
    // Comes as a broadcast message does, in two tasks.
    const arrive = (): void => {
      atArrival.push(clock.pendingTimers);
      submit('b');
    };
    clock.setTimer(1, () => clock.setTimer(0, arrive));
    clock.block(50);
    clock.advance(0);
    await settle();
    expect(atArrival, 'the alarm still waits').toEqual([1]);
    expect(steps().slice(0, 3)).toEqual(['prefill a 0+3 @0 last', 'prefill b 0+3 @1 last', 'decode a b']);
  });

  it("does not end while its caller's own loop runs, however slow", async () => {
    const { submit, steps, clock } = createEngine({
      policy: { policy: 'static', maxBatchSize: 4, batchWaitTimeoutMs: 10 },
    });
    for (const name of ['a', 'b', 'c', 'd']) {
      submit(name);
      await settle();
      clock.block(6);
    }
    expect(steps()).toContain('decode a b c d');
  });
});

describe('the reason of a step', () => {
  it.each([
    ['full where the policy has no place left', { maxBatchSize: 2 }, 'full'],
    ['full where one runs at a time', { policy: 'off' as const }, 'full'],
    ['deferred where others wait for memory', { kvCacheMemoryBytes: 32 }, 'deferred'],
    ['timeout where the wait of an idle engine ran out', { batchWaitTimeoutMs: 50 }, 'timeout'],
    ['idle where nothing else waits', {}, 'idle'],
  ])('is %s', async (_, policy, reason) => {
    const { submit, listener, clock } = createEngine({ policy });
    submit('a');
    submit('b');
    await settle();
    clock.advance(50);
    await settle();
    expect(listener.steps.map((step) => step.reason)).toContain(reason);
  });
});

describe('submitAll', () => {
  it('lets requests of one client wait side by side, to start in one batch', async () => {
    const { engine, steps, listener } = createEngine({ policy: { policy: 'static' } });
    engine.submitAll([createRequest('a', { maxNewTokens: 2 }), createRequest('b', { maxNewTokens: 2 })]);
    expect(engine.numWaiting).toBe(2);
    await settle();
    expect(steps().at(-1)).toBe('decode a b');
    expect(listener.of('finished')).toHaveLength(2);
  });

  it.each([
    ['there is no room for all', 'abc', 'BACK_PRESSURE'],
    ['there never is room for all', 'abcd', 'INVALID_OPTION'],
    ['one is bad', 'a!', 'INVALID_OPTION'],
    ['one has the id of another that is not finished', 'ax', 'INVALID_OPTION'],
    ['two of them have the same id', 'aba', 'INVALID_OPTION'],
  ])('accepts none where %s', (_, names, code) => {
    const { engine, submit } = createEngine({ policy: { maxQueuedRequests: names === 'aba' ? 9 : 3 } });
    submit('x');
    const requests = Array.from(names, (name) =>
      createRequest(name, { maxNewTokens: name === '!' ? -1 : 1 }),
    );
    expect(() => engine.submitAll(requests)).toThrow(expect.objectContaining({ code }));
    expect(engine.numWaiting).toBe(1);
  });

  it('of nothing does nothing', async () => {
    const { engine, listener } = createEngine();
    engine.submitAll([]);
    await settle();
    expect(listener.log).toEqual([]);
  });
});

describe('priority', () => {
  it('decides who starts next, and interrupts nobody who runs', async () => {
    const { submit, steps } = createEngine({ policy: { maxBatchSize: 1 } });
    submit('a', { maxNewTokens: 2, priority: 9 });
    await settle(3);
    submit('b', { maxNewTokens: 1, priority: 1 });
    submit('c', { maxNewTokens: 1 });
    submit('d', { maxNewTokens: 1, priority: -1, client: 'other tab' });
    await settle();
    expect(steps()).toEqual([
      'prefill a 0+3 @0 last',
      'decode a',
      'prefill d 0+3 @0 last',
      'prefill c 0+3 @0 last',
      'prefill b 0+3 @0 last',
    ]);
  });
});

describe('abort', () => {
  it('ends a waiting request outside any step', async () => {
    const { submit, engine, listener } = createEngine({ policy: { policy: 'off' } });
    submit('a', { maxNewTokens: 1 });
    submit('b', { maxNewTokens: 1 });
    expect(engine.abortAll([requestId('b')])).toBe(true);
    expect(listener.log).toEqual(['b failed AbortError']);
    expect(listener.of('failed')[0]).toMatchObject({ finishReason: 'abort' });
    await settle();
    expect(listener.log.slice(1)).toEqual(['prefill of 1', 'a started', 'a token', 'a finished length']);
  });

  it('ends a request in the step under way at once, and drops what that step yields for it', async () => {
    const { submit, engine, listener, runner } = createEngine();
    submit('a', { maxNewTokens: 3 });
    submit('b', { maxNewTokens: 3 });
    await settle(8);
    const release = runner.hold();
    await settle();
    const numBefore = listener.log.length;
    expect(engine.abortAll([requestId('a')])).toBe(true);
    release();
    await settle();
    expect(listener.log.slice(numBefore).filter((line) => line.startsWith('a'))).toEqual([
      'a failed AbortError',
    ]);
    expect(listener.log.at(-1)).toBe('b finished length');
    expect(runner.violations).toEqual([]);
  });

  it('of a request whose first chunk is under way tells of no start after the end', async () => {
    const { submit, engine, listener, runner } = createEngine();
    const release = runner.hold();
    submit('a');
    await settle();
    engine.abortAll([requestId('a')]);
    release();
    await settle();
    expect(listener.log).toEqual(['a failed AbortError', 'prefill of 1']);
  });

  it('frees the id: what comes under it afterwards is another request', async () => {
    const { submit, engine, listener, runner } = createEngine();
    const release = runner.hold();
    submit('a', { maxNewTokens: 1 });
    await settle();
    engine.abortAll([requestId('a')]);
    submit('a', { maxNewTokens: 1 });
    release();
    await settle();
    const [again] = listener.of('finished');
    expect(again?.tokenIds).toEqual([nextTokenWithoutEnd(createRequest('a').promptTokenIds)]);
    expect(listener.log.at(-1)).toBe('a finished length');
  });

  it('says false, and nothing else, when the request is not there', async () => {
    const { submit, engine, listener } = createEngine();
    submit('a', { maxNewTokens: 1 });
    await settle();
    listener.log.length = 0;
    expect(engine.abortAll([requestId('a')])).toBe(false);
    expect(engine.abortAll([requestId('never')])).toBe(false);
    expect(listener.log).toEqual([]);
  });
});

describe('abortAll', () => {
  it('ends all that are there in one go, and says whether there was one', async () => {
    const { submit, engine, listener } = createEngine();
    const onEnded = vi.spyOn(listener, 'onEnded');
    submit('a');
    submit('b');
    expect(engine.abortAll(['a', 'never', 'b'].map(requestId))).toBe(true);
    expect(engine.abortAll(['a', 'b'].map(requestId))).toBe(false);
    expect(onEnded).toHaveBeenCalledOnce();
    expect(listener.of('failed')).toMatchObject([
      { requestId: 'a', finishReason: 'abort' },
      { requestId: 'b', finishReason: 'abort' },
    ]);
    await settle();
  });
});

describe('failAll', () => {
  it('ends waiting and running requests with the error that it is given, as ones that failed', async () => {
    const { submit, engine, listener } = createEngine({ policy: { maxBatchSize: 1 } });
    submit('a', { maxNewTokens: 50 });
    submit('b', { maxNewTokens: 1 });
    await settle(8);
    const error = new Error('too late');
    expect(engine.failAll(['a', 'b', 'never'].map(requestId), error)).toBe(true);
    expect(listener.of('failed')).toEqual(
      ['a', 'b'].map((name) => ({ type: 'failed', requestId: name, finishReason: 'error', error })),
    );
    expect([engine.numRunning, engine.numWaiting]).toEqual([0, 0]);
    expect(engine.failAll([requestId('a')], error)).toBe(false);
    await settle();
    expect(listener.of('failed')).toHaveLength(2);
  });
});

describe('a failing model run', () => {
  it('fails the rows of its step with the cause, frees their slots, and the loop goes on', async () => {
    const cause = new Error('device lost');
    let numRuns = 0;
    const onRun = (): void => {
      numRuns += 1;
      if (numRuns === 3) throw cause;
    };
    const { submit, listener, engine } = createEngine({ runner: { onRun }, policy: { maxBatchSize: 2 } });
    for (const name of 'abc') submit(name, { maxNewTokens: 2 });
    await settle();
    expect(listener.log.slice(6)).toEqual([
      'decode of 2',
      'a failed ModelRunError',
      'b failed ModelRunError',
      'prefill of 1',
      'c started',
      'c token',
      'decode of 1',
      'c token',
      'c finished length',
    ]);
    expect(listener.of('failed')[0]).toMatchObject({ finishReason: 'error', error: { cause } });
    expect(engine.numRunning).toBe(0);
    expect(listener.steps[2]).toMatchObject({ stepMs: 12, runMs: 12, readbackMs: 0 });
  });

  it('in the middle of a prompt fails that prompt alone', async () => {
    let numRuns = 0;
    const onRun = (): void => {
      numRuns += 1;
      if (numRuns === 2) throw new Error('out of memory');
    };
    const { submit, listener } = createEngine({ runner: { onRun }, policy: { maxBatchedTokens: 2 } });
    submit('a', { promptLength: 6 });
    submit('b', { promptLength: 2, maxNewTokens: 1 });
    await settle();
    expect(listener.log).toEqual([
      'prefill of 1',
      'a started',
      'prefill of 1',
      'a failed ModelRunError',
      'prefill of 1',
      'b started',
      'b token',
      'b finished length',
    ]);
  });

  it('that throws before it returns a promise is no different', async () => {
    const { listener, clock } = createEngine();
    const runner = {
      isPipelined: false,
      kvCacheLimits: createKvCacheLimits(),
      maxPrefillRows: 1,
      maxScoredTokens: 1,
      maxGuessedTokens: 0,
      start(): never {
        throw new TypeError('no device');
      },
      resizeKvCache: () => {},
    };
    const engine = new Engine({ runner, clock, listener, contextLength: 64, eosTokenIds: [] });
    engine.submitAll([createRequest('a')]);
    await settle();
    expect(listener.log).toEqual(['prefill of 1', 'a started', 'a failed ModelRunError']);
  });

  it('for one row fails that row alone, as a ModelRunError', async () => {
    const cause = new RangeError('Expected the logit of token 3 to be finite, got NaN');
    const { submit, listener } = createEngine({
      runner: {
        answer: ({ kind }, tokenIds) =>
          kind === 'decode' ? tokenIds.map((tokenId, index) => (index === 1 ? cause : tokenId)) : tokenIds,
      },
    });
    for (const name of 'abc') submit(name, { maxNewTokens: 2 });
    await settle();
    expect(listener.log.slice(9)).toEqual([
      'decode of 3',
      'a token',
      'a finished length',
      'b failed ModelRunError',
      'c token',
      'c finished length',
    ]);
    expect(listener.of('failed')[0]?.error).toBeInstanceOf(ModelRunError);
    expect(listener.of('failed')[0]?.error.cause).toBe(cause);
  });

  it('that says so with a ModelRunError of its own is not wrapped again', async () => {
    const error = modelRunFailed('device lost');
    const rejecting = createEngine({
      runner: {
        onRun: () => {
          throw error;
        },
      },
    });
    const spoiling = createEngine({ runner: { answer: () => [error] } });
    for (const { submit } of [rejecting, spoiling]) submit('a');
    await settle();
    expect(rejecting.listener.of('failed')[0]?.error).toBe(error);
    expect(spoiling.listener.of('failed')[0]?.error).toBe(error);
  });

  it.each([
    ['too few', [], 'Expected 1 token ids from the runner, got 0'],
    ['too many', [1, 2], 'Expected 1 token ids from the runner, got 2'],
  ])('that yields %s tokens fails its step', async (_, tokenIds, message) => {
    const { submit, listener } = createEngine({ runner: { answer: () => tokenIds } });
    submit('a');
    await settle();
    expect(listener.of('failed')[0]?.error.message).toContain(message);
  });
});

describe('a runtime that is lost', () => {
  it.each([false, true])(
    'stops the engine, which ends no request but those that are aborted: isPipelined %s',
    async (isPipelined) => {
      const { engine, submit, listener, steps } = createEngine({
        runner: { isPipelined, onRun: loseAt(3) },
        policy: { maxBatchSize: 1 },
      });
      submit('a', { maxNewTokens: 9 });
      submit('b');
      await settle();
      const numSteps = steps().length;
      submit('c');
      await settle();
      expect(listener.log.at(-1)).toBe('runtime lost under a');
      expect([engine.numRunning, engine.numWaiting, steps().length]).toEqual([1, 2, numSteps]);
      engine.abortAll([requestId('a')]);
      expect(listener.log.at(-1)).toBe('a failed AbortError');
      await expect(engine.close()).rejects.toBeInstanceOf(RuntimeLostError);
    },
  );
});

describe('a listener that throws', () => {
  it('neither stops the loop nor loses the next event', async () => {
    const { submit, engine, listener } = createEngine();
    const onStep = vi.spyOn(listener, 'onStep').mockImplementationOnce(() => {
      throw new Error('chart is gone');
    });
    vi.spyOn(listener, 'onEnded').mockImplementation(() => {
      throw new Error('tab is gone');
    });
    submit('a', { maxNewTokens: 3 });
    submit('b');
    expect(engine.abortAll([requestId('b')])).toBe(true);
    await settle();
    expect(onStep).toHaveBeenCalledTimes(3);
    expect(listener.log.at(-1)).toBe('a finished length');
  });

  it('may submit and abort from inside an event', async () => {
    const { engine, listener, submit, runner } = createEngine();
    const record = listener.onStep.bind(listener);
    vi.spyOn(listener, 'onStep').mockImplementation((event) => {
      record(event);
      if (event.stepIndex === 0) submit('b', { maxNewTokens: 2 });
      if (event.stepIndex === 1) engine.abortAll([requestId('a')]);
    });
    submit('a', { maxNewTokens: 9 });
    await settle();
    expect(listener.of('failed').map((event) => event.requestId)).toEqual(['a']);
    expect(listener.log.at(-1)).toBe('b finished length');
    expect(runner.violations).toEqual([]);
  });
});

describe('configure', () => {
  it('gives the memory of an idle K/V cache back to the device when its limit is lowered', async () => {
    const { submit, runner, engine } = createEngine();
    submit('a', { maxNewTokens: 40 });
    await settle();
    expect(engine.kvUsage.reservedBytes).toBeGreaterThan(50);
    engine.configure({ kvCacheMemoryBytes: 50 });
    await settle();
    expect(engine.kvUsage.reservedBytes).toBeLessThanOrEqual(50);
    const { numSlots, numStagingRows, capacity } = runner.kvShape;
    expect((numSlots + numStagingRows) * capacity).toBe(engine.kvUsage.reservedBytes);
  });

  it('gives back what ran under a higher limit as soon as it has ended', async () => {
    const { submit, runner, engine, listener } = createEngine();
    submit('a', { maxNewTokens: 40 });
    await Promise.resolve();
    engine.configure({ kvCacheMemoryBytes: 20 });
    await settle();
    expect(engine.kvUsage.reservedBytes).toBeLessThanOrEqual(20);
    expect(listener.log.slice(-2)).toEqual(['a finished length', 'memory given back']);
    expect(runner.violations).toEqual([]);
  });

  it('returns the policy in force and governs the next decision', async () => {
    const { engine, submit, batchSizes } = createEngine({ policy: { maxBatchSize: 1 } });
    expect(engine.configure({ maxBatchSize: 3 })).toEqual({ ...createPolicy(), maxBatchSize: 3 });
    expectTypeOf<Engine['configure']>().returns.toEqualTypeOf<BatchingPolicy>();
    for (const name of 'abc') submit(name, { maxNewTokens: 2 });
    await settle();
    expect(Math.max(...batchSizes())).toBe(3);
  });

  it('disturbs nothing that runs', async () => {
    const { engine, submit, listener, runner } = createEngine();
    for (const name of 'abcd') submit(name, { maxNewTokens: 6 });
    await settle(30);
    engine.configure({ policy: 'off', maxBatchSize: 1, maxBatchedTokens: 1 });
    await settle();
    expect(listener.of('finished')).toHaveLength(4);
    expect(runner.violations).toEqual([]);
  });
});

describe('close', () => {
  it('ends what waits and what runs with ClosedError, and resolves when the step under way has ended', async () => {
    const { engine, submit, listener, runner, clock } = createEngine({ policy: { maxBatchSize: 1 } });
    const release = runner.hold();
    submit('a');
    submit('b');
    await settle();
    const closed = vi.fn<() => void>();
    const closing = engine.close().then(closed);
    expect(listener.log).toEqual(['a failed ClosedError', 'b failed ClosedError']);
    expect([engine.numRunning, engine.numWaiting]).toEqual([0, 0]);
    await settle();
    expect(closed).not.toHaveBeenCalled();
    release();
    await closing;
    expect(listener.log).toEqual(['a failed ClosedError', 'b failed ClosedError', 'prefill of 1']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('can be called again, and on an idle engine', async () => {
    const { engine, listener } = createEngine();
    const onEnded = vi.spyOn(listener, 'onEnded');
    await engine.close();
    await engine.close();
    expect(onEnded).not.toHaveBeenCalled();
  });
});

describe('rejects', () => {
  it.each([
    [
      'an empty prompt',
      { promptLength: 0 },
      'Expected `promptTokenIds.length` to be an integer >= 1 and <= 63, got `0`',
    ],
    ['a prompt that fills the context', { promptLength: 64 }, '<= 63, got `64` (number)'],
    ['less than no token', { maxNewTokens: -1 }, 'Expected `maxNewTokens` to be an integer >= 0, got `-1`'],
  ])('%s', (_, request, message) => {
    const { submit, engine } = createEngine();
    expect(() => submit('a', request)).toThrow(InvalidOptionError);
    expect(() => submit('a', request)).toThrow(message);
    expect(engine.numWaiting).toBe(0);
  });

  it('the id of a request that is not finished', async () => {
    const { submit, engine, listener } = createEngine();
    submit('a', { maxNewTokens: 1 });
    expect(engine.has(requestId('a'))).toBe(true);
    expect(() => submit('a')).toThrow(
      'Expected `id` to be unique among unfinished requests, got `a` (string)',
    );
    await settle();
    expect(listener.of('finished')).toHaveLength(1);
  });

  it.each([
    ['as many resumed tokens as may be generated', { maxNewTokens: 2, resumedTokenIds: [7, 7] }],
    [
      'resumed tokens that fill the context',
      { promptLength: 60, maxNewTokens: 9, resumedTokenIds: [7, 7, 7, 7] },
    ],
  ])('%s', (_, request) => {
    expect(() => createEngine().submit('a', request)).toThrow(/resumedTokenIds\.length/);
  });

  it('a request beyond maxQueuedRequests', async () => {
    const { submit, listener } = createEngine({ policy: { maxQueuedRequests: 2 } });
    submit('a');
    submit('b');
    expect(() => submit('c')).toThrow(BackPressureError);
    await settle();
    expect(listener.of('finished').map((event) => event.requestId)).toEqual(['a', 'b']);
  });

  it('a bad knob, and keeps the policy', () => {
    const { engine } = createEngine();
    expect(() => engine.configure({ maxBatchSize: 4, batchWaitTimeoutMs: -1 })).toThrow(InvalidOptionError);
    expect(engine.policy).toEqual(createPolicy());
  });

  it('a request after close', async () => {
    const { engine, submit } = createEngine();
    await engine.close();
    expect(() => submit('a')).toThrow(ClosedError);
  });
});

/** Forces these tokens behind this many others; all other places are free. */
function forcing(tokenIds: readonly number[], numBefore = 1): TokenConstraint {
  let forced: readonly number[] = [];
  let numTokens = 0;
  return {
    accept: () => {
      numTokens += 1;
      forced = numTokens === numBefore ? tokenIds : forced.slice(1);
      return false;
    },
    mask: () => {
      const [next] = forced;
      if (next === undefined) return undefined;
      const mask = emptyMask(5001);
      allowToken(mask, next);
      return mask;
    },
    forced: () => forced,
  };
}

describe('forced tokens', () => {
  const tokenIds = [11, 12, 13, 14];

  it('are computed in one pass, which samples the token behind them', async () => {
    const { submit, steps, listener, runner } = createEngine();
    submit('a', { maxNewTokens: 7, constraint: forcing(tokenIds) });
    await settle();
    expect(steps()).toEqual(['prefill a 0+3 @0 last', 'prefill a 3+5 @0 of 0 last', 'decode a']);
    // A device that counts what it samples fills its counts anew for another object.
    const [before, after] = runner.steps.map(({ rows }) => rows[0]?.tokenCounts);
    expect(after).not.toBe(before);
    expect(after?.get(14)).toBe(1);
    const [finished] = listener.of('finished');
    expect(finished?.tokenIds.slice(1, 5)).toEqual(tokenIds);
    expect(finished).toMatchObject({ finishReason: 'length', numOutputTokens: 7 });
    expect(listener.of('token').map(({ ttftMs, itlMs }) => [ttftMs, itlMs].map(Number.isFinite))).toEqual([
      [true, false],
      ...Array.from({ length: 6 }, () => [false, true]),
    ]);
  });

  it('take a step each where logprobs are wanted, with the same text', async () => {
    const { submit, steps, listener } = createEngine();
    submit('a', { maxNewTokens: 7, constraint: forcing(tokenIds), sampling: { ...GREEDY, logprobs: 0 } });
    submit('b', { maxNewTokens: 1, promptTokenIds: [9] });
    await settle();
    expect(steps().filter((step) => step.startsWith('decode'))).toHaveLength(6);
    expect(
      listener
        .of('finished')
        .find(({ requestId: id }) => id === 'a')
        ?.tokenIds.slice(1, 5),
    ).toEqual(tokenIds);
  });

  it('end where the text does: at a stop, and at the limit', async () => {
    const { submit, listener } = createEngine();
    const stopping = forcing(tokenIds);
    const accept = (tokenId: number): boolean => stopping.accept(tokenId) === true || tokenId === 12;
    submit('a', { maxNewTokens: 7, constraint: { ...stopping, accept } });
    submit('b', { maxNewTokens: 4, constraint: forcing(tokenIds) });
    await settle();
    const ends = listener
      .of('finished')
      .map(({ finishReason, tokenIds: ids }) => [finishReason, ids.slice(1)]);
    expect(ends).toEqual([
      ['stop', [11, 12]],
      ['length', [11, 12, 13]],
    ]);
  });

  it('take no pass of their own where steps for many rows cost less', async () => {
    const { submit, steps } = createEngine({ policy: { maxBatchSize: 8 } });
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      submit(name, { maxNewTokens: 9, constraint: forcing(tokenIds, 3) });
    await settle();
    expect(steps().filter((step) => step.includes(' of '))).toEqual([]);
  });

  it('wait for the step that is in flight', async () => {
    const { submit, steps, runner } = createEngine({ runner: { isPipelined: true } });
    submit('a', { maxNewTokens: 9, constraint: forcing([...tokenIds, 15, 16], 2) });
    await settle();
    expect(steps()).toEqual([
      'prefill a 0+3 @0 last',
      'decode a',
      'decode a, behind',
      'prefill a 5+6 @0 of 0 last',
    ]);
    expect(runner.violations).toEqual([]);
  });
});

describe('a request that a lost engine has begun', async () => {
  const whole = createRequest('a', { maxNewTokens: 12 });
  const alone = await tokensAlone(whole, 64);

  it.each(alone.map((_, numResumed) => numResumed))(
    'goes on after its first %i tokens as if nothing had happened',
    async (numResumed) => {
      const { submit, listener } = createEngine({ runner: { nextToken } });
      submit('b', { maxNewTokens: 5 });
      submit('a', { maxNewTokens: 12, resumedTokenIds: alone.slice(0, numResumed) });
      await settle();
      const own = listener.requests.filter((event) => event.requestId === 'a');
      expect(own.flatMap((event) => (event.type === 'token' ? [event.tokenId] : []))).toEqual(
        alone.slice(numResumed),
      );
      expect(own.at(-1)).toMatchObject({ type: 'finished', tokenIds: alone, numPromptTokens: 3 });
    },
  );

  it('is prefilled in chunks, prompt and tokens together, and measured from its arrival here', async () => {
    const { submit, steps, listener } = createEngine({ policy: { maxBatchedTokens: 4 } });
    submit('a', { maxNewTokens: 5, resumedTokenIds: [5, 6] });
    await settle();
    expect(steps().slice(0, 3)).toEqual(['prefill a 0+4 @0', 'prefill a 4+1 @0 last', 'decode a']);
    expect(listener.of('token').map(({ ttftMs, itlMs }) => [ttftMs, itlMs])).toEqual([
      [24, undefined],
      [undefined, 12],
      [undefined, 12],
    ]);
    expect(listener.of('finished')[0]).toMatchObject({
      numOutputTokens: 5,
      timings: { ttftMs: 24, e2eMs: 48, tpotMs: 12 },
    });
  });
});

describe('event types', () => {
  it('tell cancelled from failed without a look at the error', () => {
    const { engine, submit, listener } = createEngine();
    submit('a');
    engine.abortAll([requestId('a')]);
    const event = listener.of('failed')[0];
    expect(event?.finishReason).toBe('abort');
    expect(event?.error).toBeInstanceOf(RequestCancelledError);
    expectTypeOf<RequestEvent['type']>().toEqualTypeOf<
      'started' | 'prompt-scored' | 'token' | 'token-scored' | 'finished' | 'failed'
    >();
  });
});
