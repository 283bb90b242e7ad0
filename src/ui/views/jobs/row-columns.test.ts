import { describe, expect, it, vi } from 'vitest';

import { DEFAULT_POLICY, type JobRow } from '../../../client/index.ts';
import { serverBackend } from '../../../protocol/openai/server-model.ts';
import {
  describeCharted,
  describeEstimate,
  describeJob,
  describeSpeed,
  describeTotals,
  formatLeft,
  rowsTogether,
} from './describe-job.ts';
import { columnsOf, widthsOf } from './row-columns.ts';

const numbers = { numPromptTokens: 3, numOutputTokens: 5 };
const schema = { type: 'object', properties: { product: {}, problem: {} } };
const job = { columns: ['id', 'text'], source: 'rows', options: {} } as const;

const rowWith = (
  input: object,
  result?: Omit<NonNullable<JobRow['result']>, keyof typeof numbers>,
): JobRow => ({
  index: 0,
  input: {},
  json: JSON.stringify(input),
  ...(result && { result: { ...result, ...numbers } }),
});
const rowOf = (text: string): JobRow => rowWith({ id: '1' }, { text });

const cellsOf = (info: Parameters<typeof columnsOf>[0], row: JobRow): Record<string, string> =>
  Object.fromEntries(columnsOf(info).map(({ title, textOf }) => [title, textOf(row)]));

describe('the columns of a job', () => {
  it('are as wide as their texts need, and have room for an answer before it comes', () => {
    const columns = columnsOf({ ...job, columns: ['id', 'text', 'Preis (€)', 'a', 'b'] });
    const rows = [rowWith({ id: '1', text: 'x'.repeat(500), 'Preis (€)': '12' })];
    const [id = 0, text = 0, price = 0] = widthsOf(columns, rows);
    expect(columns.map(({ title }) => title)).toEqual(['id', 'text', 'Preis (€)', 'a', 'b', 'Answer']);
    expect([id < price, price < text, text]).toEqual([true, true, 12]);
    expect(widthsOf(columns, rows).at(-1)).toBe(9);
  });

  it('are the file’s first, then the answer', () => {
    const row = rowWith({ id: '1', text: 'one' }, { text: 'good' });
    expect(cellsOf(job, row)).toEqual({ id: '1', text: 'one', Answer: 'good' });
    expect(cellsOf(job, rowWith({ unreadable: 'x' }))).toEqual({ id: '', text: '', Answer: '' });
  });

  it('give the file’s fault of a row that can’t be read, not what the job made of it', () => {
    const error = { code: 'JOB_COLUMN_MISSING', message: 'The template names {{text}}.' };
    const row = rowWith({ 'unreadable, line 8': 'The quotes in line 8 don’t match.' }, { error });
    expect(cellsOf(job, row)).toMatchObject({ Answer: 'The quotes in line 8 don’t match.' });
    expect(cellsOf(job, rowWith({ id: '1' }, { error }))).toMatchObject({
      Answer: 'The template names {{text}}. JOB_COLUMN_MISSING',
    });
  });

  it('are the properties of a schema, empty where the answer was cut off', () => {
    const info = { ...job, options: { responseFormat: { type: 'json_schema', schema } } };
    expect(cellsOf(info, rowOf('{"product":"kettle","problem":null}'))).toMatchObject({
      product: 'kettle',
      problem: '',
    });
    expect(cellsOf(info, rowOf('{"product":"ket'))).toMatchObject({ product: '', problem: '' });
  });

  it('say how likely a choice is, where that was asked for', () => {
    const responseFormat = { type: 'choice', choices: ['good', 'bad'] };
    const row = rowWith({ id: '1' }, { text: 'bad', choiceProbabilities: [0.125, 0.875] });
    const info = { ...job, options: { responseFormat, logprobs: true } };
    expect(cellsOf(info, row)).toMatchObject({ Answer: 'bad', Probability: '0.875' });
    expect(cellsOf({ ...job, options: { responseFormat } }, row)).not.toHaveProperty('Probability');
  });

  it('say why a row has no answer', () => {
    const row = rowWith({}, { error: { code: 'PROMPT_TOO_LONG', message: 'Too long.' } });
    expect(cellsOf(job, row)['Answer']).toBe('Too long. PROMPT_TOO_LONG');
    const info = { ...job, options: { responseFormat: { type: 'json_schema', schema } } };
    expect(cellsOf(info, row)['problem']).toBe('Too long. PROMPT_TOO_LONG');
  });

  it('have the beginning of a vector, and of a request', () => {
    const embedded = rowWith({}, { embedding: [0.1, 0.2, 0.3, 0.4, 0.5] });
    expect(cellsOf(job, embedded)['Answer']).toBe('5 numbers: 0.100, 0.200, 0.300, 0.400, …');
    const request = rowWith({ custom_id: 'a', body: { prompt: 'x' } });
    expect(cellsOf({ ...job, columns: [], source: 'requests' }, request)).toEqual({
      custom_id: 'a',
      body: '{"prompt":"x"}',
      Answer: '',
    });
  });
});

