import { expect, it } from 'vitest';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import type { RequestActivity, RequestUpdate } from '../../protocol/requests.ts';
import { ServingLog, type KeptFigures } from './serving-log.ts';

/** Where a slice begins. */
const START_MS = 1_700_000_000_000;

const TEXT: RequestActivity = {
  requestId: requestId('r'),
  clientId: clientId('tab'),
  tab: 1,
  deployment: 'text-generator',
  inputPreview: 'secret',
  state: 'finished',
  numOutputTokens: 0,
};

const ANSWERED: RequestUpdate = { type: 'answered', requestId: TEXT.requestId, result: 4 };

const CHOICE = { text: '', generatedText: 'secret', tokenIds: [], finishReason: 'length', seed: 0 } as const;
const FINISHED: RequestUpdate = {
  type: 'finished',
  requestId: TEXT.requestId,
  result: {
    ...CHOICE,
    choices: [CHOICE],
    usage: { numPromptTokens: 5, numCachedTokens: 3, numOutputTokens: 8 },
    timings: { queueWaitMs: 12, ttftMs: 20, e2eMs: 90, tpotMs: 10 },
  },
};

function createLog() {
  const clock = { nowMs: START_MS };
  const log = new ServingLog(() => clock.nowMs);
  const end = (
    update = ANSWERED,
    activity: Partial<RequestActivity> = {},
    caller?: readonly string[],
  ): void => log.recordEnd(update, { activity: { ...TEXT, ...activity }, caller, durationMs: 100 });
  return { clock, log, end };
}

interface Figures {
  /** This and the next two count from the worker's start. */
  readonly output: number;
  readonly queries?: number;
  readonly hits?: number;
  /** The waiting requests of each step. */
  readonly queues?: readonly number[];
  readonly waiting?: number;
  readonly used?: number;
}

function statsOf({
  output,
  queries = 0,
  hits = 0,
  queues = [],
  waiting = 0,
  used = 0,
}: Figures): KeptFigures {
  return {
    steps: queues.map((queueLength) => ({ queueLength })),
    numWaiting: waiting,
    kvCache: { usedBytes: used, reservedBytes: 100 },
    totals: { outputTokens: output, prefixCacheQueries: queries, prefixCacheHits: hits },
  };
}

it('has a text with its sender, its tokens, its times and its end, and nothing of what was said', () => {
  const { log, end } = createLog();
  end(FINISHED);
  const { requests } = log.read('');
  expect(requests).toEqual([
    {
      number: 1,
      endedAtMs: START_MS,
      tab: 1,
      deployment: 'text-generator',
      numPromptTokens: 5,
      numCachedTokens: 3,
      numOutputTokens: 8,
      queueWaitMs: 12,
      durationMs: 100,
      finishReason: 'length',
    },
  ]);
  expect(JSON.stringify(requests)).not.toContain('secret');
});

it('has the HTTP client of a request, and the error of one that failed with the tokens until then', () => {
  const { log, end } = createLog();
  const { tab: _, ...http } = TEXT;
  const error = { code: 'MODEL_RUN_FAILED', message: '`inputs[0]`: why', remedy: 'other field' };
  const failed: RequestUpdate = { type: 'failed', requestId: TEXT.requestId, error };
  log.recordEnd(failed, {
    activity: { ...http, isHttp: true, numOutputTokens: 3 },
    caller: ['loopback', '', 'd1'],
    durationMs: 7,
  });
  end();
  expect(log.read('').requests).toMatchObject([
    {
      caller: ['loopback', '', 'd1'],
      numOutputTokens: 3,
      error: { code: 'MODEL_RUN_FAILED', message: 'why' },
    },
    { number: 2, tab: 1 },
  ]);
  expect(log.read('').requests[0]).not.toHaveProperty('tab');
});

it.each([
  ['one text', 'embedder', { embedding: [1], numTokens: 4 }, 4],
  ['a list of texts', 'embedder', [{ numTokens: 4 }, { numTokens: 5 }], 9],
  ['a ranking', 'reranker', { results: [], numTokens: 6 }, 6],
  ['a deployment of one’s own, whose answer is its own', 'shout', { numTokens: 6 }, undefined],
])('counts what was read of %s', (_, deployment, result, numPromptTokens) => {
  const { log, end } = createLog();
  end({ ...ANSWERED, result }, { deployment });
  expect(log.read('').requests[0]?.numPromptTokens).toBe(numPromptTokens);
});

