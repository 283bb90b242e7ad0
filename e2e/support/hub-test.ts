import type { Page } from 'playwright/test';

import { startServer } from '../../bridge/server.ts';
import type { LoadModelOptions } from '../../src/client/index.ts';
import type { ModelLoad, StoredModel } from '../../src/protocol/models.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';
import {
  asLineChat,
  CHAT_MODEL,
  chatCheckpoint,
} from '../../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { DECODERS, WITHOUT_GGUF } from '../../tools/hub-server/checkpoints/decoders.ts';
import { ENCODERS } from '../../tools/hub-server/checkpoints/encoders.ts';
import { ggufCheckpoint } from '../../tools/hub-server/checkpoints/gguf-checkpoint.ts';
import { jsonFile, type GeneratedFile } from '../../tools/hub-server/checkpoints/generated-file.ts';
import { createRepository, type HubRepository } from '../../tools/hub-server/hub-repository.ts';
import { startHubServer, type HubServer } from '../../tools/hub-server/hub-server.ts';
import {
  changedConfig,
  tokenizerThatAdds,
  tokenizerThatKnows,
  tokenizerThatSplitsBy,
  weightsWithHeaderLength,
  weightsWithTensor,
  type FileFault,
} from './broken-model.ts';
import { readModelFile } from './reference.ts';
import { collectPolicyReports, reportingPolicy } from './policy-reports.ts';
import { someOf } from './seeded-random.ts';
import { Site } from './site.ts';
import { DEFAULT_KNOBS, openTab, type Outcome, type Tab } from './tab.ts';
import { expect, IS_WHOLE, test as base } from './test.ts';

/** The embedded model under another name: it is small, and PyTorch's results for it are known. */
export const TWIN = 'tests/twin';
/** The twin as llama.cpp's converter would write it: in two files, so that one has to be named. */
export const GGUF_TWIN = 'tests/twin-gguf';
/** The page's policy forbids it, and nothing listens there. Playwright lists a request that a redirect to it would have made. */
export const FORBIDDEN_URL = 'http://127.0.0.1:9/';
export const WEIGHTS = 'model.safetensors';

/** The first model that the page suggests; the mirror has a generated one under its name. */
export const SMALLEST_CHAT_MODEL = 'HuggingFaceTB/SmolLM2-135M-Instruct';

/** Encoders that the page suggests; the mirror has generated ones under their names. */
export const EMBEDDING_MODEL = 'sentence-transformers/all-MiniLM-L6-v2';
export const RERANKING_MODEL = 'cross-encoder/ms-marco-MiniLM-L6-v2';

/** Decoders that the mirror has as a GGUF file, too. Unit tests have the logits of each. */
export const GGUF_FAMILIES = someOf(
  [...DECODERS].filter(([id]) => !WITHOUT_GGUF.includes(id)),
  3,
);

/** Decoders as models that take chats: those that keep state of a fixed size, and in the whole run other relatives of Llama. */
export const DECODER_CHATS = [
  'generated/lfm2',
  'generated/qwen35',
  ...(IS_WHOLE ? ['smollm3', 'granite', 'ministral3', 'phi3', 'olmo2', 'olmo3'] : []).map(
    (name) => `generated/${name}`,
  ),
].map((id) => ({ id, chatId: `${id}-chat` }));

const MODEL_FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  WEIGHTS,
];

/** A token beyond the embedding of the models that have it. */
export const UNSEEN = '<unseen>';
/** The embedded model with that token added, and with it in its vocabulary. */
export const ADDED_BEYOND = 'tests/added-beyond';
export const VOCABULARY_BEYOND = 'tests/vocabulary-beyond';
/** An encoder with that token added. */
export const ENCODER_BEYOND = 'tests/encoder-beyond';

const TENSOR = 'h.0.attn.c_attn.weight';

/** As the twin, but for one file. */
const BROKEN_TWINS: ReadonlyMap<string, FileFault> = new Map([
  [
    'tests/wrong-shape',
    weightsWithTensor(TENSOR, (entry) => ({ ...entry, shape: entry.shape.toReversed() })),
  ],
  ['tests/missing-tensor', weightsWithTensor(TENSOR, () => null)],
  ['tests/bad-header', weightsWithHeaderLength(100n)],
  ['tests/mamba', changedConfig({ model_type: 'mamba' })],
  ['tests/endless-pattern', tokenizerThatSplitsBy('(a+)+$')],
  [ADDED_BEYOND, tokenizerThatAdds([UNSEEN, 2048])],
  [VOCABULARY_BEYOND, tokenizerThatKnows([UNSEEN, 2048])],
]);

