import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { rowLine, rowLines, startEchoServer } from './testing/batch-rows.ts';
import { createFolder } from './testing/test-support.ts';
import { FILE_CONTENT, FILE_TEXTS } from '../src/jobs/testing/batch-file.ts';
import { runBatch } from './run-batch.ts';
import { parseRunBatch } from './cli/run-batch-options.ts';

let folder: string;

beforeEach(async () => {
  folder = await createFolder({});
});

/** The real command. The results go to `out.jsonl`. */
function start(...options: readonly string[]) {
  const files = ['-i', join(folder, 'in.jsonl'), '--output-file', join(folder, 'out.jsonl')];
  const child = spawn(process.execPath, ['bridge/main.js', 'run-batch', ...files, ...options]);
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, errors: text(child.stderr), exited: once(child, 'exit') };
}

async function run(...options: readonly string[]) {
  const { errors, exited } = start(...options);
  const [status] = await exited;
  return { errors: await errors, status };
}

const output = () => readFile(join(folder, 'out.jsonl'), 'utf8');
const numResults = async (): Promise<number> => (await output().catch(() => '')).split('\n').length - 1;

const textsOf = (lines: string): unknown[] =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).response.body.choices[0].text);

describe('run-batch', () => {
  it(
    'has the texts of the page and of `/v1/batches`; killed three times and resumed, it writes the same bytes',
    { timeout: 600_000 },
    async () => {
      const { url, state } = await startEchoServer();
      await writeFile(join(folder, 'in.jsonl'), FILE_CONTENT);
      expect(await run('--upstream', url)).toMatchObject({ status: 0 });
      const undisturbed = await output();
      expect(textsOf(undisturbed)).toEqual(FILE_TEXTS);
      await writeFile(join(folder, 'out.jsonl'), '');
      for (const numWanted of [20, 90, 200]) {
        state.hold = new Promise(() => undefined);
        state.numFree = state.prompts.length + numWanted - (await numResults());
        const { child, exited } = start('--upstream', url, '--resume');
        await vi.waitUntil(async () => (await numResults()) >= numWanted, { timeout: 60_000, interval: 1 });
        child.kill('SIGKILL');
        await exited;
        expect(await numResults()).toBe(numWanted);
      }
      state.hold = undefined;
      const { errors, status } = await run('--upstream', url, '--resume');
      expect([await output(), status]).toEqual([undisturbed, 0]);
      expect(errors).toMatch(/answer \[#.*\] 100 % of 300 rows|300 of 300 rows are answered, 0 failed/);
    },
  );

  it('ends with 1 if a row fails, and has the results of the others', async () => {
    const { url } = await startEchoServer();
    const lines = [rowLine('a'), rowLine('b', { prompt: 'b'.repeat(2000) }), rowLine('c', { stream: true })];
    await writeFile(join(folder, 'in.jsonl'), lines.join('\n'));
    const { errors, status } = await run('--upstream', url, '--model', 'echo');
    expect([status, errors]).toEqual([1, expect.stringContaining('1 of 3 rows are answered, 2 failed')]);
    const results: unknown[] = (await output())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(results).toMatchObject([
      { custom_id: 'a', response: { status_code: 200, body: { model: 'echo' } }, error: null },
      { custom_id: 'b', response: { status_code: 400 }, error: { code: 'context_length_exceeded' } },
      { custom_id: 'c', response: { status_code: 400 }, error: { code: 'INVALID_OPTION' } },
    ]);
  });

  it('stopped by a signal says how to go on', async () => {
    const { url, state } = await startEchoServer();
    state.hold = new Promise(() => undefined);
    await writeFile(join(folder, 'in.jsonl'), rowLines(3));
    const { child, errors, exited } = start('--upstream', url);
    await vi.waitUntil(() => state.prompts.length === 3, { timeout: 60_000 });
    child.kill('SIGINT');
    expect(await exited).toEqual([1, null]);
    expect(await errors).toContain('0 of 3 rows are answered, 0 failed');
    expect(await errors).toContain('Pass --resume to go on.');
  });

  it.each<readonly [string, string, string, string]>([
    [
      'broken lines, which it names',
      `${rowLine('a')}\n{\n`,
      '',
      "in.jsonl:2: Couldn't read the line as JSON: expected a name in double quotes or `}` at column 2, got the end. (invalid_json_line)",
    ],
    ['results without --resume', rowLine('a'), '{}\n', 'pass --resume to go on'],
  ])('refuses %s', async (_, input, before, message) => {
    await writeFile(join(folder, 'in.jsonl'), input);
    await writeFile(join(folder, 'out.jsonl'), before);
    const { errors, status } = await run('--upstream', 'http://127.0.0.1:9');
    expect([errors, status, await output()]).toEqual([expect.stringContaining(message), 1, before]);
  });

  it('refuses a target that is not there', async () => {
    await writeFile(join(folder, 'in.jsonl'), rowLine('a'));
    const refused = await run('--upstream', 'http://127.0.0.1:9');
    expect(refused).toMatchObject({ status: 1, errors: expect.stringContaining("Couldn't reach") });
  });
});

describe('runBatch', () => {
  const NO_FILE = 'there is no such file or folder';

  it.each([
    ['none.jsonl', 'out.jsonl', `Couldn't read F/none.jsonl: ${NO_FILE}. Pass --input-file with`],
    ['', 'out.jsonl', "Couldn't read F: it is a folder. Pass --input-file with"],
    ['in.jsonl/in.jsonl', 'out.jsonl', "Couldn't read F/in.jsonl/in.jsonl: its path goes through a file."],
    ['../../dev/null', 'out.jsonl', "Couldn't read /dev/null: it is no file. Pass --input-file with"],
    ['in.jsonl', '', "Couldn't write F: it is a folder. Pass --output-file with"],
    ['in.jsonl', 'none/out.jsonl', `Couldn't write F/none/out.jsonl: ${NO_FILE}. Pass --output-file with`],
    ['in.jsonl', './in.jsonl', 'F/in.jsonl is the input file: pass another --output-file.'],
  ])('says in its own words why it can not read %j, or write %j', async (input, results, message) => {
    const lines = rowLine('a');
    await writeFile(join(folder, 'in.jsonl'), lines);
    const paths = ['-i', join(folder, input), '-o', join(folder, results)];
    const running = runBatch([...paths, '--upstream', 'http://127.0.0.1:9']);
    await expect(running).rejects.toThrow(message.replaceAll('F', folder));
    expect(await readFile(join(folder, 'in.jsonl'), 'utf8')).toBe(lines);
  });
});

describe('parseRunBatch', () => {
  it("takes vLLM's flags in any order, and the server's", () => {
    expect(
      parseRunBatch([
        '--model',
        'a/b',
        '-i',
        'in',
        '--dtype=q8',
        '-oout',
        '--resume',
        '--max-batch-size',
        '4',
      ]),
    ).toMatchObject({
      input: 'in',
      output: 'out',
      isResumed: true,
      server: { model: 'a/b', dtype: 'q8', isHeadless: true, port: 0, knobs: { maxBatchSize: 4 } },
    });
  });

  it('needs no browser beside a target, whose model it names', () => {
    const args = ['-i', 'in', '-o', 'out', '--model', 'm', '--upstream', 'http://gpu:8000/v1'];
    expect(parseRunBatch(args)?.server).toMatchObject({
      isHeadless: false,
      target: { url: 'http://gpu:8000', model: 'm' },
    });
  });

  it.each([
    [[]],
    [['-i', 'in']],
    [['-i', 'in', '-o', 'out', '--colour']],
    [['-i', 'a', '-i', 'b', '-o', 'out']],
  ])('refuses %j', (args) => {
    expect(() => parseRunBatch(args)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });
});
