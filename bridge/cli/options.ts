import { parseArgs, type ParseArgsConfig } from 'node:util';
import { keysOf } from '../../src/batching/base/records.ts';
import { serverUrlOf, withoutPassword } from '../../src/client/links/server/server-http.ts';
import { BridgeError, MAX_PORT } from '../base/errors.ts';
import { LOG_LEVELS, type LogLevel } from '../http/access-log.ts';
import { isModelId } from '../../src/client/model-source.ts';
import { dtypeChoice, type DtypeChoice } from '../../src/protocol/models.ts';
import { isModelPath } from '../local-models/read-local-model.ts';
import type { BatchingPolicy } from '../../src/protocol/status.ts';
import type { ForwardTarget } from '../forward/fetch-target.ts';
import { argumentFault } from './argument-fault.ts';
import { defaultBatchFolder } from './profile-folder.ts';
import { KNOB_OPTIONS, KNOB_USAGE, parseKnobs } from './knob-options.ts';
import type { WhenToOpen } from './open-browser.ts';

/** The options of the command line. */
export interface CommandLineOptions {
  /** 0 lets the system choose a free port. */
  readonly port: number;
  /** The server also listens on loopback. `localhost` means both of its addresses, 127.0.0.1 and ::1. */
  readonly host: string;
  readonly openBrowser: 'never' | WhenToOpen;
  /** Whether to start a browser without a window as the tab that serves. */
  readonly isHeadless: boolean;
  /** Folder of a page of one's own that serves, instead of Tabserve's, and its file there. */
  readonly root?: string | undefined;
  readonly entry?: string | undefined;
  /** Where the page runs its model. By default the page chooses. */
  readonly backend?: 'webgpu' | 'wasm' | undefined;
  /** The ID or the path of the model that the page begins with. By default the embedded model, or the last one of that browser. */
  readonly model?: string | undefined;
  /** The precision of that model's weights. By default the page chooses. */
  readonly dtype?: DtypeChoice | undefined;
  /** The IDs or paths of models that serve beside that one: one makes vectors of texts, one ranks them. */
  readonly embedder?: string | undefined;
  readonly reranker?: string | undefined;
  /** Folder of the headless browser's profile, where models are stored. By default one for all servers of this user. */
  readonly profile?: string | undefined;
  /** Knobs of the text generator that differ from their defaults when a page begins to serve. */
  readonly knobs: Partial<BatchingPolicy>;
  /** Origins of other pages that may send requests. */
  readonly allowedOrigins: readonly string[];
  /** Whether clients may choose the `priority` of their requests. */
  readonly allowsPriority: boolean;
  /** Whether `/v1/…` answers under any model name. */
  readonly allowsAnyModel: boolean;
  /** Whether clients on this machine may change knobs. */
  readonly allowsAdmin: boolean;
  /** How long running requests may go on after the first Ctrl+C, in ms. */
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  /** Origins that the page may fetch models from: a hub, and the origins that it redirects to. Empty for huggingface.co. */
  readonly hub: readonly string[];
  /** An OpenAI-compatible server that generates instead of a model in the tab. */
  readonly target?: Omit<ForwardTarget, 'apiKey'> | undefined;
  /** Folder of uploaded files and batches. */
  readonly batchFolder: string;
  /** The largest file that may be uploaded. */
  readonly maxUploadBytes: number;
  readonly help: boolean;
}

const DEFAULT_PORT = 8000;

const DEFAULT_DRAIN_MS = 10_000;

/** OpenAI's limit. */
const DEFAULT_UPLOAD_MB = 512;
const MAX_UPLOAD_MB = 1_000_000;

/** The longest that a timer can wait. */
const MAX_DRAIN_MS = 2 ** 31 - 1;

