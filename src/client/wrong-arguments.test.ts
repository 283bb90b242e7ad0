import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';

import * as batching from '../batching/index.ts';
import { clientId } from '../batching/generation/test-support.ts';
import { parseClientMessages } from '../protocol/client-messages.ts';
import { policy } from '../protocol/status.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../protocol/wire.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { toWireError } from '../protocol/wire-errors.ts';
import * as react from '../react/index.ts';
import * as worker from '../worker/index.ts';
import { createWorkerStatus, workerId } from '../worker/test-support.ts';
import * as aiSdk from './ai-sdk/index.ts';
import * as client from './index.ts';
import { StoredJob } from './jobs/stored-job.ts';
import { KnobOverride } from './knob-override.ts';
import type { Outgoing } from './links/link.ts';
import * as promptApi from './prompt-api/index.ts';
import { engineErrors, functionsOf } from './testing/wrong-arguments.ts';
import { jobInfo } from './testing/job-info.ts';

const ask = (): Promise<never> => Promise.reject(client.InvalidOptionError.of('job', 'another one', 5));

afterAll(() => {
  for (const name of ['LanguageModel', 'SemanticEmbedder']) Reflect.deleteProperty(globalThis, name);
});

describe.each(Object.entries({ '': client, worker, batching, 'ai-sdk': aiSdk, 'prompt-api': promptApi }))(
  'the entry tabserve/%s',
  (folder, entry) => {
    const functions = functionsOf(entry).filter(([name]) => documented(folder).has(name));

    it.each(functions)('%s() refuses what it can do nothing with', async (_name, call) => {
      expect(await engineErrors(call)).toEqual([]);
    });
  },
);

it('the entry react has no function but the hooks, which are tested in components', () => {
  expect(functionsOf(react).map(([name]) => name)).toEqual(['useGeneration', 'useStats', 'useTabserve']);
});

describe.each(Object.entries(createObjects()))('a %s', (_, object) => {
  it.each(functionsOf(object))('%s() refuses what it can do nothing with', async (_name, call) => {
    expect(await engineErrors(call.bind(object))).toEqual([]);
  });
});

it.each([
  ['createTabserve', aiSdk.createTabserve],
  ['createLanguageModel', promptApi.createLanguageModel],
  ['createSemanticEmbedder', promptApi.createSemanticEmbedder],
  // It calls the two others.
  ['createLanguageModel', promptApi.installPromptApi],
  ['columnsIn', client.columnsIn],
  ['missingColumn', client.missingColumn],
  ['fillTemplate', client.fillTemplate],
  ['writeCells', client.writeCells],
  ['textOfCell', client.textOfCell],
  ['cosineSimilarity', client.cosineSimilarity],
  ['topK', client.topK],
  ['batch', batching.batch],
  ['batchStream', batching.batchStream],
  ['stackRows', worker.stackRows],
] as const)('without arguments, %s() names itself, the argument and what it has to be', (name, call) => {
  expect(call).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(
        new RegExp(`^Expected \`\\w+\` to be an? .* for ${name}\\(\\), got \`undefined\``),
      ),
    }),
  );
});

/** The functions of an entry that the API reference has. */
function documented(folder: string): ReadonlySet<string> {
  const reference = readFileSync(`docs/api/tabserve/${folder}/README.md`, 'utf8');
  return new Set(Array.from(reference.matchAll(/^### (\w+)\(\)$/gm), ([, name = '']) => name));
}

function createObjects() {
  const serve = createClient();
  return {
    client: serve,
    jobs: serve.jobs,
    job: new StoredJob(jobInfo(), ask),
    override: new KnobOverride('text-generator', policy, ask),
    handle: serve.getHandle('any'),
    response: serve.generate('a'),
    'batched function': batching.batch(async (items: readonly unknown[]) => items),
    provider: aiSdk.createTabserve({ serve }),
    'class of errors': { of: client.InvalidOptionError.of.bind(client.InvalidOptionError) },
  };
}

/** Its worker checks what it gets, and then refuses all. */
function createClient(): client.TabserveClient {
  const id = clientId('tab');
  return new client.TabserveClient(id, (listener) => {
    const say = (message: Unsigned<WorkerMessage>): void =>
      listener.onMessage({ version: PROTOCOL_VERSION, workerId: workerId('A'), ...message });
    const post = (message: Outgoing): void => {
      for (const read of parseClientMessages({ version: PROTOCOL_VERSION, clientId: id, ...message })) {
        const error = read.type === 'unread' ? toWireError(read.error) : { code: 'PLAYED', message: 'No.' };
        if ('callId' in read && read.callId !== undefined)
          say({ type: 'call-refused', callId: read.callId, error });
        const ids =
          'requestIds' in read
            ? read.requestIds
            : 'requests' in read
              ? read.requests.map((each) => each.requestId)
              : 'requestId' in read
                ? [read.requestId]
                : [];
        say({ type: 'updates', updates: ids.map((requestId) => ({ type: 'failed', requestId, error })) });
      }
    };
    queueMicrotask(() => {
      listener.onOpen();
      say({ type: 'welcome', status: createWorkerStatus({ state: 'ready' }), activity: [], batches: [] });
    });
    return { isolationReason: '', post: (message) => queueMicrotask(() => post(message)), close: () => {} };
  });
}
