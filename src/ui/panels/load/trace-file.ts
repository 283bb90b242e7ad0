import * as v from 'valibot';

import { traceSchema, type Trace } from './scenario.ts';

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
