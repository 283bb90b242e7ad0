import { describe, expect, it } from 'vitest';

import { settled } from '../../../batching/batch/test-support.ts';
import { clientId, requestId } from '../../../batching/generation/test-support.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import type { Embedding } from '../../../protocol/embedding.ts';
import type { BatchRecord } from '../../../protocol/stats.ts';
import { WasmAbortError } from '../../runtime/faults/runtime-errors.ts';
import { embedTask } from '../../embedding/embed-task.ts';
import type { EncoderRow } from '../../runtime/encoder-inputs.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import type { BatchedDeploymentListener } from './batched-deployment.ts';
import { EncoderDeployment } from './encoder-deployment.ts';
import { TextPace } from './text-pace.ts';
import { noEncoder } from '../../../protocol/errors/deployment-messages.ts';

interface Run {
  readonly rows: readonly EncoderRow[];
  end(): void;
  fail(error: Error): void;
}

const encode = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));

/** Tokens are characters, and the vector of a text has its length and a mark. The test ends each run. */
function createModel(runs: Run[], markOf: (length: number) => number = () => 0): LoadedEncoder {
  const fake = {
    encoder: { maxTokens: 2000, dimensions: 2, isNormalized: false, prompts: {} },
    encoderInfo: { vocabSize: 256 },
    tokenizer: {
      encode,
      // oxlint-disable-next-line require-yield -- short texts are read at once
      *encodeInPieces(text: string) {
        return encode(text);
      },
    },
    backend: {
      fits: () => true,
      // A token takes 1 ms.
      tokensWithin: (ms: number) => ms,
      run: (rows: readonly EncoderRow[]) =>
        new Promise((resolve, reject) => {
          const end = (): void =>
            resolve({
              outputs: rows.map(({ tokenIds: { length } }) => Float32Array.of(length, markOf(length))),
              backend: 'wasm',
            });
          runs.push({ rows, end, fail: reject });
        }),
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that a deployment uses
  return fake as unknown as LoadedEncoder;
}

/** @param decodeMs A text runs whose steps take so long. */
function setUp(decodeMs?: number) {
  const clock = new FakeClock();
  const pace = new TextPace(clock, () => decodeMs !== undefined);
  if (decodeMs !== undefined) pace.recordStep({ kind: 'decode', stepMs: decodeMs });
  const runs: Run[] = [];
  const log: string[] = [];
  const answers = new Map<string, readonly Embedding[]>();
  const batches: BatchRecord[] = [];
  const listener: BatchedDeploymentListener = {
    onBatch: (batch, ended) => {
      batches.push(batch);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to a list
      for (const each of ended) answers.set(each.requestId, each.result as readonly Embedding[]);
    },
    onFailed: (id, error) => {
      const lost = error instanceof RuntimeLostError ? ` of ${error.requestIds.join()}` : '';
      log.push(`${id} ${error instanceof Error ? error.name : ''}${lost}`);
    },
    onQueueWait: () => {},
  };
  const restore = (): void => void log.push('restore');
  const deployment = new EncoderDeployment(embedTask, { clock, pace, listener, restore });
  const submit = (id: string, input: unknown, client = 'tab'): void =>
    deployment.submitAll([
      { requestId: requestId(id), input, options: {}, elapsedMs: 0, clientId: clientId(client), turn: [id] },
    ]);
  let numEnded = 0;
  /** Ends runs one by one until this request is answered. Long requests are read in tasks of their own. */
  const answered = async (id: string): Promise<readonly Embedding[] | undefined> => {
    const isAnswered = (): boolean => {
      runs[numEnded]?.end();
      if (numEnded < runs.length) numEnded += 1;
      return answers.has(id);
    };
    await expect.poll(isAnswered, { interval: 1, timeout: 30_000 }).toBe(true);
    return answers.get(id);
  };
  return { clock, deployment, runs, batches, log, submit, answered };
}

const lengthsOf = (embeddings: readonly Embedding[] | undefined) =>
  embeddings?.map(({ embedding: [length] }) => length);

describe('a deployment of encoders', () => {
  it('refuses all requests of a turn that waited for the model where one of them is refused', async () => {
    const { deployment, runs, log } = setUp();
    const owner = { options: {}, elapsedMs: 0, clientId: clientId('tab'), turn: ['both'] };
    deployment.submitAll([
      { requestId: requestId('good'), input: ['a'], ...owner },
      { requestId: requestId('empty'), input: [''], ...owner },
    ]);
    deployment.use(createModel(runs));
    await expect.poll(() => log).toEqual(['restore', 'good EmptyPromptError', 'empty EmptyPromptError']);
  });

  it('answers the texts of a request in their order, from batches that are sorted by length', async () => {
    const { deployment, runs, submit, answered } = setUp();
    deployment.use(createModel(runs));
    deployment.configure({ maxBatchSize: 100 });
    const texts = Array.from({ length: 40 }, (_, i) => 'x'.repeat(i % 2 === 0 ? 50 : 5));
    submit('a', texts);
    expect(lengthsOf(await answered('a'))).toEqual(texts.map(({ length }) => length));
    const [, ...others] = runs.map(({ rows }) => rows.map(({ tokenIds }) => tokenIds.length));
    const mixed = others.filter((lengths) => new Set(lengths).size > 1);
    expect(mixed.length).toBeLessThanOrEqual(1);
    for (const lengths of others) expect(lengths.length * Math.max(...lengths)).toBeLessThanOrEqual(100);
  });

  it('counts the tokens of each batch beside its padded size, and sorts no more at a window of 1', async () => {
    const { deployment, runs, batches, submit, answered } = setUp();
    deployment.use(createModel(runs));
    expect(deployment.configure({ maxBatchSize: 100, sortWindow: 1 })).toMatchObject({ sortWindow: 1 });
    submit('a', ['x', 'yy', ...Array.from({ length: 4 }, (_, i) => 'x'.repeat(i % 2 === 0 ? 40 : 5))]);
    await answered('a');
    const sizes = batches.map(({ batchSize, numTokens, measuredSize }) => [
      batchSize,
      numTokens,
      measuredSize,
    ]);
    expect(sizes).toEqual([
      [1, 1, 1],
      [2, 42, 80],
      [2, 45, 80],
      [1, 5, 5],
    ]);
    expect(() => deployment.configure({ sortWindow: 0 })).toThrow('sortWindow');
  });

  it('runs batches that are as long as a decode step while a text runs, each after a pause of its own length', async () => {
    const { deployment, runs, submit, clock } = setUp(20);
    deployment.use(createModel(runs));
    // A text that takes longer than a step runs alone.
    submit('a', ['x'.repeat(30), 'x'.repeat(8), 'x'.repeat(8), 'x'.repeat(8)]);
    await settled();
    clock.advance(30);
    runs[0]?.end();
    await settled();
    clock.advance(29);
    await settled();
    expect(runs).toHaveLength(1);
    clock.advance(1);
    await settled();
    runs[1]?.end();
    await settled();
    const lengths = runs.map(({ rows }) => rows.map(({ tokenIds }) => tokenIds.length));
    expect(lengths).toEqual([[30], [8, 8], [8]]);
  });

  it('lets requests wait for a model, asks once for that of an earlier worker, and fails them without one', async () => {
    const { deployment, log, submit } = setUp();
    submit('a', ['x']);
    submit('b', ['y']);
    expect([log, deployment.isListed]).toEqual([['restore'], false]);
    deployment.fail(noEncoder('embedder', 'owner/name'));
    await settled();
    submit('c', ['z']);
    await settled();
    expect(log.slice(1)).toEqual(['a NoEncoderError', 'b NoEncoderError', 'c NoEncoderError']);
  });

  it('ends its requests before its model goes; later ones wait, and ask for it again', async () => {
    const { deployment, runs, log, submit } = setUp();
    const model = createModel(runs);
    deployment.use(model);
    submit('a', ['one']);
    await settled();
    const ejected = deployment.eject();
    submit('b', ['later']);
    await settled();
    expect([log, runs.length, deployment.isListed]).toEqual([[], 1, true]);
    runs[0]?.end();
    expect(await ejected).toBe(model);
    expect([log, runs.length, deployment.isListed, deployment.isAsking]).toEqual([
      ['restore'],
      1,
      true,
      true,
    ]);
    deployment.use(model);
    await settled();
    expect(runs[1]?.rows.map(({ tokenIds }) => tokenIds.length)).toEqual([5]);
  });

  it('lets a model go at once that has nothing to do, once, and loads it with the next request', async () => {
    const { deployment, log, submit } = setUp();
    expect(await deployment.eject()).toBeUndefined();
    deployment.use(createModel([]));
    expect(await deployment.eject()).toBeDefined();
    expect(await deployment.eject()).toBeUndefined();
    expect([log, deployment.isListed]).toEqual([[], true]);
    submit('a', ['x']);
    submit('b', ['y']);
    expect(log).toEqual(['restore']);
  });

  it('starts unanswered requests again with the model that replaces another', async () => {
    const { deployment, runs, log, submit, answered } = setUp();
    deployment.use(createModel(runs));
    submit('a', ['one', 'three']);
    await settled();
    expect(deployment.use(createModel(runs, () => 7))).toBeDefined();
    expect((await answered('a'))?.map(({ embedding }) => [...embedding])).toEqual([
      [3, 7],
      [5, 7],
    ]);
    expect(log).toEqual([]);
  });

  it('drops the rows of a cancelled request, and goes on with others', async () => {
    const { deployment, runs, log, submit, answered } = setUp();
    deployment.use(createModel(runs));
    submit('first', ['x']);
    submit('a', ['cancelled', 'gone']);
    submit('b', ['kept']);
    deployment.cancel(requestId('a'));
    expect(lengthsOf(await answered('b'))).toEqual([4]);
    expect(log).toEqual(['a AbortError']);
    expect(runs.flatMap(({ rows }) => rows)).toHaveLength(2);
  });

  it('fails a request that it cannot read alone', async () => {
    const { deployment, runs, log, submit, answered } = setUp();
    deployment.use(createModel(runs));
    submit('bad', ['fine', '']);
    submit('good', ['fine']);
    expect(lengthsOf(await answered('good'))).toEqual([4]);
    expect(log).toEqual(['bad EmptyPromptError']);
  });

  it('fails a text whose vector is not a number, and goes on with the others of its batch', async () => {
    const { deployment, runs, log, submit, answered } = setUp();
    deployment.use(createModel(runs, (length) => (length === 3 ? NaN : 0)));
    submit('first', ['x']);
    submit('bad', ['yy', 'bad']);
    submit('good', ['fine']);
    expect(lengthsOf(await answered('good'))).toEqual([4]);
    expect(runs.map(({ rows }) => rows.length)).toEqual([1, 3]);
    expect(log).toEqual(['bad ModelRunError']);
  });

  it('splits 10,000 texts of one request into batches, answers them in order, and refuses more', async () => {
    const { deployment, runs, log, submit, answered } = setUp();
    deployment.use(createModel(runs));
    deployment.configure({ maxBatchSize: 5000 });
    const texts = Array.from({ length: 10_000 }, (_, i) => 'x'.repeat(1 + (i % 50)));
    submit('more', [...texts, 'x']);
    submit('many', texts);
    expect(lengthsOf(await answered('many'))).toEqual(texts.map(({ length }) => length));
    expect(runs.length).toBeGreaterThan(50);
    expect(log).toEqual(['more InvalidOptionError']);
  });

  it('lets a lone text of another client wait behind one window at most', async () => {
    const { deployment, runs, submit, answered } = setUp();
    deployment.use(createModel(runs));
    deployment.configure({ maxBatchSize: 32 });
    submit(
      'many',
      Array.from({ length: 500 }, () => 'x'),
      'a',
    );
    await expect.poll(() => runs.length).toBeGreaterThan(0);
    submit('one', ['y'], 'b');
    await answered('one');
    expect(runs.flatMap(({ rows }) => rows).length).toBeLessThan(250);
  });

  it('names requests in place of rows when the runtime is lost', async () => {
    const { deployment, runs, log, submit } = setUp();
    deployment.use(createModel(runs));
    submit('a', ['x', 'y']);
    await settled();
    runs[0]?.fail(WasmAbortError.because(new Error('Aborted()')));
    await settled();
    expect(log).toEqual(['a RuntimeLostError of a']);
  });
});