export const USAGE = `Usage: npx tabserve [options], or npm start -- [options] in a checkout
  --port N              port to listen on (default ${DEFAULT_PORT}; 0 = any free one)
  --host NAME           address to listen on as well as on localhost, where the page is (default localhost alone)
  --headless            start a browser without a window as the tab that serves; it ends with this
  --root FOLDER         serve the built page in this folder instead of Tabserve's: your own, which calls connect() and names its model
                        there; its deployments answer at /deployments/NAME
  --entry FILE          the page's file in it (default index.html), which is opened; its other pages find the server, too
  --model ID            serve this model of the hub, such as HuggingFaceTB/SmolLM2-135M-Instruct, in the page that this opens;
                        it is downloaded once (default storyteller, the small model that comes with Tabserve); or a model on
                        this machine: ./model.gguf, or ./folder with config.json and safetensors (for the two below, too);
                        docs/models.md says what is worth loading in 0.3, 0.6, 1 and 2 GB
  --dtype NAME          its precision: ${dtypeChoice.options.join(', ')} (default auto, the best that fits)
  --embedder ID         serve this model at /v1/embeddings, beside the one that generates
  --reranker ID         serve this model at /v1/rerank, beside the others
  --backend NAME        run the model on webgpu or wasm in the page that this opens (default the best that works)
  --profile FOLDER      profile of the browser of --headless, which keeps the models (default one in the user's cache)
  --open                open the page in your browser, also beside --headless (default where there is a screen and no --headless)
  --no-open             do not open a browser
  --hub URL             fetch models from this hub instead of huggingface.co, on every page of this server; again for each host
                        that it redirects to
  --upstream URL        let this OpenAI-compatible server (vLLM, Ray Serve LLM) generate, instead of a model in the tab;
                        its key, if any, in the environment variable TABSERVE_UPSTREAM_API_KEY
  --upstream-model ID   which of its models (default the first that it names)
  --any-model           answer in /v1/… whatever model a client names (default: only the name of the one that serves)
  --allow-origin URL    let pages of this origin ask; again for each
  --allow-priority      let clients choose the priority of their requests (default: all have priority 0)
  --allow-admin         let clients on this machine change the knobs below with PATCH /policy
  --drain-ms N          let running requests go on for this long after Ctrl+C (default ${DEFAULT_DRAIN_MS}; 0 = end them at once);
                        a second Ctrl+C stops at once
  --batch-folder FOLDER keep the files and batches of /v1/files and /v1/batches here, and go on with those that have not ended
                        (default one in the user's cache)
  --max-upload-mb N     refuse larger files (default ${DEFAULT_UPLOAD_MB})
  --log LEVEL           a line of JSON for each request: requests (default, without health checks and metrics), all, errors or off
  --help                print this
How prompts are batched (see docs/batching.md), when a page begins to serve:
${KNOB_USAGE}`;

/** @throws BridgeError for invalid arguments. */
export function parseOptions(args: readonly string[]): CommandLineOptions {
  const { values } = parseStrictly(args);
  if (values.upstream !== undefined) refuseBesideTarget(values);
  if (values.root !== undefined) refuseBesideRoot(values);
  else if (values.entry !== undefined) throw missingCompanion('entry', 'root');
  // An empty name would mean all interfaces.
  if (values.host === '')
    throw new BridgeError('INVALID_ARGUMENT', 'Expected `--host` to be a name or an address, got nothing');
  const mayOpen = !values['no-open'] && (values.open || !values.headless);
  const whenToOpen = values.open ? 'always' : 'with-screen';
  return {
    port: parseInteger('port', values.port, MAX_PORT),
    host: values.host,
    openBrowser: mayOpen ? whenToOpen : 'never',
    isHeadless: values.headless,
    allowedOrigins: values['allow-origin'].map((text) => parseOrigin('allow-origin', 'an origin', text)),
    allowsPriority: values['allow-priority'],
    drainMs: parseInteger('drain-ms', values['drain-ms'], MAX_DRAIN_MS),
    allowsAnyModel: values['any-model'],
    allowsAdmin: values['allow-admin'],
    logLevel: parseChoice('log', LOG_LEVELS, values.log),
    root: values.root,
    entry: values.entry,
    hub: values.hub.map((text) => parseOrigin('hub', 'the address of a hub', text)),
    ...parseModel(values),
    knobs: parseKnobs(values),
    target: parseTarget(values.upstream, values['upstream-model']),
    batchFolder: values['batch-folder'] ?? defaultBatchFolder(),
    maxUploadBytes: parseInteger('max-upload-mb', values['max-upload-mb'], MAX_UPLOAD_MB) * 2 ** 20,
    help: values.help,
  };
}

const OPTIONS = {
  port: { type: 'string', default: String(DEFAULT_PORT) },
  host: { type: 'string', default: 'localhost' },
  root: { type: 'string' },
  entry: { type: 'string' },
  backend: { type: 'string' },
  model: { type: 'string' },
  dtype: { type: 'string' },
  embedder: { type: 'string' },
  reranker: { type: 'string' },
  profile: { type: 'string' },
  'any-model': { type: 'boolean', default: false },
  'allow-admin': { type: 'boolean', default: false },
  hub: { type: 'string', multiple: true, default: [] },
  upstream: { type: 'string' },
  'upstream-model': { type: 'string' },
  headless: { type: 'boolean', default: false },
  open: { type: 'boolean', default: false },
  'no-open': { type: 'boolean', default: false },
  'allow-origin': { type: 'string', multiple: true, default: [] },
  'allow-priority': { type: 'boolean', default: false },
  'drain-ms': { type: 'string', default: String(DEFAULT_DRAIN_MS) },
  log: { type: 'string', default: 'requests' },
  'batch-folder': { type: 'string' },
  'max-upload-mb': { type: 'string', default: String(DEFAULT_UPLOAD_MB) },
  ...KNOB_OPTIONS,
  help: { type: 'boolean', default: false },
} satisfies ParseArgsConfig['options'];

function parseStrictly(args: readonly string[]) {
  try {
    const parsed = parseArgs({
      args: [...args],
      tokens: true,
      strict: true,
      allowPositionals: false,
      options: OPTIONS,
    });
    refuseRepeated(parsed);
    return parsed;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    throw new BridgeError('INVALID_ARGUMENT', `${argumentFault(args, OPTIONS)}\n${USAGE}`, error);
  }
}

