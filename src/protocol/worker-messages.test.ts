import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION } from './wire.ts';
import { readGenerationDefaults } from '../worker/models/generation-config.ts';
import {
  createTabNumbers,
  createKnobs,
  createModelInfo,
  createServedModel,
  freeStall,
  hasShapeOf,
  mutate,
} from '../worker/test-support.ts';
import { foreignWorkerVersion, parseWorkerMessage } from './worker-messages.ts';
import { runsOf } from '../batching/testing/whole-run.ts';

const from = { version: PROTOCOL_VERSION, workerId: 'w' };

const ERROR = { code: 'BACK_PRESSURE', message: 'full', details: { '*': 5.5 } };
const BARE_ERROR = { code: 'CLOSED', message: 'over' };

const STARTED = { type: 'started', requestId: 'r', queueWaitMs: 1.5, model: createServedModel() };
const LOGPROBS = [{ tokenId: 3, logprob: -0.5, top: [{ tokenId: 7, logprob: -0.25 }] }];
const CHUNK = {
  type: 'chunk',
  requestId: 'r',
  index: 1,
  text: ' there',
  tokenIds: [3],
  logprobs: LOGPROBS,
  ttftMs: 30.5,
  finishReason: 'stop',
};
const ECHO = { type: 'echo', requestId: 'r', index: 0, text: 'Hi' };
const CHOICE = {
  text: 'Hi there',
  generatedText: ' there',
  tokenIds: [3],
  logprobs: LOGPROBS,
  finishReason: 'stop',
  seed: 2 ** 32 - 1,
};
const FINISHED = {
  type: 'finished',
  requestId: 'r',
  result: {
    ...CHOICE,
    choices: [CHOICE, CHOICE],
    usage: { numPromptTokens: 1, numCachedTokens: 0, numOutputTokens: 2 },
    timings: { queueWaitMs: 0, ttftMs: 1.5, e2eMs: 2.5, tpotMs: 1 },
  },
};
const ANSWERED = { type: 'answered', requestId: 'r' };
const FAILED = { type: 'failed', requestId: 'r', error: ERROR };

const STATUS = {
  state: 'failed',
  knobs: createKnobs({
    deployments: [
      { name: 'adder', knobs: { maxBatchSize: 4, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 } },
    ],
  }),
  override: { overrideId: 'o', deployment: 'text-generator', knobs: createKnobs().policy },
  tabs: createTabNumbers('a', 'b', 'c'),
  progress: { phase: 'download', loaded: 5, total: 10, fraction: 0.4 },
  model: createModelInfo({ generationDefaults: readGenerationDefaults({ stop_strings: 'END' }, 512) }),
  backend: {
    name: 'webgpu',
    rung: 'webgpu-fp16',
    precision: 'fp16',
    adapter: 'SwiftShader',
    isSoftwareAdapter: true,
    fallbackReason: '',
  },
  error: ERROR,
  recovery: {
    kind: 'device-lost',
    message: 'unplugged',
    rung: 'webgpu-fp16',
    attempt: 2,
    hasFatalRequest: true,
  },
};
const BARE_STATUS = { state: 'loading', knobs: createKnobs(), tabs: createTabNumbers() };

const LATENCY = { count: 2, p50: 1.5, p95: 3, p99: 4 };
const STATS = {
  workerStartedAtMs: 1_790_000_000_000.5,
  sentAtMs: 812.5,
  steps: [
    {
      stepIndex: 0,
      kind: 'decode',
      reason: 'deferred',
      isBehind: false,
      batchSize: 2,
      numTokens: 2,
      queueLength: 3,
      waitMs: 12.5,
      outcome: 'ok',
      stepMs: 60.5,
      runMs: 50,
      readbackMs: 1,
      numGuessedTokens: 3,
      numRightGuesses: 2,
      agoMs: 3,
      slots: [0, 1],
    },
  ],
  slotSpans: [
    {
      requestId: 'request-1',
      index: 1,
      slot: 2,
      spanIndex: 0,
      queueWaitMs: 1.5,
      startedAgoMs: 80.5,
      firstTokenAgoMs: 60,
      endedAgoMs: 3,
      end: 'moved',
      numTokens: 4,
      firstStepIndex: 7,
      lastStepIndex: 11,
    },
  ],
  numRunning: 2,
  numWaiting: 1,
  kvCache: { usedBytes: 0, reservedBytes: 0 },
  tokensPerSecond: 30.5,
  ttftMs: LATENCY,
  itlMs: LATENCY,
  queueWaitMs: LATENCY,
  e2eMs: LATENCY,
  finishReasons: { stop: 1, length: 0, abort: 0, error: 0 },
  totals: {
    submitted: 3,
    finished: 0,
    cancelled: 0,
    failed: 0,
    rejected: 0,
    promptTokens: 9,
    outputTokens: 4,
    prefixCacheQueries: 0,
    prefixCacheHits: 0,
  },
};
const BATCH = {
  deployment: 'adder',
  batchIndex: 0,
  queueLength: 0,
  reason: 'full',
  batchSize: 4,
  measuredSize: 4.5,
  maxBatchSize: 4,
  waitMs: 1.5,
  executionMs: 2,
  cancelled: 0,
  outcome: 'ok',
};
const ACTIVITY = {
  requestId: 'r',
  clientId: 'c',
  tab: 2,
  isHttp: true,
  deployment: 'text-generator',
  inputPreview: 'Hi',
  state: 'running',
  numOutputTokens: 3,
};

