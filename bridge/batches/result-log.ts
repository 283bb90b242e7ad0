import { appendFileSync, ftruncateSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import * as v from 'valibot';

import { parseJson } from '../../src/platform/parse-json.ts';
import { readLines } from './read-lines.ts';
import type { CheckedRows } from './rows.ts';

const count = v.optional(v.number(), 0);

/** The part of a row's result that the log reads. */
const resultShape = v.object({
  custom_id: v.string(),
  response: v.object({
    body: v.object({
      usage: v.optional(v.object({ prompt_tokens: count, completion_tokens: count })),
    }),
  }),
  error: v.nullable(v.unknown()),
});

/** A result with many vectors takes megabytes. */
const NUM_READ_AT_ONCE = 64;

/** A file of results is not one of this input. */
export class ForeignResultError extends Error {
  override readonly name = 'ForeignResultError';
  readonly customId: string;

  constructor(customId: string) {
    super(`The result of \`${customId}\` is of another input.`);
    this.customId = customId;
  }
}

/**
 * The results of rows, in a file that is only appended to, in the order in which the rows end. A process may be killed at any
 * time: a line that it did not finish is cut when the file is opened again, and its row counts as not done.
 */
export class ResultLog {
  readonly counts = { completed: 0, failed: 0, inputTokens: 0, outputTokens: 0 };
  readonly #file: FileHandle;
  readonly #rows: CheckedRows;
  /** By row; in bytes. */
  readonly #offsets: Float64Array;
  /** By row; 0 while the row has no result. */
  readonly #lengths: Float64Array;
  readonly #hasFailed: Uint8Array;
  #size = 0;

  private constructor(file: FileHandle, rows: CheckedRows) {
    this.#file = file;
    this.#rows = rows;
    this.#offsets = new Float64Array(rows.total);
    this.#lengths = new Float64Array(rows.total);
    this.#hasFailed = new Uint8Array(rows.total);
  }

  /** @throws ForeignResultError for a result of a row that is not in the input. */
  static async open(path: string, rows: CheckedRows): Promise<ResultLog> {
    const file = await open(path, 'a+');
    const log = new ResultLog(file, rows);
    try {
      for await (const { bytes, offset, isWhole } of readLines(path)) {
        if (!isWhole || !bytes) break;
        log.#note(bytes, offset);
        log.#size = offset + bytes.length + 1;
      }
      await file.truncate(log.#size);
      return log;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  has(index: number): boolean {
    return (this.#lengths[index] ?? 0) > 0;
  }

  /** The system has them when it returns. @throws What the file system says; the log is then as before. */
  append(texts: readonly string[]): void {
    const lines = texts.map((text) => Buffer.from(`${text}\n`));
    const { fd } = this.#file;
    try {
      appendFileSync(fd, Buffer.concat(lines));
    } catch (error) {
      ftruncateSync(fd, this.#size);
      throw error;
    }
    for (const line of lines) {
      this.#note(line.subarray(0, -1), this.#size);
      this.#size += line.length;
    }
  }

  /**
   * The results in the order of their rows, some lines at a time.
   *
   * @param areFailed Whether those of failed rows, or of all others; all if it is left out.
   */
  async *inOrder(areFailed?: boolean): AsyncGenerator<string> {
    let group: Promise<string>[] = [];
    for (const index of this.#lengths.keys()) {
      const isWanted = areFailed === undefined || areFailed === (this.#hasFailed[index] === 1);
      if (!this.has(index) || !isWanted) continue;
      group.push(this.#read(index));
      if (group.length < NUM_READ_AT_ONCE) continue;
      yield (await Promise.all(group)).join('');
      group = [];
    }
    yield (await Promise.all(group)).join('');
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #read(index: number): Promise<string> {
    const length = (this.#lengths[index] ?? 0) + 1;
    const { buffer } = await this.#file.read(Buffer.alloc(length), 0, length, this.#offsets[index] ?? 0);
    return buffer.toString();
  }

  /** A line that a crash of the machine has damaged counts as not there. */
  #note(bytes: Buffer, offset: number): void {
    const parsed = v.safeParse(resultShape, parseJson(bytes.toString()));
    if (!parsed.success) return;
    const { custom_id: customId, error, response } = parsed.output;
    const index = this.#rows.indexOf.get(customId);
    if (index === undefined) throw new ForeignResultError(customId);
    if (this.has(index)) return;
    const isFailed = error !== null;
    this.#offsets[index] = offset;
    this.#lengths[index] = bytes.length;
    this.#hasFailed[index] = Number(isFailed);
    this.counts[isFailed ? 'failed' : 'completed'] += 1;
    this.counts.inputTokens += response.body.usage?.prompt_tokens ?? 0;
    this.counts.outputTokens += response.body.usage?.completion_tokens ?? 0;
  }
}
