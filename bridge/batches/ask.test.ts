import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { all, check, createInput } from '../testing/batch-rows.ts';
import { createFolder, listen } from '../testing/test-support.ts';
import { askTarget } from './ask.ts';
import { ResultLog } from './result-log.ts';
import { runRows } from './run-rows.ts';

/** Objects of JavaScript would change the order of these keys and the spelling of these numbers. */
const NUMBERS = '{"10":1.0,"2":12345678901234567890,"1":-0.0,"a":1e+2}';

it.each([
  ['', `"metadata":${NUMBERS},"temperature":1.0`, `"metadata":${NUMBERS},"temperature":1.0,"seed":0`],
  ['', '"seed":12345678901234567890', '"seed":12345678901234567890'],
  ['', '"seed":null,"top_p":0.50', '"seed":0,"top_p":0.50'],
  ['m', '"max_tokens":1e2', '"model":"m","max_tokens":1e2,"seed":0'],
  ['m', '"max_tokens":1e2,"model":"own"', '"model":"own","max_tokens":1e2,"seed":0'],
])('a row and its answer are as they were written: model %j and %s', async (model, given, sent) => {
  const asked: string[] = [];
  const answer = `{"id":"x","metadata":${NUMBERS},"choices":[{"logprobs":{"top_logprobs":[{"b":-1.0,"7":-2e0}]}}]}`;
  const { url } = await listen((request, response) => {
    void text(request).then((body) => asked.push(body) && response.end(answer));
  });
  const input = await createInput(`{"custom_id":"a","url":"/v1/completions","body":{${given}}}\n`);
  const rows = await check(input);
  expect(rows.problems).toEqual([]);
  const results = await ResultLog.open(join(await createFolder({}), 'results.jsonl'), rows);
  const { signal } = new AbortController();
  const ask = askTarget({ url, ...(model !== '' && { model }) });
  await runRows({ rows, results, ask, numRowsFor: () => 1, scope: '', createdAt: 1, signal });
  const [line] = await all(results.inOrder());
  await results.close();
  expect(asked).toEqual([`{${sent}}`]);
  expect(line).toContain(`"body":${answer}},"error":null}`);
});
