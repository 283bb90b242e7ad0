import * as v from 'valibot';
import {
  GENERATION_OPTIONS,
  MODEL_OPTION_NAMES,
  type ModelOptionTypes,
} from '../batching/options/generation-options.ts';
import { fromNames } from '../batching/base/records.ts';
import { rung } from './ladder.ts';
import { count, duration, name, wireError, type Wire } from './wire.ts';

export const DTYPES = ['fp16', 'fp32', 'q8', 'q4'] as const;

const dtype = v.picklist(DTYPES);
/**
 * How weights are stored. `q8` and `q4` quantize matrices and embeddings; the rest has the precision of activations.
 *
 * @useDeclaredType
 */
export type Dtype = Wire<typeof dtype>;

export const DTYPE_CHOICES = ['auto', ...DTYPES] as const;

export const dtypeChoice = v.picklist(DTYPE_CHOICES);
/**
 * `auto`: the best precision that the device has and that fits.
 *
 * @useDeclaredType
 */
export type DtypeChoice = Wire<typeof dtypeChoice>;

/** The ID of the embedded model. */
export const EMBEDDED_MODEL = 'storyteller';

/** The model that comes with the package. The worker knows where its files lie. */
const embedded = v.object({ type: v.literal('embedded') });
/** A folder in the hub's layout: an absolute URL that ends in `/`. */
const address = v.object({ type: v.literal('address'), url: v.string() });
const hub = v.object({
  type: v.literal('hub'),
  /** Origin of the hub. */
  hub: name,
  /** `owner/name`. */
  id: name,
  /** A branch, a tag or a commit. */
  revision: name,
});
const files = v.object({ type: v.literal('files'), name, files: v.array(v.instance(File)) });

export const fetchedSource = v.variant('type', [embedded, address]);
/** A model that is fetched at each start and never stored. */
export type FetchedSource = Wire<typeof fetchedSource>;

export const modelSource = v.variant('type', [embedded, address, hub, files]);
/** Where `loadModel` finds a model. */
export type ModelSource = Wire<typeof modelSource>;
/** A model that is stored before it runs. */
export type StoredSource = Exclude<ModelSource, FetchedSource>;

export function isFetched(source: ModelSource): source is FetchedSource {
  return source.type === 'embedded' || source.type === 'address';
}

/** `none`: no model serves until `load-model`. */
export const firstSource = v.variant('type', [
  embedded,
  address,
  hub,
  files,
  v.object({ type: v.literal('none') }),
]);
/** Where a worker finds the model that it begins with. */
export type FirstSource = Wire<typeof firstSource>;

/** The ID of the model that a source yields. */
export function modelNameOf(source: ModelSource): string {
  switch (source.type) {
    case 'embedded':
      return EMBEDDED_MODEL;
    case 'address':
      return URL.parse(source.url)?.pathname.split('/').at(-2) || source.url;
    case 'hub':
      return source.id;
    case 'files':
      return source.name;
  }
}

export const whenBusy = v.picklist(['finish', 'resubmit']);
/**
 * When another model is ready: whether waiting and running requests finish with the old one, or start again with the new one.
 *
 * @useDeclaredType
 */
export type WhenBusy = Wire<typeof whenBusy>;

const VALUE_OF_TYPE = { integer: count, number: v.number(), strings: v.array(v.string()) };

const generationDefaults = v.object(
  /* @__PURE__ */ fromNames<{
    readonly [Name in keyof ModelOptionTypes]: (typeof VALUE_OF_TYPE)[ModelOptionTypes[Name]];
  }>(MODEL_OPTION_NAMES, (option) => VALUE_OF_TYPE[GENERATION_OPTIONS[option].type]),
);
/** A value of each option that a model may have a default for. */
export type GenerationDefaults = Wire<typeof generationDefaults>;

export const modelInfo = v.object({
  /** The hub's ID, the name of a folder, or the server's name for it. */
  id: v.string(),
  /** Tells models of one ID apart: the commit of the hub, or the address of the folder. Left out for all others. */
  origin: v.exactOptional(v.string()),
  /** Number of weights. */
  numParameters: count,
  /** Number of decoder layers. */
  numLayers: count,
  /** Bytes of the weights and of one sequence of full length on this device. Left out for a server. */
  memoryBytes: v.exactOptional(count),
  /** Longest prompt and output together, in tokens, that the model and the device allow. */
  contextLength: count,
  /** Number of different tokens. Token IDs are smaller. */
  vocabSize: count,
  /** Whether the model takes a list of chat messages as a prompt. */
  hasChatTemplate: v.boolean(),
  /** Whether its template lets it think before it answers. Left out for a server. */
  canThink: v.exactOptional(v.boolean()),
  /** Set while it serves for `loadModel({ isTemporary: true })`. */
  isTemporary: v.exactOptional(v.literal(true)),
  /** `generation_config.json` merged over our own defaults; for a server, our own only. */
  generationDefaults,
});
/**
 * A model. Numbers that a server does not report are 0.
 *
 * @interface
 */
