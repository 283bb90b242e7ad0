import { describe, expect, it } from 'vitest';

import tables from '../../../tools/reference/fixtures/tables.json' with { type: 'json' };
import { isLinear } from '../../platform/testing/growth.ts';
import { readCells, writeCells } from '../../protocol/job-cells.ts';
import type { JobInfo, JobResult } from '../../protocol/jobs.ts';
import type { CsvOptions, JobRow } from './types.ts';
import { jobInfo } from '../testing/job-info.ts';
import { createWriter } from './write-rows.ts';

const NUMBERS = { numPromptTokens: 1, numOutputTokens: 1 };
const infoOf = (columns: readonly string[], given: Partial<JobInfo> = {}): JobInfo =>
  jobInfo({ columns, ...given });
const rowOf = (json: string, result?: Partial<JobResult>): JobRow => ({
  index: 0,
  input: {},
  json,
  ...(result && { result: { ...NUMBERS, ...result } }),
});
const textRow = (columns: readonly string[], cells: readonly string[]): string =>
  writeCells(columns.map((name, at) => [name, JSON.stringify(cells[at] ?? '')]));

const TOKENS = [{ tokenId: 7, text: 'yes', logprob: -0.5, top: [{ tokenId: 8, text: 'no', logprob: -1 }] }];

const RAW: CsvOptions = { escapeFormulas: false };

function csvOf(info: JobInfo, rows: readonly JobRow[], options: CsvOptions = RAW): string {
  const writer = createWriter(info, 'csv', options);
  return writer.head + rows.map((row) => writer.line(row)).join('');
}

const jsonlOf = (info: JobInfo, row: JobRow): string => createWriter(info, 'jsonl', {}).line(row);

describe('CSV', () => {
  it('is what Python’s csv writes of the same cells, in columns of any name', () => {
    for (const { columns, rows, text } of tables.exports) {
      const written = rows.map((cells) =>
        rowOf(textRow(columns, cells), { text: cells[columns.length] ?? '' }),
      );
      expect(csvOf(infoOf(columns), written)).toBe(text);
    }
  });

  it('has numbers as they were written, nothing for null, and other values as JSON', () => {
    const row = rowOf('{"b":1413617112501850121,"a":1.10,"c":null,"d":[1e400],"e":true}', { text: '2.0' });
    expect(csvOf(infoOf(['b', 'a', 'c', 'd', 'e']), [row])).toBe(
      'b,a,c,d,e,result,error\r\n1413617112501850121,1.10,,[1e400],true,2.0,\r\n',
    );
  });

  it('gives its own columns names that are free', () => {
    const schema = { properties: { constructor: {}, result: {}, error: {} } };
    const info = infoOf(['result', 'result_', '__proto__'], { options: { responseFormat: { schema } } });
    const row = rowOf('{"result":"a","result_":"b","__proto__":"c"}', {
      text: '{"constructor":1.0,"result":"x"}',
    });
    expect(csvOf(info, [row])).toBe(
      'result,result_,__proto__,result__,constructor,result___,error,error_\r\na,b,c,' +
        '"{""constructor"":1.0,""result"":""x""}",1.0,x,,\r\n',
    );
  });

  const CELLS = ['=1+1', '+1', '-1.5', '-1e3', '+x', '-x', '@SUM(1)', '\t=1', '\r', 'a=1', '.5', '-', '-1-1'];
  it.each([
    [
      {},
      ["'=1+1", '+1', '-1.5', '-1e3', "'+x", "'-x", "'@SUM(1)", "'\t=1", `"'\r"`, 'a=1', '.5', "'-", "'-1-1"],
    ],
    [RAW, ['=1+1', '+1', '-1.5', '-1e3', '+x', '-x', '@SUM(1)', '\t=1', '"\r"', 'a=1', '.5', '-', '-1-1']],
  ])('has formulas as texts by default, and numbers as numbers: %o', (options, written) => {
    const rows = CELLS.map((cell) => rowOf(JSON.stringify({ a: 'x' }), { text: cell }));
    const lines = csvOf(infoOf(['a']), rows, options)
      .split('\r\n')
      .slice(1, -1);
    expect(lines.map((line) => line.slice(2, -1))).toEqual(written);
    const inColumns = csvOf(infoOf(['=x']), [], options);
    expect(inColumns).toBe(`${options === RAW ? '' : "'"}=x,result,error\r\n`);
  });

  it('begins with a byte order mark when asked', () => {
    expect(csvOf(infoOf(['a']), [], { byteOrderMark: true })).toBe('\uFEFFa,result,error\r\n');
  });

  it('has the probabilities of a choice, and the calls of tools', () => {
    const responseFormat = { type: 'choice', choices: ['yes', 'no'] };
    const info = infoOf(['a'], { options: { logprobs: 0, tools: [], responseFormat } });
    const toolCalls = [{ id: '1', name: 'f', arguments: '{}' }];
    const row = rowOf('{"a":"x"}', { text: 'yes', choiceProbabilities: [0.75, 0.25], toolCalls });
    expect(csvOf(info, [row])).toBe(
      'a,result,choiceProbabilities,toolCalls,error\r\nx,yes,"[0.75,0.25]","[{""id"":""1"",""name"":""f"",""arguments"":""{}""}]",\r\n',
    );
  });

  it('has the tokens of a text that is no choice', () => {
    const row = rowOf('{"a":"x"}', { text: 'yes', logprobs: TOKENS });
    expect(csvOf(infoOf(['a'], { options: { logprobs: 1 } }), [row])).toBe(
      `a,result,logprobs,error\r\nx,yes,"${JSON.stringify(TOKENS).replaceAll('"', '""')}",\r\n`,
    );
    expect(jsonlOf(infoOf(['a']), row)).toBe(
      `{"a":"x","result":"yes","logprobs":${JSON.stringify(TOKENS)}}\n`,
    );
  });

  it('takes time in proportion to its cells', async () => {
    for (const part of ['1', '1.', '-', '"', '\r', 'e+'])
      expect(
        await isLinear(2 ** 20, (length) =>
          csvOf(infoOf(['a']), [rowOf('{}', { text: `-1${part.repeat(length)}x` })], {}),
        ),
      ).toBe(true);
  });
});

