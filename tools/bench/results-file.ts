import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { pathOf } from './paths.ts';

/** A file of recorded runs in `bench/`. */
export class ResultsFile<Results extends { readonly schemaVersion: number }> {
  readonly path: string;
  readonly #empty: Results;

  /** @param empty The contents before anything is recorded. */
  constructor(name: string, empty: Results) {
    this.path = pathOf(`bench/${name}`);
    this.#empty = empty;
  }

  async read(): Promise<Results> {
    return existsSync(this.path) ? JSON.parse(await readFile(this.path, 'utf8')) : this.#empty;
  }

  /** Replaces what `change` returns and keeps everything else. Returns the results. */
  async update(change: (results: Results) => Partial<Results>): Promise<Results> {
    const old = await this.read();
    const results: Results = { ...old, ...change(old), schemaVersion: this.#empty.schemaVersion };
    await mkdir(dirname(this.path), { recursive: true });
    await writeFile(this.path, `${JSON.stringify(results, undefined, 2)}\n`);
    return results;
  }
}
