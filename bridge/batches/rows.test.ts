import { describe, expect, it } from 'vitest';

import { checkRows } from './rows.ts';
import { check, createInput, rowLine } from '../testing/batch-rows.ts';

const GOOD = rowLine('a');

async function problemsOf(...lines: readonly (string | Buffer)[]) {
  const content = Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')])));
  const { problems } = await check(await createInput(content));
  return problems.map(({ code, line, param }) => [code, line, param]);
}

describe('a file is refused, by line and code,', () => {
  it.each<readonly [string, readonly (string | Buffer)[], readonly unknown[]]>([
    ['that is empty', [], ['empty_file', 1, null]],
    ['that has blank lines alone', ['', '  '], ['empty_file', 1, null]],
    ['with a broken line', [GOOD, '{"custom_id": "b"'], ['invalid_json_line', 2, null]],
    ['with a list', [GOOD, '[1]'], ['invalid_json_line', 2, null]],
    ['in another encoding', [Buffer.from([0xff, 0xfe, 0x7b])], ['invalid_json_line', 1, null]],
    [
      'with a line that is nested too deeply',
      ['['.repeat(100) + ']'.repeat(100)],
      ['invalid_json_line', 1, null],
    ],
    ['with 10 MB in a row', [rowLine('b', { prompt: 'a'.repeat(1e7) }), GOOD], ['line_too_large', 1, null]],
    [
      'without a custom_id',
      ['{"url": "/v1/completions", "body": {}}'],
      ['missing_required_parameter', 1, 'custom_id'],
    ],
    ['with a custom_id that is a number', [GOOD.replace('"a"', '1')], ['invalid_custom_id', 1, 'custom_id']],
    [
      'with a field that a row has not',
      [GOOD, GOOD.replace('"a"', '"b","priority":1')],
      ['unknown_parameter', 2, 'priority'],
    ],
    ['with another method', [GOOD.replace('POST', 'GET')], ['invalid_method', 1, 'method']],
    [
      'with a body that is a text',
      ['{"custom_id":"a","url":"/v1/completions","body":"b"}'],
      ['invalid_body', 1, 'body'],
    ],
    [
      'with an endpoint that is not served',
      [GOOD, rowLine('b', {}, '/v1/images')],
      ['invalid_url', 2, 'url'],
    ],
    ['with a custom_id that is there twice', [GOOD, '', GOOD], ['duplicate_custom_id', 3, 'custom_id']],
  ])('%s', async (_, lines, problem) => {
    expect(await problemsOf(...lines)).toEqual([problem]);
  });

  it('with a text for a body', async () => {
    const path = await createInput('{"custom_id": "a", "url": "/v1/completions", "body": "x"}\n');
    const { problems } = await checkRows(path, ['/v1/completions'], new AbortController().signal);
    expect(problems).toMatchObject([{ message: expect.stringMatching(/^Expected `body` to be an object/) }]);
  });

  it('with a CSV: the first hundred lines are named', async () => {
    expect(await problemsOf(...Array.from({ length: 1000 }, () => 'a,b,c'))).toHaveLength(100);
  });

  it('with rows of another endpoint than its batch has', async () => {
    const path = await createInput(`${rowLine('a', {}, '/v1/embeddings')}\n`);
    const { problems } = await checkRows(path, ['/v1/completions'], new AbortController().signal);
    const message = 'Expected `url` to be /v1/completions, got `/v1/embeddings`.';
    expect(problems).toEqual([{ code: 'invalid_url', line: 1, message, param: 'url' }]);
  });
});

it('takes a byte order mark, CRLF, blank lines, and a last line without an end', async () => {
  const path = await createInput(`\u{FEFF}${rowLine('a')}\r\n\r\n${rowLine('é')}`);
  const { total, problems, indexOf, read } = await check(path);
  expect([total, problems, [...indexOf]]).toEqual([
    2,
    [],
    [
      ['a', 0],
      ['é', 1],
    ],
  ]);
  expect([1, 0].map((index) => read(index).row.customId)).toEqual(['é', 'a']);
});
