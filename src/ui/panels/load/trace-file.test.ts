import { expect, it } from 'vitest';

import { createTrace } from './create-trace.ts';
import { DEFAULT_LOAD_FORM, parseLoadForm } from './load-form.ts';
import { parseTraceFile } from './trace-file.ts';

it('reads a trace, by itself or in an export, as it was written', () => {
  const trace = createTrace(parseLoadForm({ ...DEFAULT_LOAD_FORM, arrivals: 'poisson' }, 8, true).scenario);
  expect(parseTraceFile(JSON.stringify(trace))).toEqual(trace);
  expect(parseTraceFile(JSON.stringify({ trace, trials: [] }))).toEqual(trace);
});

it('puts requests in the order of their times', () => {
  const request = { prompt: 'a', maxNewTokens: 1, seed: 0 };
  const text = JSON.stringify({
    requests: [
      { ...request, atMs: 5 },
      { ...request, atMs: 1 },
    ],
  });
  expect(parseTraceFile(text).requests.map(({ atMs }) => atMs)).toEqual([1, 5]);
});

it.each(['', '{}', '{"requests":[]}', '{"requests":[{"atMs":-1,"prompt":"a","maxNewTokens":1,"seed":0}]}'])(
  'refuses what is no trace (%s)',
  (text) => {
    expect(() => parseTraceFile(text)).toThrow('The file holds no trace');
  },
);
