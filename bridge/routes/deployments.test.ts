import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../src/batching/base/errors.ts';
import { defineDeployment, type AnyDeployment } from '../../src/protocol/deployment.ts';
import { keepBridged } from '../../src/worker/serving/bridge/bridge-connection.ts';
import { BridgedOutbox } from '../../src/worker/serving/tab-messages.ts';
import { ServeWorker } from '../../src/worker/serving/serve-worker.ts';
import { createServeHost } from '../../src/worker/test-support.ts';
import {
  answerAllWith,
  answerWith,
  mountBridge,
  startBridge,
  stubWebSocket,
} from '../testing/test-support.ts';

/** A bridge whose adder adds. */
async function startAdder() {
  const { bridge, url } = await mountBridge();
  answerWith(bridge, (number) => Promise.resolve(Number(number) + 1));
  return `${url}/adder`;
}

const post = (url: string, body: string | null, type: string) =>
  fetch(url, { method: 'POST', body, headers: { 'Content-Type': type } });

it.each([
  ['the query', '?number=3', null, 'text/plain'],
  ['a form', '', 'number=3', 'application/x-www-form-urlencoded'],
  ['JSON', '', '{"number": 3}', 'application/json'],
  ['plain text', '', '3', 'text/plain'],
])('POST /adder takes its number from %s', async (_, query, body, type) => {
  const url = await startAdder();
  const response = await post(url + query, body, type);
  expect([response.status, await response.text()]).toEqual([200, '4\n']);
});

it.each([
  ['two numbers', '?number=3', '{"number": 3}', '`number` is in the query and in the body'],
  ['none', '', '{}', 'got `nothing`'],
  ['a text', '', '{"number": "three"}', 'got `"three"`'],
  ['a number that would be rounded', '', '{"number": 9007199254740993}', 'got `9007199254740993`'],
  ['one in the query', '?number=9007199254740993', '{}', 'got `9007199254740993`'],
  ['one with a point', '?number=9007199254740993.0', '{}', 'got `9007199254740993.0`'],
  ['one with an exponent', '', '{"number": 9.007199254740993e15}', 'got `9.007199254740993e15`'],
  ['one that would be 0', '', '{"number": 1e-400}', '`number` is a number that is too small'],
  ['one in the query that would be 0', '?number=1e-400', '{}', 'got `1e-400`'],
  ['a hexadecimal number', '?number=0x10', '{}', 'got `0x10`'],
  ['another field', '', '{"num": 3}', 'Unknown option `num`'],
])('POST /adder refuses %s in words', async (_, query, body, message) => {
  const response = await post((await startAdder()) + query, body, 'application/json');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
});

async function askAll(body: object, answer: (input: unknown) => Promise<unknown>): Promise<Response> {
  const { bridge, url } = await mountBridge();
  answerAllWith(bridge, answer);
  return post(`${url}/deployments/shout`, JSON.stringify(body), 'application/json');
}

describe('a list of instances', () => {
  it('is answered in its order', async () => {
    const response = await askAll({ instances: [1, 2, 3] }, (input) => Promise.resolve(Number(input) * 2));
    expect(await response.json()).toEqual({ predictions: [2, 4, 6] });
  });

  it.each([
    ['none', { instances: [] }],
    ['a text', { instances: 'a' }],
    ['one that is too long', { instances: Array.from({ length: 100_000 }, () => 1) }],
    ['one beside an input', { instances: [1], input: 1 }],
  ])('is refused where it is %s', async (_, body) => {
    const response = await askAll(body, () => Promise.resolve(1));
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'instances' } }]);
  });
});

/** A worker whose numbers are checked, and not negative. */
async function startNumbers(maxQueuedRequests = 8) {
  const { url } = await startBridge();
  stubWebSocket(url);
  const numbers = defineDeployment({
    name: 'numbers',
    checkInput(input): number {
      if (typeof input === 'number') return input;
      throw InvalidOptionError.of('input', 'a number', input);
    },
    handler: (inputs) =>
      Promise.resolve(inputs.map((input) => (input < 0 ? new RangeError('It is negative') : input))),
    batchOptions: { maxQueuedRequests, maxBatchSize: 64 },
  });
  serveBridged(url, numbers);
  return (body: string) => post(`${url}/deployments/numbers`, body, 'application/json');
}

function serveBridged(url: string, deployment: AnyDeployment): void {
  const outbox = new BridgedOutbox({ toAll: () => {}, toClient: () => {} });
  void keepBridged(`${url}/bridge/`, new ServeWorker([deployment], outbox, createServeHost()), outbox);
}

const ANY = { a: 1 };

const NO_LISTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['too few', []],
  ['too many', [1, 2]],
  ['a text', 'x'],
  ['an object', { length: 1, 0: 1 }],
  ['null', null],
  ['a typed array', new Float32Array(1)],
]);

const loop: { self?: unknown } = {};
loop.self = loop;

