import { afterEach, describe, expect, it, vi } from 'vitest';

import { systemClock } from '../../batching/base/clock.ts';
import { servedFiles } from '../models/checkpoint/served-files.ts';
import { HubClient } from '../models/hub/hub-client.ts';
import { readOnnxFile } from '../runtime/ort/onnx-files.ts';

const HUB = 'https://huggingface.co';
const FOLDER = 'https://cdn.example/model/';

/** A worker whose policy blocks an address: the report comes in a task of its own, behind the failure. */
function blockFetches(blockedURI: string, effectiveDirective = 'connect-src'): { readonly numTries: number } {
  const scope = new EventTarget();
  let numTries = 0;
  for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'] as const)
    vi.stubGlobal(name, scope[name].bind(scope));
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('fetch', () => {
    numTries += 1;
    const report = Object.assign(new Event('securitypolicyviolation'), { effectiveDirective, blockedURI });
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      scope.dispatchEvent(report);
    });
    port1.start();
    port2.postMessage('');
    return Promise.reject(new TypeError('Failed to fetch'));
  });
  return {
    get numTries() {
      return numTries;
    },
  };
}

function hubClient(): HubClient {
  const { signal } = new AbortController();
  return new HubClient({
    hub: HUB,
    id: 'a/b',
    clock: systemClock,
    random: () => 0,
    signal,
  });
}

const requests: readonly (readonly [string, string, string, () => Promise<unknown>])[] = [
  [
    'the list of a hub’s files',
    `${HUB}/api/models/a/b`,
    'HUB_UNREACHABLE',
    () => hubClient().fetch(`${HUB}/api/models/a/b`, 'a/b'),
  ],
  [
    'weights of a hub',
    `${HUB}/a/b/resolve/main/model.safetensors`,
    'HUB_UNREACHABLE',
    () =>
      hubClient()
        .readRange(
          'main',
          { path: 'model.safetensors', size: 9 },
          { begin: 0, end: 9 },
          new AbortController().signal,
        )
        .next(),
  ],
  [
    'a file of a folder at an address',
    `${FOLDER}tokenizer.json`,
    'MODEL_FILE_MISSING',
    () =>
      servedFiles(
        (name) => FOLDER + name,
        () => {},
      ).open('tokenizer.json'),
  ],
  ['an ONNX model', `${FOLDER}model.onnx`, 'MODEL_FILE_MISSING', () => readOnnxFile(`${FOLDER}model.onnx`)],
];

afterEach(() => void vi.unstubAllGlobals());

describe.each(requests)('%s', (_, url, code, ask) => {
  const { origin } = new URL(url);

  it('that the policy blocks is told at once, with the origin to allow', async () => {
    const fetches = blockFetches(url);
    await expect(ask()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(
        `Content-Security-Policy of the worker's script blocks ${origin}\\. .*connect-src 'self' ${origin}`,
      ),
    });
    // The hub is asked once more, without redirects.
    expect(fetches.numTries).toBeLessThanOrEqual(2);
  });

  it.each([
    ['another origin', 'https://other.example/', 'connect-src'],
    ['another directive', url, 'img-src'],
  ])('is not said to be blocked where the report is of %s', async (_of, blockedURI, directive) => {
    blockFetches(blockedURI, directive);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const failure = ask().then(undefined, (error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    await vi.runAllTimersAsync();
    expect(await failure).toMatchObject({
      code,
      message: expect.not.stringContaining('Content-Security-Policy'),
    });
    vi.useRealTimers();
  });
});
