import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_PROMPT_LENGTH, MAX_TEXT_LENGTH, PROTOCOL_VERSION } from './wire.ts';
import {
  isForeignHello,
  parseBridgeMessage,
  parseClientMessage,
  parseClientMessages,
} from './client-messages.ts';
import { parseWorkerInit } from './host-messages.ts';
import { createKnobs, createTabNumbers, freeStall, hasShapeOf, mutate } from '../worker/test-support.ts';
import { runsOf } from '../batching/testing/whole-run.ts';

const version = PROTOCOL_VERSION;
const clientId = 'c';

/** Any value: the deployments check it. */
const ANYTHING = undefined;

const DEPLOYMENTS = [
  { name: 'adder', knobs: { maxBatchSize: 4, batchWaitTimeoutMs: 1.5, maxConcurrentBatches: 1 } },
];
const CHOICE = {
  tokenIds: [1, 2],
  logprobs: [{ tokenId: 1, logprob: -0.5, top: [{ tokenId: 7, logprob: -0.25 }] }],
  finishReason: 'length',
};
const RESUMPTION = {
  choices: [CHOICE],
  queueWaitMs: 1,
  ttftMs: 30.25,
};
const OVERRIDE = { overrideId: 'o', deployment: 'text-generator', knobs: createKnobs().policy };
const HELLO = {
  version,
  clientId,
  type: 'hello',
  knobs: createKnobs({ deployments: DEPLOYMENTS }),
  override: OVERRIDE,
};
const SUBMIT = {
  version,
  clientId,
  type: 'submit',
  requestId: 'r',
  deployment: 'd',
  elapsedMs: 70.5,
  resumption: RESUMPTION,
};
const REQUEST = { requestId: 'r', input: 1, options: {}, elapsedMs: 0 };
const SUBMIT_ALL = { version, clientId, type: 'submit-all', deployment: 'd', turnId: 't' };
const CANCEL = { version, clientId, type: 'cancel', requestId: 'r' };
const CONFIGURE = { version, clientId, type: 'configure', callId: 1, deployment: 'd' };
const SET_OVERRIDE = {
  version,
  clientId,
  type: 'set-override',
  callId: 1,
  overrideId: 'o',
  deployment: 'text-generator',
};
const SET_OVERRIDE_OF_ALL = { ...SET_OVERRIDE, knobs: {} };
const RELEASE = { version, clientId, type: 'release-override', callId: 1, overrideId: 'o' };
const METRICS = { version, clientId, type: 'metrics', callId: 1 };
const MESSAGES = [
  HELLO,
  { ...SUBMIT, input: ANYTHING, options: ANYTHING },
  CANCEL,
  { ...CONFIGURE, knobs: ANYTHING },
  { ...SET_OVERRIDE, knobs: ANYTHING },
  RELEASE,
  METRICS,
];

const PAST = {
  recovery: {
    kind: 'device-lost',
    message: 'unplugged',
    rung: 'webgpu-fp16',
    attempt: 2,
    hasFatalRequest: true,
  },
  leftRungs: [{ rung: 'webgpu-fp16', reason: 'it was lost' }],
  maxRows: 4,
  fatalIds: ['r'],
};
const INIT = {
  version,
  type: 'init',
  model: { type: 'embedded' },
  dtype: 'auto',
  backend: 'auto',
  isShared: true,
  lifeLock: 'tabserve:worker:1',
  past: PAST,
  tabs: createTabNumbers('a', 'b'),
};

const { knobs: _knobs, override: _override, ...FIRST_HELLO } = HELLO;
const { resumption: _resumption, ...FIRST_SUBMIT } = SUBMIT;

const withPolicy = (policy: object) => ({
  ...HELLO,
  knobs: createKnobs({ policy: { ...createKnobs().policy, ...policy } }),
});
const withResumption = (resumption: object) => ({
  ...SUBMIT,
  input: 'Hi',
  options: {},
  resumption: { ...RESUMPTION, ...resumption },
});

const TO_TOKENIZE = { ...METRICS, type: 'tokenize', text: 'Hi', addSpecialTokens: true };

const CHAT_TO_TOKENIZE = {
  ...METRICS,
  type: 'tokenize-chat',
  messages: [{ role: 'user', content: 'Hi' }],
  addGenerationPrompt: true,
  chatTemplateArguments: { enable_thinking: false },
};

const withTokenIds = (tokenIds: unknown) => withResumption({ choices: [{ tokenIds }] });

