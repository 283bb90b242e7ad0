import { expect, it, vi } from 'vitest';
import { clientId } from '../../src/batching/generation/test-support.ts';
import { TabserveClient } from '../../src/client/client.ts';
import type { LinkListener } from '../../src/client/links/link.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';
import { NoTabError } from '../tabs/no-tab-error.ts';
import { printState, type StateOptions } from './print-state.ts';
import { readyLine } from './ready-line.ts';

const url = 'http://localhost:8000';

function collectLines() {
  const lines: string[] = [];
  const onFailedStart = vi.fn<StateOptions['onFailedStart']>();
  const bar = { show: () => undefined, clear: () => undefined };
  return {
    lines,
    onFailedStart,
    options: {
      url,
      print: (line: string) => lines.push(line),
      bar,
      encoders: ['tests/cross', 'tests/bert'],
      onFailedStart,
    },
  };
}

it('says nothing of a tab that takes longer than requests wait for one, and fails nobody', () => {
  const { lines, onFailedStart, options } = collectLines();
  let link: LinkListener | undefined;
  const serve = new TabserveClient(clientId('bridge'), (listener) => {
    link = listener;
    return { isolationReason: '', post: () => undefined, close: () => undefined };
  });
  printState(serve, options);
  link?.onFailure(NoTabError.at(url));
  expect(serve.status()).toMatchObject({ state: 'failed', error: { code: 'NO_TAB' } });
  expect(onFailedStart).not.toHaveBeenCalled();
  serve.close();
  expect(lines).toEqual([]);
});

const MODEL = { id: 'tests/model', hasChatTemplate: false };
const BACKEND = {
  name: 'wasm',
  precision: 'q8',
  adapter: 'CPU, int8, relaxed SIMD, 2 threads',
  fallbackReason: 'WebGPU: no adapter',
};

/** A status of which the code reads these fields alone. */
function statusOf(fields: object): TabserveStatus {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return fields as TabserveStatus;
}

/** A client whose statuses the test sends, and whose generator answers with this time for each token. */
function playClient(tpotMs?: number) {
  const listeners: ((status: TabserveStatus) => void)[] = [];
  const result =
    tpotMs === undefined
      ? () => Promise.reject(new Error('no room'))
      : () => Promise.resolve({ timings: { tpotMs } });
  const remote = vi.fn<() => object>(() => ({ result }));
  const serve = {
    subscribe: (_topic: string, listener: (status: TabserveStatus) => void) => listeners.push(listener),
    getHandle: () => ({ remote }),
  };
  const send = (fields: object): void => {
    for (const listener of listeners) listener(statusOf(fields));
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the code asks nothing else of a client
  return { serve: serve as never, remote, send };
}

it('says once which model serves, where and why there, how fast, and how to ask it', async () => {
  const { lines, options } = collectLines();
  const { serve, remote, send } = playClient(4);
  printState(serve, options);
  send({ state: 'loading' });
  send({ state: 'ready', model: MODEL, backend: BACKEND });
  send({ state: 'ready', model: MODEL, backend: BACKEND, numTabs: 2 });
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(lines[0]).toMatch(
    /^tests\/model is ready on CPU, int8, relaxed SIMD, 2 threads, 250 tokens\/s, \d+\.\d s after the start \(WebGPU: no adapter\)\. Try: curl "http:\/\/localhost:8000\/\?text=[^"]+"$/,
  );
  expect(remote).toHaveBeenCalledTimes(1);
});

it('says once which encoders serve beside it, and why a load failed', async () => {
  const { lines, options, onFailedStart } = collectLines();
  const { serve, send } = playClient();
  printState(serve, options);
  const encoders = [{ id: 'tests/bert', deployment: 'embedder', backend: BACKEND }];
  const loadFailure = {
    id: 'tests/other',
    error: { code: 'MODEL_NOT_FOUND', message: 'There is no such model.' },
  };
  const status = { state: 'ready', model: MODEL, backend: BACKEND, encoders };
  send(status);
  send({ ...status, loadFailure });
  send({ ...status, loadFailure });
  await vi.waitFor(() => expect(lines).toHaveLength(3));
  expect(lines.toSorted()).toEqual([
    'There is no such model.',
    expect.stringMatching(/^tests\/bert is ready on CPU, int8.*\/v1\/embeddings/),
    expect.stringMatching(/^tests\/model is ready/),
  ]);
  expect(onFailedStart).not.toHaveBeenCalled();
});

it('a model beside the first one that fails ends the start, and is a line once it has served', () => {
  const { lines, options, onFailedStart } = collectLines();
  const { serve, send } = playClient();
  printState(serve, options);
  const error = { code: 'UNSUPPORTED_MODEL', message: 'It ranks nothing.' };
  const status = { state: 'ready', model: MODEL, backend: BACKEND };
  const bert = { id: 'tests/bert', deployment: 'embedder', backend: BACKEND };
  send({ ...status, encoders: [bert] });
  send({ ...status, loadFailure: { id: 'tests/bert', error } });
  expect(onFailedStart).not.toHaveBeenCalled();
  expect(lines).toContain('It ranks nothing.');
  send({ ...status, encoders: [bert], loadFailure: { id: 'tests/cross', error } });
  expect(onFailedStart).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ message: 'It ranks nothing. (UNSUPPORTED_MODEL)' }),
  );
});

it('asks a chat model for a chat, and names no speed that could not be measured', async () => {
  const { serve } = playClient();
  const chat = { model: { ...MODEL, hasChatTemplate: true }, backend: { ...BACKEND, fallbackReason: '' } };
  const line = await readyLine(serve, statusOf(chat), url, undefined);
  expect(line).toMatch(
    /^tests\/model is ready on CPU, int8, relaxed SIMD, 2 threads\. Try: curl http:\/\/\S+\/v1\/chat\/completions /,
  );
  expect(line).toContain(`-d '{"messages":[{"role":"user","content":"Hello"}]`);
});

it('sends nothing to a server, which may cost money', async () => {
  const { serve, remote } = playClient(4);
  const atServer = { model: MODEL, backend: { ...BACKEND, name: 'server', fallbackReason: '' } };
  expect(await readyLine(serve, statusOf(atServer), url, undefined)).not.toContain('tokens/s');
  expect(remote).not.toHaveBeenCalled();
});

it('a first model that fails ends the start, and a later one is a line', async () => {
  const error = { code: 'MODEL_TOO_LARGE', message: 'The model does not fit.' };
  const first = collectLines();
  const failing = playClient();
  printState(failing.serve, first.options);
  failing.send({ state: 'failed', error });
  expect(first.onFailedStart).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({
      code: 'MODEL_NOT_LOADED',
      message: 'The model does not fit. (MODEL_TOO_LARGE)',
    }),
  );

  const later = collectLines();
  const serving = playClient();
  printState(serving.serve, later.options);
  serving.send({ state: 'ready', model: MODEL, backend: BACKEND });
  await vi.waitFor(() => expect(later.lines).toHaveLength(1));
  serving.send({ state: 'failed', error });
  serving.send({ state: 'failed', error });
  expect(later.lines.slice(1)).toEqual(['The model does not fit.']);
  expect(later.onFailedStart).not.toHaveBeenCalled();
});
