import { readFile, writeFile } from 'node:fs/promises';

import { defaultText } from '../../src/batching/generation/option-text.ts';
import {
  checkOf,
  httpNameOf,
  OPTION_NAMES,
  optionOf,
  type OptionName,
} from '../../src/batching/generation/options.ts';

// The table of generation options, as docs/http-api.md shows it and as deploy/ray-serve reads it. `--write` brings both up to date.

const TABLE = new URL('../../src/batching/generation/options.ts', import.meta.url);
const DOCS = new URL('../../docs/http-api.md', import.meta.url);
const RAY = new URL('../../deploy/ray-serve/options.json', import.meta.url);

const START = '<!-- options -->';
const END = '<!-- /options -->';

const source = await readFile(TABLE, 'utf8');
const docs = await readFile(DOCS, 'utf8');
const [before, after] = [docs.indexOf(START) + START.length, docs.indexOf(END)];
if (after < before) throw new Error(`docs/http-api.md has no place ${START} … ${END}`);
const upToDate = `${docs.slice(0, before)}\n\n${docsTable()}\n\n${docs.slice(after)}`;
const rayOptions = `${JSON.stringify(optionsByHttpName(), undefined, 2)}\n`;

if (process.argv.includes('--write')) {
  await writeFile(DOCS, upToDate);
  await writeFile(RAY, rayOptions);
} else if (
  normalize(docs) === normalize(upToDate) &&
  normalize(await readFile(RAY, 'utf8')) === normalize(rayOptions)
) {
  console.log('Generation options: the docs and the Ray deployment have those of options.ts.');
} else {
  console.error(
    'Generation options differ from options.ts. Run `npm run check:options -- --write`, then `npm run fix`.',
  );
  process.exitCode = 1;
}

function docsTable(): string {
  const rows = OPTION_NAMES.map((name) => {
    const option = optionOf(name);
    const httpName = httpNameOf(option);
    const inCompletions =
      httpName === undefined ? '' : `\`${httpName}\`${option.vllm === undefined ? '' : ' (vLLM)'}`;
    const value =
      defaultText(option.default) + (option.generationConfig === undefined ? '' : ", or the model's");
    return `| \`${name}\` | ${inCompletions} | ${checkOf(option).expected} | ${value} | ${meaningOf(name)} |`;
  });
  return [
    '| option | in `/v1/completions` | value | default | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The comment above the option. */
function meaningOf(name: OptionName): string {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+${name}: \\{`).exec(source)?.[1];
  if (comment === undefined) throw new Error(`options.ts has no comment above ${name}`);
  return comment.replaceAll(/\s*\n\s*\*/g, '').trim();
}

function optionsByHttpName(): object {
  const named = OPTION_NAMES.map((name) => {
    const { openAi: _openAi, vllm: _vllm, generationConfig: _file, form: _form, ...facts } = optionOf(name);
    return [httpNameOf(optionOf(name)), { name, ...facts }] as const;
  });
  return Object.fromEntries(named.filter(([httpName]) => httpName !== undefined));
}

/** The formatter pads tables and joins short lines. */
function normalize(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/-{3,}/g, '---');
}