describe('parseClientMessages', () => {
  it('takes several that came together, and one alone, and leaves out what is none', () => {
    const several = { version, type: 'several', messages: [RELEASE, 'noise', SET_OVERRIDE_OF_ALL] };
    expect(parseClientMessages(several)).toEqual([RELEASE, SET_OVERRIDE_OF_ALL]);
    expect(parseClientMessages(RELEASE)).toEqual([RELEASE]);
    expect(parseClientMessages({ ...several, messages: [several] })).toEqual([]);
    expect(
      parseClientMessages({ ...several, messages: Array.from({ length: 1025 }, () => RELEASE) }),
    ).toEqual([]);
    expect(parseClientMessages({ ...several, version: version + 1 })).toEqual([]);
  });

  it.each([
    [
      'a call',
      { version, clientId, type: 'detokenize', callId: 3, tokenIds: [1.5] },
      { callId: 3, requestIds: [] },
      /^`tokenIds\.0` can't be sent to the worker: Invalid integer: Received 1\.5\.$/,
    ],
    [
      'a text that is none',
      { version, clientId, type: 'tokenize', callId: 3, addSpecialTokens: true },
      { callId: 3, requestIds: [] },
      /^`text` can't be sent to the worker: Invalid key: Expected "text" but received undefined\.$/,
    ],
    [
      'a text that is too long',
      { version, clientId, type: 'tokenize', callId: 3, text: 'a'.repeat(131_073), addSpecialTokens: true },
      { callId: 3, requestIds: [] },
      /^`text` can't .*: Invalid length: Expected <=131072 but received 131073\.$/,
    ],
    [
      'a chat that is too long',
      {
        version,
        clientId,
        type: 'tokenize-chat',
        callId: 3,
        messages: [{ role: 'user', content: 'a'.repeat(1_048_577) }],
        addGenerationPrompt: true,
        chatTemplateArguments: {},
      },
      { callId: 3, requestIds: [] },
      /^`messages` can't .*: Expected at most 1048576 characters\.$/,
    ],
    [
      'a request',
      { ...SUBMIT, deployment: 'x'.repeat(101), input: 1, options: {} },
      { requestIds: ['r'] },
      /^`deployment` can't .*: Invalid length: Expected <=100 but received 101\.$/,
    ],
    [
      'a list of requests that is too long',
      {
        ...SUBMIT_ALL,
        requests: Array.from({ length: 4097 }, (_, index) => ({ ...REQUEST, requestId: `r${index}` })),
      },
      { requestIds: Array.from({ length: 4097 }, (_, index) => `r${index}`) },
      /^`requests` can't .*: Expected a list of at most 4096 entries\.$/,
    ],
  ])('names who waits for the answer of %s that it cannot read', (_, message, waiting, error) => {
    const [unread] = parseClientMessages(message);
    expect(unread).toMatchObject({ type: 'unread', clientId, ...waiting });
    expect(unread?.type === 'unread' && unread.error.message).toMatch(error);
  });

  it('takes 4,096 requests together', () => {
    const requests = Array.from({ length: 4096 }, (_, index) => ({ ...REQUEST, requestId: `r${index}` }));
    expect(parseClientMessages({ ...SUBMIT_ALL, requests })).toEqual([{ ...SUBMIT_ALL, requests }]);
  });
});