/** The last value would win without a word. Options that may come again have a list of values. */
function refuseRepeated({ values, tokens }: Pick<ReturnType<typeof parseArgs>, 'values' | 'tokens'>): void {
  const given = (tokens ?? []).flatMap((token) => (token.kind === 'option' ? [token] : []));
  const repeated = given.find(
    ({ name, value }, at) =>
      value !== undefined &&
      !Array.isArray(values[name]) &&
      given.findIndex((other) => other.name === name) < at,
  );
  if (!repeated) return;
  const hint = repeated.name === 'model' ? ' `--embedder` and `--reranker` name models beside it.' : '';
  throw new BridgeError('INVALID_ARGUMENT', `Expected \`--${repeated.name}\` once.${hint}`);
}

function parseInteger(option: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  throw BridgeError.invalid(option, `an integer from 0 to ${max}`, text);
}

/** Options that are about a model in the tab. */
const OF_TAB_MODEL = [
  'backend',
  'model',
  'dtype',
  'embedder',
  'reranker',
  'any-model',
  'allow-admin',
  ...Object.keys(KNOB_OPTIONS),
];

function refuseBesideTarget(values: Readonly<Record<string, unknown>>): void {
  const name = OF_TAB_MODEL.find((option) => values[option] !== undefined && values[option] !== false);
  if (name === undefined) return;
  const message = `Expected \`--${name}\` without \`--upstream\`, which runs the model elsewhere: leave out one of them.`;
  throw new BridgeError('INVALID_ARGUMENT', message);
}

/** Tabserve's page reads them in its address. */
const OF_OWN_PAGE = ['backend', 'model', 'dtype', 'embedder', 'reranker', 'upstream'];

function refuseBesideRoot(values: Readonly<Record<string, unknown>>): void {
  const name = OF_OWN_PAGE.find((option) => values[option] !== undefined);
  if (name === undefined) return;
  const message = `Expected \`--${name}\` without \`--root\`: your own page names its model itself, with \`connect({ model })\` or \`loadModel\`.`;
  throw new BridgeError('INVALID_ARGUMENT', message);
}

const BACKENDS = ['webgpu', 'wasm'] as const;

interface ModelTexts {
  readonly backend?: string | undefined;
  readonly model?: string | undefined;
  readonly dtype?: string | undefined;
  readonly embedder?: string | undefined;
  readonly reranker?: string | undefined;
  readonly profile?: string | undefined;
  readonly headless: boolean;
}

/** Options that name a model, with an example. */
const MODELS = {
  model: 'HuggingFaceTB/SmolLM2-135M-Instruct',
  embedder: 'sentence-transformers/all-MiniLM-L6-v2',
  reranker: 'cross-encoder/ms-marco-MiniLM-L6-v2',
} as const;

function parseModel({
  backend,
  dtype,
  profile,
  headless,
  ...models
}: ModelTexts): Pick<
  CommandLineOptions,
  'backend' | 'model' | 'dtype' | 'embedder' | 'reranker' | 'profile'
> {
  const { model, embedder, reranker } = models;
  for (const option of keysOf(MODELS)) {
    const id = models[option];
    if (id !== undefined && !isModelId(id) && !isModelPath(id)) {
      const expected = `the ID of a model on the hub, such as ${MODELS[option]}, or the path of a folder or a GGUF file, which begins with ./ or /`;
      throw BridgeError.invalid(option, expected, id);
    }
  }
  if (dtype !== undefined && model === undefined) throw missingCompanion('dtype', 'model');
  if (profile !== undefined && !headless) throw missingCompanion('profile', 'headless');
  return {
    backend: backend === undefined ? undefined : parseChoice('backend', BACKENDS, backend),
    model,
    dtype: dtype === undefined ? undefined : parseChoice('dtype', dtypeChoice.options, dtype),
    embedder,
    reranker,
    profile,
  };
}

function missingCompanion(option: string, companion: string): BridgeError {
  const message = `Expected \`--${option}\` to come with \`--${companion}\`.`;
  return new BridgeError('INVALID_ARGUMENT', message);
}

function parseTarget(text: string | undefined, model: string | undefined): CommandLineOptions['target'] {
  const url = serverUrlOf(text);
  if (url !== undefined) return { url, model };
  const expected =
    'the address of an OpenAI-compatible server, such as http://gpu-machine:8000, without a query or a password: put its key into TABSERVE_UPSTREAM_API_KEY';
  if (text !== undefined) throw BridgeError.invalid('upstream', expected, withoutPassword(text));
  if (model === undefined) return undefined;
  throw missingCompanion('upstream-model', 'upstream');
}

function parseChoice<Choice extends string>(
  option: string,
  choices: readonly Choice[],
  text: string,
): Choice {
  const choice = choices.find((known) => known === text);
  if (choice !== undefined) return choice;
  throw BridgeError.invalid(option, `one of ${choices.join(', ')}`, text);
}

function parseOrigin(option: string, expected: string, text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.origin;
  throw BridgeError.invalid(option, expected, text);
}
