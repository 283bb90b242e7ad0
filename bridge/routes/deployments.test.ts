import { describe, expect, it } from 'vitest';

import { InvalidOptionError } from '../../src/batching/base/errors.ts';
import { answerAllWith, answerWith, mountBridge } from '../testing/test-support.ts';

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
  ['a hexadecimal number', '?number=0x10', '{}', 'to be a finite number, got `0x10`'],
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

const refuseTexts = (input: unknown): Promise<unknown> =>
  typeof input === 'string'
    ? Promise.reject(InvalidOptionError.of('input', 'a number', input))
    : Promise.resolve(input);

describe('a list of instances', () => {
  it('is answered in its order', async () => {
    const response = await askAll({ instances: [1, 2, 3] }, (input) => Promise.resolve(Number(input) * 2));
    expect(await response.json()).toEqual({ predictions: [2, 4, 6] });
  });

  it('fails with the first that fails, by its place', async () => {
    const response = await askAll({ instances: [1, 'b', 3] }, refuseTexts);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        error: {
          code: 'INVALID_OPTION',
          param: 'instances[1]',
          message: expect.stringMatching(/^`instances\[1\]`: /),
        },
      },
    ]);
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
