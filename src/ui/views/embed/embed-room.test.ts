import { describe, expect, it, vi } from 'vitest';

import { EMBEDDER, RERANKER, type EncoderInfo, type TabserveClient } from '../../../client/index.ts';
import { createStatus, WEBGPU } from '../../testing/test-support.ts';
import { EmbedRoom } from './embed-room.ts';

interface Request {
  readonly deployment: string;
  readonly input: unknown;
  readonly options: { readonly signal: AbortSignal; readonly prompt?: string };
  answer(result: unknown): void;
  fail(error: Error): void;
}

function encoder(deployment: string, id: string, prompts: readonly string[] = []): EncoderInfo {
  const sizes = { numParameters: 1, maxTokens: 128, vocabSize: 10, dimensions: 2 };
  return { deployment, id, ...sizes, prompts: [...prompts], backend: WEBGPU };
}

/** The test answers each request. */
function setUp({ prompts = [] as readonly string[] } = {}) {
  const requests: Request[] = [];
  let encoders = [encoder(EMBEDDER, 'a/model', prompts), encoder(RERANKER, 'a/reranker')];
  const getHandle = (deployment: string) => ({
    remote: (input: unknown, options: Request['options']) =>
      new Promise((resolve, reject) => {
        options.signal.addEventListener('abort', () => reject(new Error('cancelled')));
        requests.push({ deployment, input, options, answer: resolve, fail: reject });
      }),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the room calls
  const client = { getHandle, status: () => createStatus({ encoders }) } as unknown as TabserveClient;
  const room = new EmbedRoom(client);
  /** Answers the waiting requests with directions: the number in a text is its angle in degrees. */
  const answerAll = async (): Promise<void> => {
    for (const request of requests.splice(0)) request.answer(answerTo(request.input));
    await settled();
  };
  const embed = async (lines: readonly string[]): Promise<void> => {
    room.setText(lines.join('\n'));
    const done = room.embed();
    while (room.store.getState().progress) await answerAll();
    await done;
  };
  const hits = () => room.store.getState().hits.map(({ index }) => index);
  const replaceModel = (id: string): void => void (encoders = [encoder(EMBEDDER, id)]);
  return { room, requests, answerAll, embed, hits, replaceModel };
}

async function settled(): Promise<void> {
  await vi.waitFor(() => Promise.resolve());
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
}

function answerTo(input: unknown): unknown {
  return Array.isArray(input) ? input.map((text) => vectorOf(text)) : vectorOf(input);
}

function vectorOf(text: unknown) {
  const angle = (Number(/\d+/.exec(String(text))?.[0]) * Math.PI) / 180;
  const embedding = Float32Array.of(Math.cos(angle), Math.sin(angle));
  return { embedding, numTokens: 3, isTruncated: String(text).startsWith('long') };
}

describe('lines that are embedded', () => {
  it('keep their order over the requests that they are split into, and show how many are done', async () => {
    const { room, requests, answerAll } = setUp();
    room.setText(Array.from({ length: 300 }, (_, i) => `at ${i}`).join('\n'));
    const done = room.embed();
    expect(requests.map(({ input }) => Array.isArray(input) && input.length)).toEqual([128, 128, 44]);
    // The second piece before the first.
    requests.splice(1, 1)[0]?.answer(Array.from({ length: 128 }, (_, i) => vectorOf(128 + i)));
    await settled();
    expect(room.store.getState().progress).toMatchObject({ numDone: 128, numTexts: 300 });
    while (room.store.getState().progress) await answerAll();
    await done;
    const { vectors, lines } = room.store.getState().embedded ?? {};
    expect(lines).toHaveLength(300);
    for (const line of [0, 127, 128, 299])
      expect(vectors?.[line]?.[1]).toBeCloseTo(Math.sin((line * Math.PI) / 180), 6);
  });

  it('are counted where the model reads their beginnings alone', async () => {
    const { room, embed } = setUp();
    await embed(['at 1', 'long 2', ...Array.from({ length: 200 }, (_, i) => `at ${i}`), 'long 3']);
    expect(room.store.getState().embedded).toMatchObject({ numCut: 2, maxTokens: 128 });
  });

  it('are cancelled by Stop, and what was embedded before stays', async () => {
    const { room, requests, embed } = setUp();
    await embed(['at 10']);
    room.setText('at 20');
    const done = room.embed();
    const [request] = requests;
    room.stop();
    await done;
    expect(request?.options.signal.aborted).toBe(true);
    expect(room.store.getState()).toMatchObject({ embedded: { lines: ['at 10'] }, error: undefined });
  });

  it('end with the first error, which is shown, and cancel the others', async () => {
    const { room, requests } = setUp();
    room.setText(Array.from({ length: 200 }, (_, i) => `at ${i}`).join('\n'));
    const done = room.embed();
    const [first, second] = requests;
    first?.fail(new Error('It ran out of memory.'));
    await done;
    expect(second?.options.signal.aborted).toBe(true);
    expect(room.store.getState()).toMatchObject({ progress: undefined, embedded: undefined });
    expect(room.store.getState().error?.message).toBe('It ran out of memory.');
  });

  it('take the prompts of a model that has some', async () => {
    const { room, requests, answerAll, embed } = setUp({ prompts: ['query', 'passage'] });
    room.setText('at 1');
    const done = room.embed();
    expect(requests[0]?.options.prompt).toBe('passage');
    await answerAll();
    await done;
    await embed(['at 1']);
    void room.search('at 2');
    expect(requests[0]?.options.prompt).toBe('query');
  });
});

describe('a file', () => {
  const utf16 = Uint8Array.of(0xff, 0xfe, 0x66, 0, 0xfc, 0, 0x72, 0);

  it.each([
    ['UTF-8', ['\u{FEFF}für\neins']],
    ['UTF-16', [utf16, Uint8Array.of(10, 0, 0x65, 0, 0x69, 0, 0x6e, 0, 0x73, 0)]],
  ])('in %s becomes the text', async (_, parts) => {
    const { room } = setUp();
    await room.open(new File(parts, 'lines.txt'));
    expect(room.store.getState().text).toBe('für\neins');
  });

  it.each([
    ['Windows-1252', Uint8Array.of(0x66, 0xfc, 0x72), 'FILE_ENCODING'],
    ['a workbook', 'PK\u0003\u0004\0\0', 'FILE_NOT_TEXT'],
  ])('that is %s is refused, where it would become another text', async (_, part, code) => {
    const { room } = setUp();
    room.setText('before');
    await expect(room.open(new File([part], 'lines.txt'))).rejects.toMatchObject({ code });
    expect(room.store.getState().text).toBe('before');
  });
});

describe('a search', () => {
  const LINES = ['at 0', 'at 90', 'at 40', 'at 180'];

  it('finds the nearest lines first', async () => {
    const { room, answerAll, embed, hits } = setUp();
    await embed(LINES);
    const done = room.search('at 50');
    await answerAll();
    await done;
    expect(hits()).toEqual([2, 1, 0, 3]);
    expect(room.store.getState().hits[0]?.score).toBeCloseTo(Math.cos((10 * Math.PI) / 180), 6);
  });

  it('supersedes the one before: its request is cancelled, and a late answer changes nothing', async () => {
    const { room, requests, answerAll, embed, hits } = setUp();
    await embed(LINES);
    const first = room.search('at 180');
    const [superseded] = requests.splice(0);
    const second = room.search('at 0');
    expect(superseded?.options.signal.aborted).toBe(true);
    await answerAll();
    superseded?.answer(vectorOf('at 180'));
    await Promise.all([first, second]);
    expect(hits()[0]).toBe(0);
    expect(room.store.getState()).toMatchObject({ query: 'at 0', error: undefined });
  });

  it('drops the answer of the one before that comes in the moment of a key', async () => {
    const { room, requests, embed, hits } = setUp();
    await embed(LINES);
    void room.search('at 180');
    requests[0]?.answer(vectorOf('at 180'));
    void room.search('at 0');
    await settled();
    expect(hits()).toEqual([]);
  });

  it('has no hits without a query, and none among vectors of another model', async () => {
    const { room, requests, answerAll, embed, hits, replaceModel } = setUp();
    await embed(LINES);
    const done = room.search('at 0');
    await answerAll();
    await done;
    await room.search('  ');
    expect(hits()).toEqual([]);
    replaceModel('another/model');
    await room.search('at 0');
    expect([hits(), requests]).toEqual([[], []]);
  });

  it('tells of a query, and of a pair of the reranker, that the model reads in part', async () => {
    const { room, requests, answerAll, embed } = setUp();
    await embed(LINES);
    const searching = room.search('long 0');
    await answerAll();
    await searching;
    expect(room.store.getState().isQueryCut).toBe(true);
    const reranking = room.setReranks(true);
    await answerAll();
    requests[0]?.answer({ results: [{ index: 0, score: 0.9, isTruncated: true }], numTokens: 9 });
    await reranking;
    expect(room.store.getState()).toMatchObject({ isQueryCut: true, hits: [{ isCut: true }] });
    await room.search('');
    expect(room.store.getState().isQueryCut).toBe(false);
  });

  it('is reranked on demand, with both scores', async () => {
    const { room, requests, answerAll, embed, hits } = setUp();
    await embed(LINES);
    const searching = room.search('at 0');
    await answerAll();
    await searching;
    const done = room.setReranks(true);
    await answerAll();
    expect(hits()).toEqual([0, 2, 1, 3]);
    expect(requests[0]).toMatchObject({
      deployment: RERANKER,
      input: { query: 'at 0', documents: ['at 0', 'at 40', 'at 90', 'at 180'] },
    });
    requests[0]?.answer({
      results: [
        { index: 2, score: 0.9 },
        { index: 0, score: 0.2 },
      ],
      numTokens: 9,
    });
    await done;
    expect(room.store.getState().hits).toEqual([
      { index: 1, score: expect.closeTo(0, 6), rerankScore: 0.9 },
      { index: 0, score: expect.closeTo(1, 6), rerankScore: 0.2 },
    ]);
  });
});