it('keeps the last 1,000 requests', () => {
  const { log, end } = createLog();
  for (let sent = 0; sent < 1003; sent += 1) end();
  const { requests } = log.read('');
  expect([requests.length, requests[0]?.number, requests.at(-1)?.number]).toEqual([1000, 4, 1003]);
});

it('adds up 10 s of the text generator', () => {
  const { clock, log } = createLog();
  log.recordStats(statsOf({ output: 20, queries: 10, queues: [4, 0], used: 50 }));
  clock.nowMs += 9999;
  log.recordStats(statsOf({ output: 50, queries: 30, hits: 15, queues: [2], waiting: 5, used: 20 }));
  clock.nowMs += 1;
  log.recordStats(statsOf({ output: 60, queries: 30, hits: 15, queues: [0] }));
  clock.nowMs += 2500;
  expect(log.read('').slices).toEqual([
    {
      startedAtMs: START_MS,
      durationMs: 10_000,
      numOutputTokens: 50,
      numSteps: 3,
      meanWaiting: 2,
      maxWaiting: 5,
      maxKvShare: 0.5,
      numPrefixQueries: 30,
      numPrefixHits: 15,
    },
    {
      startedAtMs: START_MS + 10_000,
      durationMs: 2500,
      numOutputTokens: 10,
      numSteps: 1,
      meanWaiting: 0,
      maxWaiting: 0,
      maxKvShare: 0,
      numPrefixQueries: 0,
      numPrefixHits: 0,
    },
  ]);
});

it('has what waits while nothing runs, and nothing of times without either', () => {
  const { clock, log } = createLog();
  log.recordStats(statsOf({ output: 0 }));
  expect(log.read('').slices).toEqual([]);
  clock.nowMs += 10_000;
  log.recordStats(statsOf({ output: 0, waiting: 3 }));
  expect(log.read('').slices).toMatchObject([
    { startedAtMs: START_MS + 10_000, meanWaiting: 3, numSteps: 0 },
  ]);
});

it('forgets what is older than an hour', () => {
  const { clock, log } = createLog();
  for (let slice = 1; slice <= 400; slice += 1) {
    log.recordStats(statsOf({ output: slice }));
    clock.nowMs += 10_000;
  }
  expect(log.read('').slices).toHaveLength(359);
  clock.nowMs += 3_600_000;
  expect(log.read('').slices).toEqual([]);
});

it('tells a cursor what came since, the slice that went on included', () => {
  const { clock, log, end } = createLog();
  end();
  log.recordStats(statsOf({ output: 1 }));
  const first = log.read('');
  expect(first).toMatchObject({ isWhole: true, startedAtMs: START_MS });
  clock.nowMs += 5000;
  end();
  log.recordStats(statsOf({ output: 4 }));
  const second = log.read(first.cursor);
  expect(second).toMatchObject({
    isWhole: false,
    requests: [{ number: 2 }],
    slices: [{ numOutputTokens: 4 }],
  });
  clock.nowMs += 10_000;
  log.recordStats(statsOf({ output: 9 }));
  const third = log.read(second.cursor);
  expect(third.requests).toEqual([]);
  expect(third.slices.map(({ numOutputTokens }) => numOutputTokens)).toEqual([4, 5]);
});

it.each(['1/1/1', 'nonsense', ''])('tells a cursor of another log all: %j', (cursor) => {
  const { log, end } = createLog();
  end();
  expect(log.read(cursor)).toMatchObject({ isWhole: true, requests: [{ number: 1 }] });
});

it.each(['x/y', '1/x', '2/0', '1/999999999999', '-1/-1', '/', '1', '1/0/7', '0.5/0', ''])(
  'tells all where a cursor of this log can’t be its own: %j',
  (rest) => {
    const { log, end } = createLog();
    end();
    log.recordStats(statsOf({ output: 1 }));
    const whole = log.read('');
    expect(log.read(`${START_MS}/${rest}`)).toEqual(whole);
    expect(log.read(whole.cursor)).toMatchObject({ isWhole: false, requests: [] });
  },
);

it('knows a cursor whose last times are older than an hour', () => {
  const { clock, log } = createLog();
  log.recordStats(statsOf({ output: 1 }));
  const { cursor } = log.read('');
  clock.nowMs += 3_700_000;
  expect(log.read(cursor)).toMatchObject({ isWhole: false, cursor, slices: [] });
});
