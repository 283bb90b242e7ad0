import * as v from 'valibot';

import { MAX_REQUESTS } from './scenario.ts';
import type { Trace } from './scenario.ts';

const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const positiveInteger = v.pipe(v.number(), v.integer(), v.minValue(1));

const traceSchema: v.GenericSchema<unknown, Trace> = v.object({
  requests: v.pipe(
    v.array(
      v.object({
        atMs: number,
        prompt: v.pipe(v.string(), v.minLength(1), v.maxLength(100_000)),
        maxNewTokens: positiveInteger,
        seed: v.pipe(number, v.integer(), v.maxValue(2 ** 32 - 1)),
      }),
    ),
    v.minLength(1),
    v.maxLength(MAX_REQUESTS),
  ),
  closedLoop: v.exactOptional(v.object({ numUsers: positiveInteger, durationSeconds: number })),
});

/** An export of this page, or a bare trace. */
const fileSchema = v.union([
  v.pipe(
    v.object({ trace: traceSchema }),
    v.transform(({ trace }) => trace),
  ),
  traceSchema,
]);

/** @throws Error that says what is wrong with the file. */
export function parseTraceFile(text: string): Trace {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), fileSchema), text);
  if (!result.success) {
    throw new Error('The file holds no trace: choose one that was exported here, as JSON.');
  }
  const { requests } = result.output;
  return { ...result.output, requests: requests.toSorted((a, b) => a.atMs - b.atMs) };
}
