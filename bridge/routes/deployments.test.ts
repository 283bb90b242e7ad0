import { expect, it } from 'vitest';

import { answerWith, mountBridge } from '../testing/test-support.ts';

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
  ['another field', '', '{"num": 3}', 'Unknown option `num`'],
])('POST /adder refuses %s in words', async (_, query, body, message) => {
  const response = await post((await startAdder()) + query, body, 'application/json');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
});