const ANSWERS: Readonly<Record<string, unknown>> = {
  plain: { a: [1, 'b', null, true], b: undefined, date: new Date(0) },
  undefined,
  integers: { one: 12n, typed: new BigInt64Array([1n, -(2n ** 53n) + 1n]) },
  floats: new Float32Array([0.5, -1]),
  nan: { scores: [1, Number.NaN] },
  infinite: new Float64Array([1, -Infinity]),
  'a bigint': [2n ** 53n],
  'a date': { at: new Date(Number.NaN) },
  'a map': new Map([[1, 2]]),
  'a set': [[new Set([1])]],
  'a buffer': new ArrayBuffer(4),
  'a view': new DataView(new ArrayBuffer(4)),
  'a pattern': /x/,
  'a loop': loop,
  twice: [ANY, ANY],
  'an empty error': new RangeError(),
};

/** A worker whose handler gives the answer of that name, or answers a whole batch with what isn't a list of answers. */
async function startAny() {
  const { url } = await startBridge();
  stubWebSocket(url);
  serveBridged(url, {
    name: 'any',
    checkInput: (input) => input,
    handler: (inputs) => {
      const none = NO_LISTS.get(String(inputs[0]));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that it isn't a list is what is tested
      if (NO_LISTS.has(String(inputs[0]))) return Promise.resolve(none as unknown[]);
      return Promise.resolve(inputs.map((input) => ANSWERS[String(input)]));
    },
  });
  const ask = async (body: object) => {
    const response = await post(`${url}/deployments/any`, JSON.stringify(body), 'application/json');
    return [response.status, await response.json()];
  };
  return ask;
}

it.each([
  ['plain', { a: [1, 'b', null, true], date: '1970-01-01T00:00:00.000Z' }],
  ['undefined', null],
  ['integers', { one: 12, typed: [1, -9007199254740991] }],
  ['floats', [0.5, -1]],
  ['twice', [ANY, ANY]],
])('an answer that JSON has is written: %s', async (input, answer) => {
  expect(await (await startAny())({ input })).toEqual([200, answer]);
});

it.each([
  ['nan', '`answer.scores[1]` is NaN'],
  ['infinite', '`answer[1]` is -Infinity'],
  ['a bigint', '`answer[0]` is 9007199254740992, which readers of JSON round'],
  ['a date', '`answer.at` is an invalid Date'],
  ['a map', '`answer` is of the class Map'],
  ['a set', '`answer[0][0]` is of the class Set'],
  ['a buffer', '`answer` is of the class ArrayBuffer'],
  ['a view', '`answer` is of the class DataView'],
  ['a pattern', '`answer` is of the class RegExp'],
  ['a loop', '`answer.self` is a part of itself'],
])('%s, which JSON would change, is refused by its place', async (name, message) => {
  const ask = await startAny();
  const refusal = (begin: string, param: string | null) => [
    500,
    { error: { code: 'ANSWER_NOT_JSON', param, message: expect.stringContaining(`${begin}${message}`) } },
  ];
  expect(await ask({ input: name })).toMatchObject(refusal('', null));
  expect(await ask({ instances: ['plain', name] })).toMatchObject(
    refusal('`instances[1]`: ', 'instances[1]'),
  );
});

it.each([...NO_LISTS.keys()])('a handler that answers %s for a list is named', async (input) => {
  const error = {
    code: 'BATCH_SIZE_MISMATCH',
    message: expect.stringMatching(/doesn't preserve batch size/),
  };
  expect(await (await startAny())({ input })).toMatchObject([500, { error }]);
});

it('an error without a message is named', async () => {
  const message = 'The code threw RangeError without a message.';
  expect(await (await startAny())({ input: 'an empty error' })).toMatchObject([500, { error: { message } }]);
});

it.each([1025, 4096])('a list of %i instances is answered', async (length) => {
  const ask = await startNumbers(Infinity);
  const instances = Array.from({ length }, (_, index) => index);
  const response = await ask(JSON.stringify({ instances }));
  expect(await response.json()).toEqual({ predictions: instances });
});

it.each([
  [
    '{"instances": [1, 2, "x", 3]}',
    'instances[2]',
    400,
    /^`instances\[2\]`: Expected `input` to be a number/,
  ],
  ['{"instances": ["x"]}', 'instances[0]', 400, /^`instances\[0\]`/],
  ['{"instances": [1, -2]}', 'instances[1]', 500, /^`instances\[1\]`: It is negative/],
  ['{"instances": [1, 2], "options": {"size": 1}}', 'size', 400, /^Unknown option `size`/],
  [`{"instances": [${Array(9).fill(1).join()}]}`, null, 400, /^9 sequences can never/],
  [
    '{"instances": [1, 9007199254740993]}',
    'instances[1]',
    400,
    /9007199254740991, beyond .*got `9007199254740993`/,
  ],
  ['{"input": {"a": [9007199254740993]}}', 'input.a[0]', 400, /`input\.a\[0\]`/],
  ['{"input": 9.007199254740993e15}', 'input', 400, /`9.007199254740993e15`/],
  ['{"instances": [0, 1e-400]}', null, 400, /`instances\[1\]` is a number that is too small/],
  ['{}', 'input', 400, /^Expected `input` to be a value, or null .*got `nothing`/],
  ['{"input": 1, "options": {"signal": 1}}', 'signal', 400, /close the connection/],
  ['{"input": "x"}', 'input', 400, /^Expected `input` to be a number/],
])('%s is refused by the place of what is wrong', async (body, param, status, message) => {
  const ask = await startNumbers();
  const response = await ask(body);
  expect([response.status, await response.json()]).toMatchObject([
    status,
    { error: { param, message: expect.stringMatching(message) } },
  ]);
});