const SERVING = { ...from, type: 'serving' };
const STEP = {
  deployment: 'text-generator',
  batchIndex: 7,
  kind: 'prefill',
  reason: 'timeout',
  batchSize: 2,
  numTokens: 9,
  queueLength: 0,
  waitMs: 12.5,
  executionMs: 30,
  outcome: 'ok',
};
const WELCOME = {
  ...from,
  type: 'welcome',
  status: STATUS,
  activity: [ACTIVITY],
  batches: [BATCH],
  steps: [STEP],
};
const UPDATES = { ...from, type: 'updates', updates: [STARTED, ECHO, CHUNK, FINISHED, FAILED] };
const CALL_ANSWERED = { ...from, type: 'call-answered', callId: 1 };
const CALL_REFUSED = { ...from, type: 'call-refused', callId: 1, error: ERROR };

/** All messages with all their fields. */
const MESSAGES = [
  SERVING,
  WELCOME,
  { ...from, type: 'status', status: STATUS },
  { ...UPDATES, updates: [...UPDATES.updates, { ...ANSWERED, result: undefined }] },
  { ...from, type: 'stats', stats: STATS },
  { ...from, type: 'batch', batch: BATCH },
  { ...from, type: 'activity', activity: [ACTIVITY] },
  { ...CALL_ANSWERED, result: undefined },
  CALL_REFUSED,
];

/** The same for `hasShapeOf`, where a field may have several types. */
const SHAPES = MESSAGES.map(freeStall);

const withUpdate = (update: object) => ({ ...from, type: 'updates', updates: [update] });
const withActivity = (change: object) => ({
  ...from,
  type: 'activity',
  activity: [{ ...ACTIVITY, ...change }],
});
const withStatus = (status: object) => ({ ...from, type: 'status', status });
const withBackend = (change: object) => withStatus({ ...STATUS, backend: { ...STATUS.backend, ...change } });

