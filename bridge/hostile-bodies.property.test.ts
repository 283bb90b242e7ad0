import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { mountBridge } from './testing/test-support.ts';
import { runsOf } from '../src/batching/testing/whole-run.ts';

/** Longer than any answer that quotes none of the request: the list of all options is the longest. */
const MAX_ANSWER_LENGTH = 2500;

const HUGE = 'ab"`\\\n\u{1F600}'.repeat(4000);

/** Known names, so that values are reached, and names that are a message of their own. */
const NAMES =
  'text prompt messages input instructions reasoning include options features number model tokens role content type stream stream_options stop n priority best_of';
const name = fc.constantFrom(...NAMES.split(' '), HUGE);
const leaf = fc.constantFrom<unknown>(HUGE, `${HUGE}x`, 'user', 1, -1, 1.5, true, null, [], {});
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const body = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });

const PATHS =
  '/ /adder /house-price /deployments/adder /v1/completions /v1/chat/completions /v1/responses /tokenize /detokenize';

it('an answer to a hostile body stays short, whatever the body says', async () => {
  const { url } = await mountBridge();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PATHS.split(' ')),
      fc.boolean(),
      body,
      async (path, isForm, fields) => {
        const answer = await fetch(url + path, {
          method: 'POST',
          ...(isForm
            ? { body: formOf(fields) }
            : { body: JSON.stringify(fields), headers: { 'Content-Type': 'application/json' } }),
        });
        const text = await answer.text();
        expect(text.length).toBeLessThan(MAX_ANSWER_LENGTH);
      },
    ),
    { numRuns: runsOf({ whole: 400, part: 100 }) },
  );
});

it.each([
  [`/v1/${'a'.repeat(8000)}`, {}],
  ['/adder?number=1', { 'x-request-timeout-seconds': 'a'.repeat(8000) }],
])('an answer to a long path or header stays short', async (path, headers) => {
  const { url } = await mountBridge();
  const answer = await fetch(url + path, { method: 'POST', headers });
  expect((await answer.text()).length).toBeLessThan(MAX_ANSWER_LENGTH);
});

function formOf(fields: Readonly<Record<string, unknown>>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).map(([key, given]): [string, string] => [key, JSON.stringify(given)]),
  );
}
