import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { HUB_CONFIGS } from '../../src/worker/testing/hub-configs.ts';
import { pathOf } from '../paths.ts';

const folder = await mkdtemp(join(tmpdir(), 'program-'));
const config = HUB_CONFIGS['HuggingFaceTB/SmolLM2-135M-Instruct'];

const CONFIGS: Readonly<Record<string, string>> = {
  good: JSON.stringify(config),
  damaged: '{"model_type":',
  nothing: 'null',
  refused: '{"model_type": "none"}',
};

beforeAll(async () => {
  for (const [name, text] of Object.entries(CONFIGS)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'config.json'), text);
  }
  await mkdir(join(folder, 'empty'));
  await writeFile(join(folder, 'model.gguf'), 'GGUF');
});
afterAll(() => rm(folder, { recursive: true }));

function write(...given: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [pathOf('tools/write.ts'), ...given], {
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE: pathOf('node_modules/.cache/node') },
  });
  return { status, stdout, errors: stderr.trimEnd().split('\n') };
}

it.each(['good', 'good/config.json'])('the program of a folder or its config.json is printed: %s', (name) => {
  expect(write('program', join(folder, name))).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('embed'),
  });
});

it.each([
  ['damaged', "isn't a JSON object"],
  ['nothing', "isn't a JSON object"],
  ['refused', 'model_type'],
  ['empty', 'config.json'],
  ['missing', 'There is no folder'],
  ['model.gguf', "a GGUF file isn't taken"],
])('what has no program ends with one line: %s', (name, message) => {
  const { status, errors } = write('program', join(folder, name));
  expect(status).toBe(1);
  expect(errors).toEqual([expect.stringContaining(message)]);
});

it.each([
  ['program', 'model'],
  ['reference', 'name'],
])('text from the command line never comes to a shell: %s', (kind) => {
  const file = join(folder, `made-${kind}`);
  const text = `$(touch ${file})`;
  write(...(kind === 'program' ? ['program', text] : [text]));
  expect(existsSync(file)).toBe(false);
});
