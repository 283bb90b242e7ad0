import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { createFolder } from '../testing/test-support.ts';
import { ResultLog } from './result-log.ts';
import type { CheckedRows } from './rows.ts';
import { runRows, type AskRow } from './run-rows.ts';
import { all, check, createInput, echo, rowLine } from '../testing/batch-rows.ts';
import { runsOf } from '../../src/batching/testing/whole-run.ts';

const NUM_ROWS = 40;

/** A run that is killed after so many answers. */
async function runSome(rows: CheckedRows, path: string, numAnswers: number): Promise<void> {
  const killed = new AbortController();
  const results = await ResultLog.open(path, rows);
  let numSeen = 0;
  const ask: AskRow = async (row, request) => {
    const answer = await echo(row, request);
    numSeen += 1;
    if (numSeen > numAnswers) killed.abort();
    return answer;
  };
  const run = { rows, results, ask, numRowsFor: () => 6, scope: '', createdAt: 1 };
  await runRows({ ...run, signal: killed.signal }).catch(() => undefined);
  await results.close();
}

async function outputOf(path: string, rows: CheckedRows) {
  const results = await ResultLog.open(path, rows);
  const lines = (await all(results.inOrder())).join('').trimEnd().split('\n');
  await results.close();
  return { lines, counts: results.counts };
}

/** Each kill leaves a part of a line behind, cuts the end of the file, or damages it. */
const kill = fc.record({
  numResults: fc.integer({ min: 0, max: 15 }),
  numCut: fc.integer({ min: 0, max: 300 }),
  tail: fc.constantFrom('', '{"id":"batch_req_', '\u0000\u0000\u0000\n', 'é'),
});

it(
  'after kills at any byte, every row has one result, right and in order',
  { timeout: 600_000 },
  async () => {
    const lines = Array.from({ length: NUM_ROWS }, (_, index) =>
      rowLine(`é${index}`, { fail: index % 9 === 4 }),
    );
    const input = await createInput(`${lines.join('\n')}\n`);
    const rows = await check(input);
    const folder = await createFolder({});
    const undisturbed = join(folder, 'undisturbed.jsonl');
    await runSome(rows, undisturbed, Infinity);
    const expected = await outputOf(undisturbed, rows);
    expect(expected.lines.map((line): unknown => JSON.parse(line).custom_id)).toEqual([
      ...rows.indexOf.keys(),
    ]);
    expect(expected.counts).toEqual({ completed: 36, failed: 4, inputTokens: 72, outputTokens: 108 });
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 1, maxLength: 5 }), async (kills) => {
        const path = join(folder, 'killed.jsonl');
        await writeFile(path, '');
        for (const { numResults, numCut, tail } of kills) {
          await runSome(rows, path, numResults);
          const { length } = await readFile(path);
          await truncate(path, Math.max(0, length - numCut));
          await appendFile(path, tail);
        }
        await runSome(rows, path, Infinity);
        expect(await outputOf(path, rows)).toEqual(expected);
      }),
      { numRuns: runsOf({ whole: 1000, part: 30 }) },
    );
  },
);

it('refuses results of another input, and leaves them as they are', async () => {
  const input = await createInput(`${rowLine('a')}\n`);
  const other = '{"custom_id":"b","response":{"body":{}},"error":null}\n';
  const path = await createInput(other);
  await expect(ResultLog.open(path, await check(input))).rejects.toThrow(
    'The result of `b` is of another input.',
  );
  expect(await readFile(path, 'utf8')).toBe(other);
});