describe('the line of a job', () => {
  it.each([
    ['running', { total: 5000, finished: 1201, failed: 3 }, 'Running: 1,204 of 5,000 rows, 3 failed'],
    ['finished', { total: 1, finished: 1, failed: 0 }, 'Finished: 1 row'],
    ['paused', { total: 9, finished: 0, failed: 0 }, 'Paused: 0 of 9 rows'],
  ] as const)('tells how far it is: %s', (state, counts, text) => {
    expect(describeJob({ state, counts }, false)).toBe(text);
  });

  it('tells what it waits for, and that its last rows end', () => {
    const counts = { total: 9, finished: 2, failed: 0 };
    expect(describeJob({ state: 'queued', counts }, true)).toBe('Waits for the model: 2 of 9 rows');
    expect(describeJob({ state: 'queued', counts }, false)).toBe('Waits for the job before it: 2 of 9 rows');
    expect(describeJob({ state: 'running', counts }, true, true)).toBe('Pausing: 2 of 9 rows');
  });

  it('tells how fast it is, and the time left once that is known', () => {
    expect(describeSpeed({})).toBeUndefined();
    expect(describeSpeed({ progress: { rowsPerSecond: 12.34, tokensPerSecond: 341 } })).toBe(
      '12.3 rows/s · 341 tokens/s',
    );
    const progress = { rowsPerSecond: 0.5, tokensPerSecond: 20, remainingMs: 90_000 };
    expect(describeSpeed({ progress })).toBe('0.50 rows/s · 20.0 tokens/s · about 90 s left');
    expect([1, 3_252_000, 36_000_000].map(formatLeft)).toEqual(['1 s', '54 min', '10.0 h']);
  });

  it('tells what the rows have taken, and where some of it isn’t known', () => {
    const counts = { total: 200, finished: 199, failed: 1 };
    const totals = { durationMs: 34_000, numRows: 200, numPromptTokens: 12_300, numOutputTokens: 5400 };
    expect(describeTotals({ counts })).toBeUndefined();
    expect(describeTotals({ counts, totals })).toBe('34 s · 5.88 rows/s · 12,300 tokens read, 5,400 written');
    expect(describeTotals({ counts, totals: { ...totals, numRows: 100, numOutputTokens: 0 } })).toBe(
      'at least 34 s · 2.94 rows/s · 12,300 tokens read',
    );
    const took = (durationMs: number): unknown =>
      describeTotals({ counts, totals: { ...totals, durationMs } })?.split(' · ', 1)[0];
    expect([1140, 154_300, 7_260_000].map(took)).toEqual(['1.1 s', '2 min 34 s', '2 h 1 min']);
  });

  it('tells what all rows may take, by the first ones: between as many at a time, and as many at a time as there is room for', () => {
    const tried = { numRows: 3, durationMs: 3000, numPromptTokens: 186, numOutputTokens: 48 };
    expect(describeEstimate(tried, 500, 8)).toBe(
      'Estimate for 500 rows: 3 min to 8 min, about 31K tokens read and 8K written.',
    );
    expect(describeEstimate(tried, 60, 1)).toBe(
      'Estimate for 60 rows: about 60 s, about 3.7K tokens read and 960 written.',
    );
  });

  it('reckons at a server with the rows that it is asked for together, whatever the policy of the page', () => {
    const status = { policy: { ...DEFAULT_POLICY, maxBatchSize: 8 }, backend: serverBackend('https://gpu') };
    expect(rowsTogether(status, 'https://page.test/')).toBe(64);
    vi.stubGlobal('document', {});
    expect(rowsTogether(status, 'http://localhost:8000/')).toBe(4);
    const { policy } = status;
    expect(rowsTogether({ policy }, 'https://page.test/')).toBe(8);
    expect(rowsTogether({ policy: { ...policy, policy: 'off' } }, 'https://page.test/')).toBe(1);
  });
});

it('says what the charts leave out of a job that is too fast to be read whole', () => {
  expect(describeCharted({ isPart: true })).toContain('cover the newest, 500 at most');
  expect([describeCharted({}), describeCharted(undefined)]).toEqual([undefined, undefined]);
});
