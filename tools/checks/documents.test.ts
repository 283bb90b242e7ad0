import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import manifest from '../../package.json' with { type: 'json' };
import { batch, type BatchOptions } from '../../src/batching/batch/batch.ts';
import { codeBlocksFor, codeBlocksOf, DOCUMENTS, HARNESSES, placeOf } from '../documents/code-blocks.ts';
import { checkCommand, commandsOf } from '../documents/commands.ts';

const everyBlock = DOCUMENTS.flatMap(codeBlocksOf);

/** The code of the documents that makes a client, and what it imports from the package. */
const blocks = everyBlock.filter(({ language }) => /^(?:[jt]sx?|html)$/.test(language));

it('each code block names the harness that runs it', () => {
  expect(everyBlock.length).toBeGreaterThan(40);
  const unknown = everyBlock.filter(({ harness }) => !Object.hasOwn(HARNESSES, harness));
  expect(unknown.map((block) => `${placeOf(block)}: ${block.harness || 'no mark'}`)).toEqual([]);
});

it('each harness is a file that takes its blocks from the documents', () => {
  for (const [harness, file] of Object.entries(HARNESSES).filter(([, path]) => path !== ''))
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`['"\` ]${harness}\\b`));
});

it('blocks that nothing runs are few, and say why', () => {
  const shown = everyBlock.filter(({ harness }) => harness === 'shown');
  expect(shown.map(({ document, argument }) => `${document}: ${argument}`)).toEqual([
    'docs/architecture.md: it is a drawing',
    'docs/bundlers.md: it needs Workbox, which no test installs',
    'docs/clients.md: Open WebUI takes 1.6 GB, without PyTorch',
    'docs/cpu-engine.md: it is a list',
    'docs/deployments.md: a page that has the script below',
    'docs/deployments.md: it needs the app of these files',
    'docs/prompt-api.md: it downloads a model',
    'docs/static-site.md: only GitHub runs workflows',
  ]);
});

it('commands of the documents name scripts, options and files that are there', () => {
  const commands = codeBlocksFor('shell').flatMap((block) =>
    commandsOf(block.code).map((command) => ({ block, command })),
  );
  const problems = commands
    .filter(({ command }) => !command.startsWith('curl '))
    .flatMap(({ block, command }) => {
      try {
        checkCommand(command, block);
        return [];
      } catch (error) {
        return [`${placeOf(block)}: ${command}: ${String(error)}`];
      }
    });
  expect(problems).toEqual([]);
});

it('the documents of the package import from its entries alone', () => {
  const entries = Object.keys(manifest.exports).map((entry) => entry.replace('.', 'tabserve'));
  const imported = blocks.flatMap(({ code }) =>
    [...code.matchAll(/from '((?:tabserve|\.\/src)[^']*)'/g)].map(([, from = '']) => from),
  );
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((from) => !entries.includes(from))).toEqual([]);
});

it('the documents’ `batch` gathers its three calls into the batches that they name', async () => {
  const code =
    blocks.find(
      ({ document, code: text }) => document === 'docs/batching.md' && text.includes('const double'),
    )?.code ?? '';
  const sizes: number[] = [];
  const handler = async (numbers: readonly number[]): Promise<number[]> => {
    sizes.push(numbers.length);
    return numbers.map((number) => 2 * number);
  };
  const run = async (options: BatchOptions<number>): Promise<void> => {
    const double = batch(handler, options);
    await Promise.all([1, 2, 3].map((number) => double(number)));
  };
  const numberOf = (option: string): number => Number(new RegExp(`${option}: (\\d+)`).exec(code)?.[1]);
  // The first calls of all take longer: their code is compiled.
  await run({ maxBatchSize: 1 });
  sizes.length = 0;
  await run({ maxBatchSize: numberOf('maxBatchSize'), batchWaitTimeoutMs: numberOf('batchWaitTimeoutMs') });
  await run({ maxBatchSize: numberOf('maxBatchSize') });
  expect(sizes).toEqual([3, 1, 2]);
});

it('the package has the version that the changelog describes first', () => {
  const [, newest] = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
  expect(manifest.version).toBe(newest);
});

it('no example names a version of the package', () => {
  const named = globSync('examples/*/package.json').map(
    (path) => /"tabserve": "([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1],
  );
  expect(new Set(named)).toEqual(new Set(['file:../../tabserve.tgz']));
});