describe('parseClientMessage', () => {
  it.each([
    ['a first hello', FIRST_HELLO],
    ['a hello with knobs and an override', HELLO],
    ['knobs without a limit to the queue', withPolicy({ maxQueuedRequests: Infinity })],
    ['a submission', { ...FIRST_SUBMIT, input: { any: [3n, new Date(0)] }, options: { seed: 7 } }],
    ['a submission of nothing', { ...FIRST_SUBMIT, input: undefined, options: null }],
    ['a resubmission', { ...SUBMIT, input: 'Hi', options: {} }],
    ['a resubmission of what had not begun', withResumption({ choices: [] })],
    [
      'a resubmission of 16 continuations',
      withResumption({ choices: Array.from({ length: 16 }, () => CHOICE) }),
    ],
    ['a resubmission of what was accepted', withResumption({ isAccepted: true })],
    ['several submissions of one turn', { ...SUBMIT_ALL, requests: [REQUEST, REQUEST] }],
    ['a cancellation', CANCEL],
    ['knobs of any shape, which are the deployment’s to check', { ...CONFIGURE, knobs: 'none' }],
    ['an override of any knobs, which are checked later', { ...SET_OVERRIDE, knobs: 'none' }],
    ['the release of an override', RELEASE],
    ['a call for metrics', METRICS],
    ['a call for the texts of tokens', { ...METRICS, type: 'token-texts', tokenIds: [0, 50_256] }],
    ['the longest text to tokenize', { ...TO_TOKENIZE, text: 'a'.repeat(MAX_TEXT_LENGTH) }],
    ['a chat to tokenize', CHAT_TO_TOKENIZE],
    ['tokens to detokenize', { ...METRICS, type: 'detokenize', tokenIds: [0] }],
  ])('lets %s through as it is', (_, message) => {
    expect(parseClientMessage(message)).toEqual(message);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'submit'],
    ['a list', [CANCEL]],
    ['another version', { ...CANCEL, version: version + 1 }],
    ['no version', { ...CANCEL, version: undefined }],
    ['the version as text', { ...CANCEL, version: `${version}` }],
    ['no client', { ...CANCEL, clientId: undefined }],
    ['an empty id', { ...CANCEL, clientId: '' }],
    ['an id beyond 100 characters', { ...CANCEL, requestId: 'r'.repeat(101) }],
    ['an id of another type', { ...CANCEL, requestId: 3 }],
    ['an unknown type', { ...CANCEL, type: 'evaluate' }],
    ['a type that is a property of every object', { ...CANCEL, type: 'constructor' }],
    ['a message that only the worker sends', { ...METRICS, type: 'call-answered', result: 1 }],
    ['a submission without a deployment', { version, clientId, type: 'submit', requestId: 'r', input: 1 }],
    ['several submissions that are none', { ...SUBMIT_ALL, requests: [] }],
    ['several submissions that are no list', { ...SUBMIT_ALL, requests: REQUEST }],
    ['several submissions of which one has no id', { ...SUBMIT_ALL, requests: [REQUEST, { input: 1 }] }],
    ['more than 4,096 submissions', { ...SUBMIT_ALL, requests: Array.from({ length: 4097 }, () => REQUEST) }],
    ['a submission without an input', { ...FIRST_SUBMIT, options: {} }],
    ['a deployment’s name beyond 100 characters', { ...CONFIGURE, knobs: {}, deployment: 'd'.repeat(101) }],
    ['knobs for no deployment', { version, clientId, type: 'configure', callId: 1, knobs: {} }],
    ['a call for the text of no token', { ...METRICS, type: 'token-texts', tokenIds: [-1] }],
    ['an override without an id', { ...SET_OVERRIDE, knobs: {}, overrideId: '' }],
    ['an override without knobs', SET_OVERRIDE],
    ['an override of no deployment', { ...SET_OVERRIDE, knobs: {}, deployment: undefined }],
    ['an override that nobody waits for', { ...SET_OVERRIDE, knobs: {}, callId: undefined }],
    ['the release of no override', { ...RELEASE, overrideId: undefined }],
    ['the release of an id beyond 100 characters', { ...RELEASE, overrideId: 'o'.repeat(101) }],
    ['a hello with an override of some knobs', { ...HELLO, override: { ...OVERRIDE, knobs: {} } }],
    ['a hello with an override of no id', { ...HELLO, override: { ...OVERRIDE, overrideId: undefined } }],
    ['a hello with an override set to undefined', { ...HELLO, override: undefined }],
    ['a text that is none', { ...TO_TOKENIZE, text: 3 }],
    ['a text that is longer than HTTP takes', { ...TO_TOKENIZE, text: 'a'.repeat(MAX_TEXT_LENGTH + 1) }],
    [
      'a chat that is longer than HTTP takes',
      { ...CHAT_TO_TOKENIZE, messages: [{ role: 'user', content: 'a'.repeat(MAX_PROMPT_LENGTH + 1) }] },
    ],
    ['a chat of which a message has no role', { ...CHAT_TO_TOKENIZE, messages: [{ content: 'Hi' }] }],
    ['a call without a number', { ...METRICS, callId: '1' }],
    ['a call with a negative number', { ...METRICS, callId: -1 }],
    ['a policy that does not exist', withPolicy({ policy: 'greedy' })],
    ['a batch size of NaN', withPolicy({ maxBatchSize: Number.NaN })],
    ['a wait without end', withPolicy({ batchWaitTimeoutMs: Infinity })],
    ['a fractional revision', { ...HELLO, knobs: createKnobs({ revision: 0.5 }) }],
    ['knobs set to undefined', { ...HELLO, knobs: undefined }],
    ['token ids that are no list', withTokenIds('1,2')],
    ['a negative token id', withTokenIds([1, -2])],
    ['a fractional token id', withTokenIds([1.5])],
    ['a hole among the token ids', withTokenIds(Array.from({ length: 2 }))],
    ['a negative duration', { ...SUBMIT, input: 'Hi', options: {}, elapsedMs: -1 }],
    ['an end for no known reason', withResumption({ choices: [{ ...CHOICE, finishReason: '' }] })],
    ['more than 16 continuations', withResumption({ choices: Array.from({ length: 17 }, () => CHOICE) })],
    ['an infinite duration', withResumption({ ttftMs: Infinity })],
  ])('drops %s', (_, data) => {
    expect(parseClientMessage(data)).toBeUndefined();
  });

  it('takes 65,536 token ids; a longer list it drops without a look at one of them', () => {
    let numReads = 0;
    const tokenIds = (length: number) =>
      new Proxy(
        Array.from({ length }, () => 7),
        {
          get(target, key, receiver): unknown {
            if (typeof key === 'string' && /^\d+$/.test(key)) numReads += 1;
            return Reflect.get(target, key, receiver);
          },
        },
      );
    expect(parseClientMessage(withTokenIds(tokenIds(65_537)))).toBeUndefined();
    expect(numReads).toBe(0);
    expect(parseClientMessage(withTokenIds(tokenIds(65_536)))).toBeDefined();
  });

  it('leaves out what does not belong to a message', () => {
    expect(parseClientMessage({ ...CANCEL, extra: 1 })).toEqual(CANCEL);
  });

  it('never throws, and what it lets through has the types of a message', () => {
    const broken = fc
      .record({
        message: fc.constantFrom<object>(
          ...MESSAGES.map((message) => ({
            ...message,
            ...('deployment' in message && { input: 3, knobs: {} }),
          })),
        ),
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
        const message = parseClientMessage(data);
        if (message === undefined) return;
        expect(parseClientMessage(message)).toEqual(message);
        expect(hasShapeOf(message, MESSAGES.map(freeStall))).toBe(true);
      }),
      { numRuns: runsOf({ whole: 2000, part: 600 }) },
    );
  });
});

