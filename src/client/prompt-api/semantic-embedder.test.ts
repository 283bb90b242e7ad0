import { afterEach, describe, expect, it, vi } from 'vitest';

import type { TabserveClient } from '../index.ts';
import { createSemanticEmbedder } from './create-semantic-embedder.ts';
import { installPromptApi } from './install.ts';

const MODEL = { deployment: 'embedder', id: 'owner/embedder', maxTokens: 256, prompts: ['query', 'passage'] };

interface World {
  readonly encoders?: readonly object[];
  readonly stored?: readonly object[];
  readonly loads?: object;
}

/** A client whose embedder answers with the length of each text, and whose worker loads `loads`. */
function createClient({ encoders = [], stored = [], loads = MODEL }: World = {}) {
  const asked: unknown[] = [];
  let serving = encoders;
  const serve = {
    status: () => ({ state: 'ready', encoders: serving }),
    storedModels: () => Promise.resolve(stored),
    loadModel: (id: string) => {
      asked.push(id);
      serving = [loads];
      return Promise.resolve({});
    },
    getHandle: () => ({
      remote(texts: readonly string[], { prompt, signal }: { prompt?: string; signal: AbortSignal }) {
        asked.push([texts, prompt]);
        if (texts.includes('never')) return new Promise(() => signal);
        return Promise.resolve(texts.map(({ length }) => ({ embedding: [length, 0.5] })));
      },
    }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that the class uses
  return { asked, serve: serve as unknown as TabserveClient };
}

function createClass(world: World = {}) {
  const { asked, serve } = createClient(world);
  return { asked, serve, Made: createSemanticEmbedder({ serve, embeddingModel: 'owner/embedder' }) };
}

/** Node has no such event. */
class FakeProgressEvent extends Event {
  readonly loaded: number;

  constructor(type: string, { loaded = 0 }: ProgressEventInit) {
    super(type);
    this.loaded = loaded;
  }
}

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(globalThis, 'SemanticEmbedder');
  Reflect.deleteProperty(globalThis, 'LanguageModel');
});

describe('SemanticEmbedder', () => {
  it.each([
    ['available', { encoders: [MODEL] }],
    ['available', { stored: [{ id: 'owner/embedder', dtype: 'fp32' }] }],
    ['downloadable', {}],
    ['downloadable', { encoders: [{ ...MODEL, deployment: 'reranker' }] }],
  ] as const)('is %s with %j', async (availability, world) => {
    expect(await createClass(world).Made.availability()).toBe(availability);
  });

  it('loads its model once, reports the download, and embeds one text or several', async () => {
    vi.stubGlobal('ProgressEvent', FakeProgressEvent);
    const { asked, Made } = createClass();
    const loaded: number[] = [];
    const embedder = await Made.create({
      monitor: (monitor) =>
        monitor.addEventListener('downloadprogress', (event) => loaded.push(event.loaded)),
    });
    expect([embedder.inputQuota, loaded]).toEqual([256, [0, 1]]);
    const { embeddings } = await embedder.embed(['fox', 'wolves']);
    expect(embeddings).toEqual([{ values: Float32Array.of(3, 0.5) }, { values: Float32Array.of(6, 0.5) }]);
    expect((await embedder.embed('fox')).embeddings).toHaveLength(1);
    await Made.create();
    expect(asked.filter((each) => each === 'owner/embedder')).toHaveLength(1);
  });

  it("puts the model's prompt of a task before texts, and none where the model has none", async () => {
    const { asked, Made } = createClass({ encoders: [MODEL] });
    const embedder = await Made.create();
    for (const taskType of ['retrieval-query', 'retrieval-document', 'clustering', undefined] as const)
      await embedder.embed('x', { taskType });
    expect(asked.map((each) => Array.isArray(each) && each[1])).toEqual([
      'query',
      'passage',
      undefined,
      undefined,
    ]);
    // @ts-expect-error -- what JavaScript may pass
    await expect(embedder.embed('x', { taskType: 'query' })).rejects.toThrow(TypeError);
  });

  it('ends with its signal, and for good once it is destroyed', async () => {
    const embedder = await createClass({ encoders: [MODEL] }).Made.create();
    const signal = AbortSignal.abort('gone');
    await expect(embedder.embed('never', { signal })).rejects.toBe('gone');
    const running = embedder.embed('never');
    embedder.destroy();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await expect(embedder.embed('x')).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('refuses a model that makes no vectors', async () => {
    const { Made } = createClass({ loads: { ...MODEL, deployment: 'reranker' } });
    await expect(Made.create()).rejects.toMatchObject({ name: 'NotSupportedError' });
  });

  it('is installed beside LanguageModel, unless the browser has its own', () => {
    const { serve } = createClient();
    installPromptApi({ serve });
    expect(Reflect.get(globalThis, 'SemanticEmbedder')).toHaveProperty('name', 'SemanticEmbedder');
    const own = vi.fn<() => void>();
    vi.stubGlobal('SemanticEmbedder', own);
    installPromptApi({ serve });
    expect(Reflect.get(globalThis, 'SemanticEmbedder')).toBe(own);
    installPromptApi({ serve, force: true });
    expect(Reflect.get(globalThis, 'SemanticEmbedder')).not.toBe(own);
  });
});
