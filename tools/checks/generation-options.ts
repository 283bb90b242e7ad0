import { readFile } from 'node:fs/promises';

import { defaultText } from '../../src/batching/options/option-text.ts';
import { OPTION_NAMES, optionOf, type OptionName } from '../../src/batching/options/generation-options.ts';
import { checkOf } from '../../src/batching/options/option-checks.ts';
import type { GenerationOption } from '../../src/batching/options/option-table.ts';
import { updateParts } from './marked-part.ts';

// The table of generation options of docs/generation-options.md. `--write` brings it up to date.

const TABLES = ['src/batching/options/generation-options.ts', 'src/batching/options/sampling-options.ts'];

const sources = await Promise.all(TABLES.map((path) => readFile(path, 'utf8')));
await updateParts('docs/generation-options.md', { options: `\n\n${docsTable()}\n\n` });

function docsTable(): string {
  const rows = OPTION_NAMES.map((name) => {
    const option = optionOf(name);
    const value =
      defaultText(option.default) + (typeof option.generationConfig === 'string' ? ", or the model's" : '');
    return `| \`${name}\` | ${overHttp(option)} | ${checkOf(option).expected} | ${value} | ${meaningOf(name)} |`;
  });
  return [
    '| option | in `/v1/…` | value | default | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** Its name, and who gave it that name. */
function overHttp(option: GenerationOption): string {
  const { openAi, vllm, vllmChat } = option;
  if (vllmChat !== undefined) return `\`${vllmChat}\` (vLLM), in chats`;
  if (vllm !== undefined) return `\`${vllm}\` (vLLM)`;
  return openAi === undefined ? '' : `\`${openAi}\``;
}

function meaningOf(name: OptionName): string {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+${name}: \\{`).exec(sources.join('\n'))?.[1];
  if (comment === undefined) throw new Error(`No comment above ${name} in ${TABLES.join(' or ')}`);
  return comment.replaceAll(/\s*\n\s*\*/g, '').trim();
}