export type ModelInfo = Wire<typeof modelInfo>;

/** `server`: the client is connected to a server, and no model runs here. */
const backend = v.picklist(['webgpu', 'wasm', 'server']);

/** `unknown` for a server. */
export const precision = v.picklist([...DTYPES, 'unknown']);

export const backendInfo = v.object({
  /** The backend: WebGPU, `wasm` for the CPU, or another server. */
  name: backend,
  /** Left out for a server. */
  rung: v.exactOptional(rung),
  /** How the weights are stored. */
  precision,
  /** The GPU as its driver names it, how the CPU computes (`CPU, int8, relaxed SIMD, 2 threads`), or the address of the server. */
  adapter: v.string(),
  /** Whether the adapter runs WebGPU on the CPU, as SwiftShader does. */
  isSoftwareAdapter: v.exactOptional(v.boolean()),
  /** Why each better rung was skipped or left, and why `auto` took no better precision; empty if these are the best. */
  fallbackReason: v.string(),
});
/**
 * Where the model runs.
 *
 * @interface
 */
export type BackendInfo = Wire<typeof backendInfo>;

export const encoderInfo = v.object({
  /** The deployment that it serves: `embedder` or `reranker`. */
  deployment: name,
  /** The hub's ID, or the name of a folder. */
  id: v.string(),
  /** Number of weights. */
  numParameters: count,
  /** Longest text in tokens, special tokens included, that the model and the device allow. */
  maxTokens: count,
  /** Number of different tokens. Token IDs are smaller. */
  vocabSize: count,
  /** Length of its vectors; 1 for scores. */
  dimensions: count,
  /** Names of its prompts. */
  prompts: v.array(v.string()),
  /** Where it runs. */
  backend: backendInfo,
  /**
   * Tokens of a batch from which on this backend is faster than WASM, as measured at the load. Smaller batches run on WASM. Left out
   * where WASM is always faster, and for a model that is on one device alone.
   */
  crossoverTokens: v.exactOptional(count),
  /** Set while `ejectModel` keeps it out of memory: the next request loads it again. */
  isEjected: v.exactOptional(v.literal(true)),
});
/**
 * A model that makes vectors of texts, or ranks them. Numbers that a server does not report are 0.
 *
 * @interface
 */
export type EncoderInfo = Wire<typeof encoderInfo>;

export const servedModel = v.object({
  /** As `ModelInfo.id`. */
  id: v.string(),
  /** As `ModelInfo.origin`. */
  origin: v.exactOptional(v.string()),
  /** The backend: WebGPU, `wasm` for the CPU, or another server. */
  backend,
  /** As `BackendInfo.rung`. */
  rung: v.exactOptional(rung),
  /** How the weights are stored. */
  precision,
});
/**
 * The model that answers a request, and how it runs. Each of these may change a sampled text.
 *
 * @interface
 */
export type ServedModel = Wire<typeof servedModel>;

const fraction = v.number();

export const loadProgress = v.object({
  /**
   * `prepare`: weights go to the device. `check`: at a GPU's first start, its results are compared with known values.
   * `compile`: the first runs compile shaders.
   */
  phase: v.picklist(['download', 'prepare', 'check', 'compile']),
  /** Runs for `compile`, tokens for `check`, bytes otherwise. */
  loaded: count,
  /** The final value of `loaded`; 0 while it is not known. */
  total: count,
  /** How much of the whole start is done, from 0 to 1. It never goes back. */
  fraction,
});
/**
 * Progress of the first model.
 *
 * @interface
 */
export type LoadProgress = Wire<typeof loadProgress>;