describe('a caller behind the bridge', () => {
  const caller = ['127.0.0.1', 'key', 'user'];
  const submissions = [
    { ...FIRST_SUBMIT, input: 1, options: {} },
    { ...SUBMIT_ALL, requests: [REQUEST] },
  ];

  it.each(submissions)(
    'is named by the bridge, and by no tab, and so is what waits behind all others',
    (message) => {
      const given = { ...message, caller, isBackground: true, updates: 'end' };
      expect(parseBridgeMessage(given)).toEqual(given);
      expect(parseClientMessage(given)).toEqual({ ...message, updates: 'end' });
    },
  );

  it.each([[[]], ['127.0.0.1'], [[1]], [['a', 'b', 'c', 'd']], [['x'.repeat(101)]]])(
    'is refused with its message where its name is %j',
    (bad) => {
      for (const message of submissions)
        expect(parseBridgeMessage({ ...message, caller: bad })).toMatchObject({ type: 'unread' });
    },
  );

  it('says all that a tab says', () => {
    for (const message of [HELLO, CANCEL, METRICS]) expect(parseBridgeMessage(message)).toEqual(message);
  });
});

describe('parseWorkerInit', () => {
  it('lets the first message of the tab that made the worker through', () => {
    expect(parseWorkerInit(INIT)).toEqual(INIT);
  });

  it.each([
    ['an unknown backend', { ...INIT, backend: 'cuda' }],
    ['another version', { ...INIT, version: version + 1 }],
    ['no word on whom it serves', { ...INIT, isShared: undefined }],
    ['no word on who leads', { ...INIT, tabs: { ...INIT.tabs, leader: undefined } }],
    ['a bridge that is no text', { ...INIT, bridgeUrl: 8000 }],
    ['a message of a client', HELLO],
    ['nothing', undefined],
  ])('drops %s', (_, data) => {
    expect(parseWorkerInit(data)).toBeUndefined();
  });
});

describe('isForeignHello', () => {
  it.each<[string, unknown, boolean]>([
    [
      'a tab of a newer version, whatever it says',
      { type: 'hello', version: version + 1, who: 'knows' },
      true,
    ],
    ['a tab of an older version', { type: 'hello', version: version - 1 }, true],
    ['a tab without a version', { type: 'hello' }, false],
    ['a version that is no whole number', { type: 'hello', version: 1.5 }, false],
    ['a version that there has never been', { type: 'hello', version: -1 }, false],
    ['another message of another version', { type: 'submit', version: version + 1 }, false],
    ['nothing', null, false],
  ])('of %s', (_, data, isForeign) => {
    expect(isForeignHello(data)).toBe(isForeign);
  });
});