/** A generated decoder in two shards, and two copies that differ in one file. */
export const SHARDED = 'generated/llama';
export const UNKNOWN_ROPE = 'tests/unknown-rope';
export const MISSING_SHARD = 'tests/missing-shard';

interface HubWorkerFixtures {
  /** A mirror of the hub, and the built page served with it as its only foreign origin. */
  readonly hubSite: { readonly hub: HubServer; readonly pageUrl: string; readonly reportUrl: string };
  readonly sharedHubTab: Tab;
}

interface HubTestFixtures {
  /** Without faults and without a count at the start of each test. */
  readonly hub: HubServer;
  /** A page shared by all tests of the project, which has any model, its knobs at their defaults and an empty cache of prefixes. */
  readonly hubTab: Tab;
  /** The same with the embedded model, and no other on the device. */
  readonly freshTab: Tab;
  /** The same with the chat model of the hub. */
  readonly chatTab: Tab;
  /** Fails the test if a request goes anywhere but to the page's own origin and to the hub. */
  readonly allowsNoForeignRequests: void;
}

export const test = base.extend<HubTestFixtures, HubWorkerFixtures>({
  hubSite: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
    async ({}, provide) => {
      const twins = [...BROKEN_TWINS].map(([id, { file, body }]) =>
        createRepository(id, new Map([...twinFiles(), [file, body ?? Buffer.alloc(0)]])),
      );
      const hub = await startHubServer([
        createRepository(TWIN, twinFiles()),
        createRepository(CHAT_MODEL, chatCheckpoint()),
        createRepository(SMALLEST_CHAT_MODEL, chatCheckpoint()),
        createRepository(EMBEDDING_MODEL, generatedEncoder('generated/bert')),
        createRepository(RERANKING_MODEL, generatedEncoder('generated/cross-encoder')),
        createRepository(ENCODER_BEYOND, encoderWithUnseen()),
        ...twins,
        ...decoderRepositories(),
        ...(await Promise.all(ggufRepositories())),
      ]);
      // Of its own: tests that break the policy run beside others, which must not see these reports.
      const reports = await collectPolicyReports();
      const page = await serveBuiltPage(hub.url, reports.url);
      await provide({ hub, pageUrl: page.url, reportUrl: reports.url });
      await Promise.all([page.close(), hub.close(), reports.close()]);
    },
    { scope: 'worker' },
  ],

  hub: async ({ hubSite: { hub } }, provide) => {
    hub.fault = () => undefined;
    hub.forget();
    await provide(hub);
    hub.fault = () => undefined;
  },

  sharedHubTab: [
    async ({ browser, backend, hubSite: { pageUrl } }, provide) => {
      const context = await browser.newContext({ baseURL: pageUrl });
      await provide(await openTab(context, backend));
      await context.close();
    },
    { scope: 'worker', timeout: 300_000 },
  ],

  hubTab: async ({ sharedHubTab: tab }, provide) => {
    await tab.configure({ prefixCaching: false });
    await tab.configure(DEFAULT_KNOBS);
    await tab.cancelBegun();
    await tab.forget();
    await provide(tab);
    await tab.whenIdle();
    expect(tab.errors, 'errors on the console').toEqual([]);
  },

  freshTab: async ({ hubTab, hub }, provide) => {
    await loadModel(hubTab, 'storyteller', {});
    for (const { key } of await storedModels(hubTab)) await deleteModel(hubTab, key);
    hub.forget();
    await provide(hubTab);
  },

  chatTab: async ({ hubTab, hubSite: { hub } }, provide) => {
    const { model } = await hubTab.status();
    if (model?.id !== CHAT_MODEL) await loadModel(hubTab, CHAT_MODEL, { hub: hub.url });
    await provide(hubTab);
  },

  baseURL: async ({ hubSite }, provide) => {
    await provide(hubSite.pageUrl);
  },

  reportUrl: async ({ hubSite }, provide) => {
    await provide(hubSite.reportUrl);
  },

  allowsNoForeignRequests: [
    async ({ context, hubSite, reportUrl }, provide) => {
      const foreign: string[] = [];
      const allowed = [hubSite.hub.url, hubSite.pageUrl, reportUrl, FORBIDDEN_URL, 'data:', 'blob:'];
      context.on('request', (request) => {
        if (!allowed.some((origin) => request.url().startsWith(origin))) foreign.push(request.url());
      });
      await provide();
      expect(foreign, 'requests to any host but those of the page and of the hub').toEqual([]);
    },
    { auto: true },
  ],

  site: async ({ context, backend }, provide) => {
    const site = new Site(context, backend);
    await provide(site);
    for (const { errors } of site.tabs) expect(errors, 'errors on the console').toEqual([]);
  },
});

