import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMemoryStream, main } from 'assemblyscript/asc';

import type { KernelVariant } from '../../src/worker/cpu/kernels/compile-kernels.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = 'src/worker/cpu/kernels/assembly';

export const MODULES = join(ROOT, 'node_modules/.cache/cpu-kernels');

const FEATURES: Readonly<Record<KernelVariant, readonly string[]>> = {
  simd: ['simd'],
  'relaxed-simd': ['simd', 'relaxed-simd'],
};

/** Shared memory needs a maximum: `compileKernels` makes a module for it of the same bytes. */
const OPTIONS = [
  '--optimizeLevel=3',
  '--noAssert',
  '--runtime=stub',
  '--importMemory',
  '--noExportMemory',
  '--initialMemory=1',
  '--maximumMemory=65536',
];

/** Compiles the kernels of the CPU, once for each state of their sources. */
export async function writeKernels(): Promise<void> {
  await mkdir(MODULES, { recursive: true });
  const state = await stateOfSources();
  const stamp = join(MODULES, 'state');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === state) return;
  for (const [variant, features] of Object.entries(FEATURES)) await compile(`${variant}.wasm`, features);
  await writeFile(stamp, state);
}

async function stateOfSources(): Promise<string> {
  const hash = createHash('sha256').update(OPTIONS.join());
  const names = (await readdir(join(ROOT, SOURCES))).toSorted();
  for (const name of names) hash.update(name).update(await readFile(join(ROOT, SOURCES, name)));
  return hash.digest('hex');
}

async function compile(name: string, features: readonly string[]): Promise<void> {
  // Another process may read the module, or write it too.
  const written = `${name}.${process.pid}`;
  const enabled = features.map((feature) => `--enable=${feature}`);
  const stderr = createMemoryStream();
  const { error } = await main(
    [`${SOURCES}/index.ts`, ...OPTIONS, ...enabled, `--baseDir=${ROOT}`, `--outFile=${name}`],
    { stderr, writeFile: (_name, contents) => writeFile(join(MODULES, written), contents) },
  );
  if (error) throw new Error(`The kernels don't compile:\n${stderr.toString()}`, { cause: error });
  await rename(join(MODULES, written), join(MODULES, name));
}
