import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeCheckpoints } from '../../hub-server/checkpoints/write-checkpoints.ts';
import { memoryFile } from '../../../src/worker/models/checkpoint/checkpoint-files.ts';
import { openCheckpoint } from '../../../src/worker/models/checkpoint/open-checkpoint.ts';
import type { Dtype } from '../../../src/protocol/models.ts';
import { runCommand } from '../../../bridge/browser/commands.ts';
import type { Case } from './cases.ts';
import { recordRun, type RecordedRun } from './recorded-run.ts';
import { compareRun, type Figures } from './compare.ts';

/** A line of the table. */
export interface CaseResult extends Figures {
  readonly dtype: Dtype;
  readonly seconds: number;
}

const REFERENCE = new URL('reference.py', import.meta.url).pathname;
const REFERENCE_TIMEOUT_MS = 300_000;

/** @param folder Will be made. @param python Has NumPy. */
export async function runCase(
  testCase: Case,
  folder: string,
  python: string,
): Promise<readonly CaseResult[]> {
  const files = testCase.generate();
  writeCheckpoints(folder, new Map([['checkpoint', () => files]]));
  const checkpoint = await openCheckpoint({
    open(name) {
      const file = files.get(name);
      return Promise.resolve(file && memoryFile(name, file.read(0, file.size)));
    },
  });
  const results: CaseResult[] = [];
  for (const dtype of testCase.dtypes) {
    const startedAtMs = performance.now();
    const run = await recordRun(checkpoint, dtype);
    const expected = await referenceOf(run, folder, python);
    const figures = compareRun(run, expected);
    results.push({ dtype, seconds: (performance.now() - startedAtMs) / 1000, ...figures });
  }
  return results;
}

/** @returns The logits of all tokens of all texts, one after the other. */
async function referenceOf({ texts }: RecordedRun, folder: string, python: string): Promise<Float64Array> {
  const [sequences, target] = [join(folder, 'sequences.json'), join(folder, 'logits')];
  const list = texts.map(({ promptTokenIds, tokenIds }) => ({
    ids: [...promptTokenIds, ...tokenIds],
    first: promptTokenIds.length - 1,
  }));
  writeFileSync(sequences, JSON.stringify(list));
  const args = [REFERENCE, join(folder, 'checkpoint'), sequences, target];
  const { isSuccess } = await runCommand(python, args, { timeoutMs: REFERENCE_TIMEOUT_MS });
  if (!isSuccess) throw new Error('The float64 reference failed: see its error above.');
  return new Float64Array(new Uint8Array(readFileSync(target)).buffer);
}