export const modelLoad = v.object({
  /** The hub's ID, or the name of a folder. */
  id: v.string(),
  /** `pauseLoad()` stopped the download. */
  isPaused: v.boolean(),
  /**
   * `resolve`: asks the hub for the list of files. `download`: weights are verified, converted and stored while they arrive.
   * `convert`: those of picked files are converted and stored. `drain`: the old model finishes its requests.
   */
  phase: v.picklist(['resolve', 'download', 'convert', 'prepare', 'check', 'compile', 'drain']),
  /** Bytes for `download`, `convert` and `prepare`; unanswered tries for `resolve`; steps otherwise. */
  loaded: count,
  /** The final value of `loaded`; 0 while it is not known. */
  total: count,
  /** How much of the whole load is done, over all of its phases, from 0 to 1. It never goes back. */
  fraction,
  /** Measured over the last seconds of a download. */
  bytesPerSecond: v.exactOptional(duration),
  /** Time left of this phase. Left out until its speed is known. */
  secondsLeft: v.exactOptional(duration),
  /** Bytes that the weights and the K/V of one sequence of full length will take on this device. Known before the download. */
  memoryBytes: v.exactOptional(count),
  /** The precision that the weights get, known with `memoryBytes`. */
  dtype: v.exactOptional(dtype),
  /** Set for the model before a temporary one, which serves again. `cancelLoad()` doesn't cancel it. */
  isRestore: v.exactOptional(v.literal(true)),
});
/**
 * A model that is being loaded while another one serves.
 *
 * @interface
 */
export type ModelLoad = Wire<typeof modelLoad>;
/** Progress of a load. */
export type LoadStage = Omit<ModelLoad, 'id' | 'isPaused' | 'fraction' | 'bytesPerSecond' | 'secondsLeft'>;
/** Progress of a start. */
export type StartStage = Omit<LoadProgress, 'fraction'>;

export const precisionPlan = v.object({
  /** The precision. */
  dtype,
  /** Whether `dtype: 'auto'` takes it. */
  isAuto: v.boolean(),
  /** Bytes of the weights and of one sequence, as `load.memoryBytes` has them while the model is loaded; 0 if it can't run so. */
  memoryBytes: count,
  /** Why the model can't run in it on this device; empty if it can. */
  obstacle: v.string(),
  /** Whether it loads without the network. */
  isStored: v.boolean(),
});
/**
 * What a model takes on this device in one precision.
 *
 * @interface
 */
export type PrecisionPlan = Wire<typeof precisionPlan>;

export const loadFailure = v.object({
  /** The hub's ID, or the name of a folder. */
  id: v.string(),
  /** The error that `loadModel` rejected with. */
  error: wireError,
});
/**
 * Why the last requested model does not serve.
 *
 * @interface
 */
export type LoadFailure = Wire<typeof loadFailure>;

export const storedModel = v.object({
  /** The argument of `deleteModel`. */
  key: v.string(),
  /** The hub's ID, or the name of a folder. */
  id: v.string(),
  /** The requested revision; empty for a folder. */
  revision: v.string(),
  /** Left out while a part is missing. With it, the model loads without the network. */
  dtype: v.exactOptional(dtype),
  /** Bytes on this device. */
  storedBytes: count,
  /** Size of the whole download while a part is missing; 0 if it is not known yet. */
  totalBytes: count,
  /** Whether it runs now. */
  isInUse: v.exactOptional(v.boolean()),
});
/**
 * A model that is stored on this device, in whole or in part.
 *
 * @interface
 */
export type StoredModel = Wire<typeof storedModel>;

export const tokenization = v.object({
  /** The model that the tokens belong to. */
  modelId: v.string(),
  /** The model's context, in tokens. */
  contextLength: count,
  /** The text as token IDs. */
  tokenIds: v.array(count),
  /** Each token as the model's vocabulary spells it: `Ġupon`. */
  spellings: v.array(v.string()),
});
/**
 * A text as tokens of the current model.
 *
 * @interface
 */
export type Tokenization = Wire<typeof tokenization>;

export const detokenization = v.object({
  /** The model that the tokens belong to. */
  modelId: v.string(),
  /** Special tokens are spelled out. */
  text: v.string(),
});
/**
 * Tokens as text.
 *
 * @interface
 */
export type Detokenization = Wire<typeof detokenization>;

export const suggestedModel = v.object({
  /** The hub's ID. */
  id: v.string(),
  /** As the model's authors name it. */
  license: v.string(),
  /** Whether the model takes a list of chat messages as a prompt. */
  isChat: v.boolean(),
  /** The deployment that an encoder serves: `embedder` or `reranker`. Left out for a model that generates. */
  deployment: v.exactOptional(name),
  /** Number of weights. */
  numParameters: count,
  /** Bytes that `loadModel` fetches. */
  downloadBytes: count,
  /** The dtype that `auto` takes on this device; the smallest one if none fits. */
  dtype,
  /** Length of the sequence that `memoryBytes` counts, in tokens. */
  contextLength: count,
  /** Bytes of the weights and of one sequence, as `load.memoryBytes` has them while the model is loaded. An encoder keeps no sequence. */
  memoryBytes: count,
  /** Why the model does not fit on this device; empty if it does. */
  obstacle: v.string(),
});
/**
 * A model that is known to run, with its needs on this device.
 *
 * @interface
 */
export type SuggestedModel = Wire<typeof suggestedModel>;