describe('parseWorkerMessage', () => {
  it.each(['fp16', 'fp32', 'q8', 'q4'])('knows a model that runs in %s', (precision) => {
    const backend = { ...STATUS.backend, precision };
    const message = withStatus({ ...STATUS, backend });
    expect(parseWorkerMessage(message)).toEqual(message);
  });

  it.each(MESSAGES)('lets a $type message through as it is', (message) => {
    expect(parseWorkerMessage(message)).toEqual(message);
  });

  it.each([
    [
      'a welcome to a worker that has done nothing yet',
      { ...from, type: 'welcome', status: STATUS, activity: [], batches: [] },
    ],
    ['a status that knows nothing yet', withStatus(BARE_STATUS)],
    ['a queue without limit', withStatus({ ...BARE_STATUS, knobs: knobsWithoutLimit() })],
    ['a backend of 8 bits', withBackend({ precision: 'q8' })],
    ['a backend of 4 bits', withBackend({ precision: 'q4' })],
    ['a server', withBackend({ name: 'server', precision: 'unknown' })],
    ['an echo', withUpdate(ECHO)],
    [
      'a chunk that is not the first',
      withUpdate({ type: 'chunk', requestId: 'r', index: 0, text: '', tokenIds: [3] }),
    ],
    [
      'a chunk of text alone',
      withUpdate({ type: 'chunk', requestId: 'r', index: 0, text: '\u{FFFD}', tokenIds: [] }),
    ],
    ['an answer of any shape', withUpdate({ ...ANSWERED, result: { at: new Date(0), big: 3n } })],
    ['an answer that is undefined', withUpdate({ ...ANSWERED, result: undefined })],
    ['an error without details', withUpdate({ ...FAILED, error: BARE_ERROR })],
    ['metrics', { ...CALL_ANSWERED, result: '# HELP' }],
    ['no steps', { ...from, type: 'stats', stats: { ...STATS, steps: [] } }],
  ])('lets %s through as it is', (_, message) => {
    expect(parseWorkerMessage(message)).toEqual(message);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'serving'],
    ['another version', { ...SERVING, version: PROTOCOL_VERSION + 1 }],
    ['no worker', { version: PROTOCOL_VERSION, type: 'serving' }],
    ['an empty worker’s id', { ...SERVING, workerId: '' }],
    ['an unknown type', { ...SERVING, type: 'dance' }],
    ['a message that only tabs send', { ...SERVING, type: 'hello', clientId: 'c' }],
    ['a welcome without a status', { ...from, type: 'welcome', activity: [], batches: [] }],
    ['a step of no kind', { ...WELCOME, steps: [{ ...STEP, kind: 'train' }] }],
    ['a state that only tabs have', withStatus({ ...BARE_STATUS, state: 'closed' })],
    [
      'an override of a policy that does not exist',
      withStatus({
        ...STATUS,
        override: { ...STATUS.override, knobs: { ...STATUS.override.knobs, policy: '' } },
      }),
    ],
    [
      'an override of nobody',
      withStatus({ ...STATUS, override: { ...STATUS.override, overrideId: undefined } }),
    ],
    ['a tab of half a number', withStatus({ ...BARE_STATUS, tabs: { ...BARE_STATUS.tabs, last: 0.5 } })],
    [
      'progress of NaN',
      withStatus({ ...STATUS, progress: { phase: 'download', loaded: NaN, total: 1, fraction: 0.4 } }),
    ],
    ['an update that only tabs make', withUpdate({ type: 'resubmitted', requestId: 'r' })],
    ['an update of no request', withUpdate({ ...STARTED, requestId: undefined })],
    ['one bad update among good ones', { ...UPDATES, updates: [STARTED, { ...CHUNK, text: 3 }] }],
    ['a chunk of no continuation', withUpdate({ ...CHUNK, index: undefined })],
    ['a result without its choices', withUpdate({ ...FINISHED, result: CHOICE })],
    ['an answer without a result', withUpdate(ANSWERED)],
    [
      'an end for no known reason',
      withUpdate({ ...FINISHED, result: { ...FINISHED.result, finishReason: '' } }),
    ],
    ['details that are not numbers', withUpdate({ ...FAILED, error: { ...ERROR, details: { a: '1' } } })],
    ['updates that are no list', { ...UPDATES, updates: { 0: STARTED, length: 1 } }],
    [
      'more than 65,536 token ids',
      withUpdate({ ...CHUNK, tokenIds: Array.from({ length: 65_537 }, () => 1) }),
    ],
    ['a batch cut for no known reason', { ...from, type: 'batch', batch: { ...BATCH, reason: 'mood' } }],
    ['activity that is not over HTTP and says so', withActivity({ isHttp: false })],
    ['activity of nobody', withActivity({ clientId: '' })],
  ])('drops %s', (_, data) => {
    expect(parseWorkerMessage(data)).toBeUndefined();
  });

  it('never throws, and what it lets through has the types of a message', () => {
    const broken = fc
      .record({
        message: fc.constantFrom<object>(...MESSAGES),
        mutations: fc.array(
          fc.record({
            place: fc.nat(),
            change: fc.constantFrom('replace' as const, 'remove' as const, 'add' as const),
            junk: fc.anything(),
          }),
          { maxLength: 3 },
        ),
      })
      .map(({ message, mutations }) => mutations.reduce(mutate, message));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), { arbitrary: broken, weight: 9 }), (data) => {
        const message = parseWorkerMessage(data);
        if (message === undefined) return;
        expect(parseWorkerMessage(message)).toEqual(message);
        expect(hasShapeOf(message, SHAPES)).toBe(true);
      }),
      { numRuns: runsOf({ whole: 2000, part: 600 }) },
    );
  });
});

describe('foreignWorkerVersion', () => {
  it.each([
    ['a newer worker, whatever it says', { ...SERVING, version: 99, type: 'dance' }, 99],
    ['an older worker', { ...SERVING, version: 1 }, 1],
    ['a worker of this version', SERVING, undefined],
    ['a tab of another version', { version: 99, clientId: 'c', type: 'hello' }, undefined],
    ['a version that is no whole number', { ...SERVING, version: 2.5 }, undefined],
    ['a version that there has never been', { ...SERVING, version: 0 }, undefined],
    ['what is no message', { version: 99, workerId: 'w' }, undefined],
    ['nothing', undefined, undefined],
  ])('of %s', (_, data, version) => {
    expect(foreignWorkerVersion(data)).toBe(version);
  });
});

function knobsWithoutLimit() {
  return createKnobs({ policy: { ...createKnobs().policy, maxQueuedRequests: Infinity } });
}