describe('JSONL', () => {
  it('has the row as it was given, and ours beside columns of the same name', () => {
    const json = '{"result":"mine","10":1.10,"2":2.0,"__proto__":{"a":1413617112501850121}}';
    expect(jsonlOf(infoOf(['result']), rowOf(json, { text: 'a', choiceProbabilities: [1] }))).toBe(
      `${json.slice(0, -1)},"result_":"a","choiceProbabilities":[1]}\n`,
    );
    const error = { code: 'X', message: 'y' };
    expect(jsonlOf(infoOf(['error']), rowOf('{"error":"mine","error_":1}', { error }))).toBe(
      '{"error":"mine","error_":1,"error__":{"code":"X","message":"y"}}\n',
    );
  });

  it('keeps the cells that Python has read, and leaves rows out that are not done', () => {
    for (const { text } of tables.jsonRows) {
      const line = jsonlOf(infoOf([]), rowOf(text, { text: 'new' }));
      const cells = [...(readCells(line) ?? [])];
      expect(cells.slice(0, -1)).toEqual([...(readCells(text) ?? [])]);
      expect(cells.at(-1)?.[1]).toBe('"new"');
    }
    expect(jsonlOf(infoOf(['a']), rowOf('{"a":1}'))).toBe('');
  });

  it.each([
    [
      '/v1/completions',
      {
        tokens: ['yes'],
        token_logprobs: [-0.5],
        top_logprobs: [{ yes: -0.5, no: -1 }],
        text_offset: [0],
      },
    ],
    [
      '/v1/chat/completions',
      {
        content: [
          {
            token: 'yes',
            logprob: -0.5,
            bytes: [121, 101, 115],
            top_logprobs: [{ token: 'no', logprob: -1, bytes: [110, 111] }],
          },
        ],
        refusal: null,
      },
    ],
  ])('has the logprobs of a line for %s as OpenAI writes them', (url, logprobs) => {
    const choices = [{ text: 'yes', finishReason: 'stop', logprobs: TOKENS } as const];
    const row = rowOf(JSON.stringify({ custom_id: 'a', url }), { text: 'yes', choices });
    expect(JSON.parse(jsonlOf(infoOf([], { source: 'requests' }), row))).toMatchObject({
      response: { body: { choices: [{ logprobs }] } },
    });
  });

  it.each([
    ['{"a":1}', 'stop', 'tool_calls'],
    ['', 'stop', 'tool_calls'],
    ['{"a":', 'stop', 'stop'],
    ['{"a":', 'length', 'length'],
    ['{"a":1}', 'length', 'length'],
  ] as const)('ends a chat with the call %s that ended by %s as %s', (json, finishReason, reason) => {
    const toolCalls = [{ id: '1', name: 'f', arguments: json }];
    const answer = { reasoning: '', content: '', toolCalls };
    const row = rowOf('{"custom_id":"a","url":"/v1/chat/completions"}', {
      choices: [{ text: '', finishReason, answer }],
    });
    expect(JSON.parse(jsonlOf(infoOf([], { source: 'requests' }), row))).toMatchObject({
      response: { body: { choices: [{ finish_reason: reason }] } },
    });
  });

  it('says where tokens begin behind characters that are split over several', () => {
    const texts = ['a', '\u{FFFD}', '\u{FFFD}', '', '!', ' \u{FFFD}', '\u{FFFD}', 'b'];
    const logprobs = texts.map((own, tokenId) => ({ tokenId, text: own, logprob: -1, top: [] }));
    const text = 'a\u{1F600}! \u{1F601}b';
    const row = rowOf('{"custom_id":"a","url":"/v1/completions"}', {
      choices: [{ text, finishReason: 'stop', logprobs }],
    });
    expect(JSON.parse(jsonlOf(infoOf([], { source: 'requests' }), row))).toMatchObject({
      response: { body: { choices: [{ logprobs: { text_offset: [0, 1, 1, 1, 2, 3, 4, 5] } }] } },
    });
  });
});