function generatedEncoder(id: string): ReadonlyMap<string, GeneratedFile> {
  return ENCODERS.get(id)?.() ?? new Map();
}

function encoderWithUnseen(): ReadonlyMap<string, GeneratedFile | Uint8Array> {
  const files = generatedEncoder('generated/bert');
  const { file, body } = tokenizerThatAdds([UNSEEN, 100_000], readJson(files.get('tokenizer.json')));
  return new Map<string, GeneratedFile | Uint8Array>([...files, [file, body ?? Buffer.alloc(0)]]);
}

function decoderRepositories(): readonly HubRepository[] {
  const sharded = DECODERS.get(SHARDED)?.() ?? new Map<string, GeneratedFile>();
  const config = { ...readJson(sharded.get('config.json')), rope_scaling: { rope_type: 'spiral' } };
  return [
    ...Array.from(DECODERS, ([id, generate]) => createRepository(id, generate())),
    ...DECODER_CHATS.map(({ id, chatId }) =>
      createRepository(chatId, asLineChat(DECODERS.get(id)?.() ?? new Map(), 256)),
    ),
    createRepository(UNKNOWN_ROPE, new Map([...sharded, ['config.json', jsonFile(config)]])),
    createRepository(MISSING_SHARD, new Map([...sharded].filter(([name]) => !name.includes('00002-of')))),
  ];
}

function ggufRepositories(): readonly Promise<HubRepository>[] {
  return [
    ggufRepository(GGUF_TWIN, twinFiles(), ['twin-F32.gguf', 'twin-f32-copy.gguf']),
    ...GGUF_FAMILIES.map(([id, generate]) => ggufRepository(`${id}-gguf`, generate(), ['model.gguf'])),
  ];
}

async function ggufRepository(
  id: string,
  files: Parameters<typeof ggufCheckpoint>[0],
  names: readonly string[],
): Promise<HubRepository> {
  const bytes = await ggufCheckpoint(files);
  return createRepository(id, new Map(names.map((name) => [name, bytes])));
}

// oxlint-disable-next-line typescript/no-explicit-any -- what JSON holds is for the caller to say
function readJson(file: GeneratedFile | undefined): any {
  return file ? JSON.parse(new TextDecoder().decode(file.read(0, file.size))) : {};
}

/** With a hub as its only foreign origin. */
export function serveBuiltPage(hubUrl: string, reportUrl: string): ReturnType<typeof startServer> {
  const root = new URL('../../dist', import.meta.url).pathname;
  const policy = reportingPolicy(reportUrl, [hubUrl]);
  return startServer({ host: 'localhost', port: 0, root, policy });
}

/** How a load ended, and what the tab heard of it. */
export type Loaded = Outcome<TabserveStatus> & { readonly loads: readonly ModelLoad[] };

export function loadModel(
  { page }: Pick<Tab, 'page'>,
  id: string,
  options: Omit<LoadModelOptions, 'signal' | 'onProgress'>,
): Promise<Loaded> {
  return page.evaluate(
    async ([model, given]) => {
      const loads: ModelLoad[] = [];
      try {
        const value = await window.tabserve.loadModel(model, {
          ...given,
          onProgress: (load) => loads.push(load),
        });
        return { value, loads };
      } catch (error) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all errors of the client have a code
        const { code, message } = error as Error & { code: string };
        return { code, message, loads };
      }
    },
    [id, options] as const,
  );
}

export function storedModels({ page }: Pick<Tab, 'page'>): Promise<readonly StoredModel[]> {
  return page.evaluate(() => window.tabserve.storedModels());
}

/** Also one that runs. */
export function deleteModel({ page }: Pick<Tab, 'page'>, key: string): Promise<void> {
  return page.evaluate((stored) => window.tabserve.deleteModel(stored, { force: true }), key);
}

export function storedFiles(page: Page): Promise<readonly string[]> {
  return page.evaluate(async () => {
    const found: string[] = [];
    const walk = async (folder: FileSystemDirectoryHandle, path: string): Promise<void> => {
      for await (const [name, entry] of folder.entries()) {
        if ('getFile' in entry) found.push(`${path}/${name}`);
        else await walk(entry, `${path}/${name}`);
      }
    };
    await walk(await navigator.storage.getDirectory(), '');
    return found;
  });
}

export function twinFiles(): Map<string, Buffer> {
  return new Map(MODEL_FILES.map((name) => [name, readModelFile(name)]));
}
