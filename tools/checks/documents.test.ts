import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

import manifest from '../../package.json' with { type: 'json' };
import { batch, type BatchOptions } from '../../src/batching/batch.ts';
import type { AnyDeployment } from '../../src/protocol/deployment.ts';

const REGISTRY = 'src/deployments/registry.ts';

/** The first code block of a document that begins with this text. */
function blockOf(document: string, beginning: string): string {
  const blocks = readFileSync(document, 'utf8')
    .split('```')
    .filter((_, index) => index % 2 === 1);
  const block = blocks.find((text) => text.replace(/^\w+\n/, '').startsWith(beginning));
  if (block === undefined) throw new Error(`${document} has no block that begins with ${beginning}`);
  return block.replace(/^\w+\n/, '');
}

/** The code of the documents that makes a client, and what it imports from the package. */
const blocks = globSync(['README.md', 'docs/*.md']).flatMap((document) =>
  readFileSync(document, 'utf8')
    .split('```')
    .filter((block, index) => index % 2 === 1 && /^(?:[jt]sx?|html)\n/.test(block))
    .map((code) => ({ document, code })),
);

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

it.each(['README.md', 'docs/deployments.md'])(
  '%s shows a deployment that works, under the name that the list of the page takes',
  async (document) => {
    const folder = await mkdtemp(join(tmpdir(), 'tabserve-documents-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const code = blockOf(document, '// src/deployments/shout.ts');
    const path = join(folder, 'shout.ts');
    await writeFile(
      path,
      code.replaceAll(/from '(\..+)'/g, (_, file: string) => `from '${resolve(REGISTRY, '..', file)}'`),
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it exports is checked below
    const { shout } = (await import(/* @vite-ignore */ path)) as { readonly shout?: AnyDeployment };
    expect(shout?.name).toBe('shout');
    const context = { reason: 'full', itemSignals: [], signal: new AbortController().signal } as const;
    const inputs = ['a', 'b'].map((text) => shout?.checkInput(text));
    expect(await shout?.handler(inputs, context)).toEqual(['A! (one of 2)', 'B! (one of 2)']);
    const [, line = ''] = blockOf(document, `// ${REGISTRY}`).split('\n');
    expect(readFileSync(REGISTRY, 'utf8')).toContain(line.replace(', shout]', ']'));
  },
);
