import type { BatchEvent } from '../../batching/batch.ts';
import type { RequestTimings, StepEvent, StepReason } from '../../batching/generation/events.ts';
import type { PromptTokenLogprobs, TokenLogprobs } from '../../batching/sampling/logprobs.ts';
import type { GenerationOptions } from '../../batching/generation/options.ts';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import type { ClientId, FinishReason, RequestId } from '../../batching/generation/request.ts';
import type { EngineGauges } from '../../batching/metrics/generation-metrics.ts';
import type { LatencySummary } from '../../batching/metrics/latency-window.ts';
import type { DtypeChoice } from '../models/checkpoint/model-plan.ts';
import type { Dtype } from '../models/checkpoint/packed-weights.ts';

export type { PromptTokenLogprobs, TokenLogprobs } from '../../batching/sampling/logprobs.ts';
export { defaultText, expectedText, optionFromText } from '../../batching/generation/option-text.ts';
export { MAX_CHOICES } from '../../batching/generation/limits.ts';
export {
  checkOf,
  OPTION_NAMES,
  optionOf,
  type GenerationOption,
  type GenerationOptions,
  type OptionName,
} from '../../batching/generation/options.ts';
export type { BatchingPolicy, PolicyName } from '../../batching/generation/policy.ts';
export type { LatencySummary } from '../../batching/metrics/latency-window.ts';
export type { ClientId, FinishReason, RequestId } from '../../batching/generation/request.ts';
export type { DtypeChoice } from '../models/checkpoint/model-plan.ts';
export type { Dtype } from '../models/checkpoint/packed-weights.ts';

/** Raised with every change of a message's shape; a client of another version is told to reload. */
export const PROTOCOL_VERSION = 6;

/** Identity of one worker from its start to its end: a tab that takes over brings a new one. */
export type WorkerId = string & { readonly __brand: 'WorkerId' };

/** Identity of one temporary policy, from its first request to its end. */
export type OverrideId = string & { readonly __brand: 'OverrideId' };

/** Where the runtime may run: `auto` is WebGPU where there is an adapter, else WASM. */
export type BackendChoice = 'auto' | 'webgpu' | 'wasm';

/** Where the model may run, best first. Each is tried in a worker of its own. */
export type Rung = 'webgpu-fp16' | 'webgpu-fp32' | 'wasm-threads' | 'wasm';

/** What can end a worker. */
export type FaultKind =
  | 'device-lost'
  | 'adapter-gone'
  | 'gpu-error'
  | 'gpu-hang'
  | 'out-of-memory'
  | 'wasm-abort'
  | 'run-failed'
  | 'worker-error'
  | 'worker-hang'
  | 'worker-ended';

export interface Fault {
  readonly kind: FaultKind;
  /** As the platform or the runtime words it. */
  readonly message: string;
}

/** What the worker before this one has ended with. Nothing that it had was lost, but for a request that is condemned. */
export interface Recovery extends Fault {
  /** Where it ran; undefined where it did not come so far. */
  readonly rung?: Rung;
  /** Workers in a row that have ended without a token, this one included. */
  readonly attempt: number;
  /** A request that has ended one worker after another fails at the next one. */
  readonly isCondemning?: boolean;
}

/** An error as it crosses the wire: `code` is stable, the client re-creates the class that it names. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, number>>;
}

/** One continuation of a prompt. */
export interface GenerationChoice {
  /** The prompt followed by the continuation. */
  readonly text: string;
  readonly generatedText: string;
  /**
   * All tokens sampled but the end token: those of a stop string too, which the text ends before. From an upstream as it sends
   * them: a vLLM does, any other server may not, and then there are none.
   */
  readonly tokenIds: readonly number[];
  /** One entry per token id, where they were asked for. */
  readonly logprobs?: readonly TokenLogprobs[];
  /** One entry per prompt token, where they were asked for; the first has no logprob. */
  readonly promptLogprobs?: readonly PromptTokenLogprobs[];
  readonly finishReason: FinishReason;
  /** The seed that was used; passing it again repeats the text, alone. An upstream derives those of further continuations itself. */
  readonly seed: number;
}

/** What a request has come to; of several continuations, the first stands here as if it were alone. */
export interface GenerationResult extends GenerationChoice {
  /** All continuations, the first included: as many as `n`. */
  readonly choices: readonly GenerationChoice[];
  /** The prompt once, the output tokens of all continuations; of an upstream that tells no numbers, 0 and its chunks. */
  readonly usage: { readonly numPromptTokens: number; readonly numOutputTokens: number };
  /**
   * From the first start and the first token to the end of the last continuation; TPOT is that of the longest. An upstream
   * starts a request when it takes it, whether or not it lets it wait then.
   */
  readonly timings: RequestTimings;
}

/**
 * What happens to one request, in order: submitted, accepted, started, echo where it was asked for, chunk…, then finished, answered or failed. When the worker
 * is lost in between: resubmitted, and it starts again, with the chunks that come after those it has.
 */
export type RequestUpdate =
  | {
      readonly type: 'submitted';
      readonly requestId: RequestId;
      readonly deployment: string;
      /** The prompt, or another deployment's input, as the caller gave it. */
      readonly input: unknown;
    }
  /** Its prompt and options are good, and the queue had a place: it waits for its turn. The text generator alone says so. */
  | { readonly type: 'accepted'; readonly requestId: RequestId }
  | {
      readonly type: 'started';
      readonly requestId: RequestId;
      readonly queueWaitMs: number;
      readonly model: ServedModel;
    }
  /** Its worker was lost; it waits at the next one. */
  | { readonly type: 'resubmitted'; readonly requestId: RequestId }
  /** `model` begins it anew, because another one had begun it or an upstream cannot resume it: what came of it is void. */
  | { readonly type: 'restarted'; readonly requestId: RequestId; readonly model: ServedModel }
  /**
   * The prompt, once for each continuation and before its first chunk: when the request starts, or with the prompt's logprobs
   * once they are there.
   */
  | {
      readonly type: 'echo';
      readonly requestId: RequestId;
      readonly index: number;
      /** Empty where the stream isn't to begin with it. */
      readonly text: string;
      readonly promptLogprobs?: readonly PromptTokenLogprobs[];
    }
  | {
      readonly type: 'chunk';
      readonly requestId: RequestId;
      /** Which continuation it belongs to, from 0. */
      readonly index: number;
      /** Whole characters only; empty while a character is incomplete, or may be part of a stop string. */
      readonly text: string;
      readonly tokenIds: readonly number[];
      /** One entry per token id, where they were asked for. */
      readonly logprobs?: readonly TokenLogprobs[];
      /** Received -> first token; on the first chunk only. */
      readonly ttftMs?: number;
      /** On the first chunk, where it is known by then. */
      readonly numPromptTokens?: number;
      /** On a continuation's last chunk only. */
      readonly finishReason?: FinishReason;
    }
  | { readonly type: 'finished'; readonly requestId: RequestId; readonly result: GenerationResult }
  /** By a deployment other than the text generator. */
  | { readonly type: 'answered'; readonly requestId: RequestId; readonly result: unknown }
  | { readonly type: 'failed'; readonly requestId: RequestId; readonly error: WireError };

/** What no update of the request comes after. */
export const END_TYPES: ReadonlySet<RequestUpdate['type']> = new Set(['finished', 'answered', 'failed']);

export interface LoadProgress {
  readonly phase: 'download' | 'prepare' | 'compile';
  /** Bytes for `download`, steps otherwise. */
  readonly loaded: number;
  readonly total: number;
}

/** What `loadModel` is to load. */
export type ModelSource =
  /** The one that comes with the page. */
  | { readonly type: 'embedded' }
  | {
      readonly type: 'hub';
      /** Origin of the hub. */
      readonly hub: string;
      /** `owner/name`. */
      readonly id: string;
      /** A branch, a tag or a commit. */
      readonly revision: string;
    }
  | { readonly type: 'files'; readonly name: string; readonly files: readonly File[] };

/** What becomes of the requests that wait or run when another model is ready: the old one ends them, or the new one begins them anew. */
export type WhenBusy = 'finish' | 'resubmit';

/** How far a model has come that is loaded while another one serves. */
export interface LoadStage {
  /** `resolve`: the hub is asked what there is. `drain`: the old model ends its requests. */
  readonly phase: LoadProgress['phase'] | 'resolve' | 'verify' | 'convert' | 'drain';
  /** Bytes of a download, its check and its conversion; of `resolve`, tries without an answer; else steps. */
  readonly loaded: number;
  readonly total: number;
  /** While it is downloaded, over the last seconds. */
  readonly bytesPerSecond?: number;
  /** Where a speed is known. */
  readonly secondsLeft?: number;
}

/** A model on its way, while another one serves. */
export interface ModelLoad extends LoadStage {
  /** The hub's id, or the name of a folder. */
  readonly id: string;
  readonly isPaused: boolean;
}

/** Why the last model that was asked for does not serve. */
export interface LoadFailure {
  readonly id: string;
  readonly error: WireError;
}

/** A model on this device, or as much as there is of it. */
export interface StoredModel {
  /** What `deleteModel` takes. */
  readonly key: string;
  /** The hub's id, or the name of a folder. */
  readonly id: string;
  /** As it was asked for; empty for a folder. */
  readonly revision: string;
  /** Of a model that can be loaded without the network; undefined where a part is still missing. */
  readonly dtype?: Dtype;
  readonly storedBytes: number;
  /** Of the download where a part is missing; 0 where it is not known yet. */
  readonly totalBytes: number;
}

/** The numbers are 0 where an upstream does not tell them. */
export interface ModelInfo {
  readonly id: string;
  readonly numParameters: number;
  readonly numLayers: number;
  readonly contextLength: number;
  readonly vocabSize: number;
  /** `generation_config.json` merged over our own defaults; for an upstream, ours alone. */
  readonly generationDefaults: Required<
    Pick<
      GenerationOptions,
      | 'maxNewTokens'
      | 'temperature'
      | 'topK'
      | 'topP'
      | 'minP'
      | 'repetitionPenalty'
      | 'presencePenalty'
      | 'frequencyPenalty'
      | 'n'
    >
  > & {
    readonly stop: readonly string[];
  };
}

export interface BackendInfo {
  /** `upstream`: no model runs here, a server is asked instead, over the bridge that serves the page. */
  readonly name: 'webgpu' | 'wasm' | 'upstream';
  /** Left out of an upstream, which stands on none. */
  readonly rung?: Rung;
  /** `unknown` of an upstream. */
  readonly precision: Dtype | 'unknown';
  /** The GPU as its driver names it, the CPU threads of WASM, or the address of the upstream. */
  readonly adapter: string;
  /** True for SwiftShader and the like: WebGPU computed on the CPU. */
  readonly isSoftwareAdapter: boolean;
  /** Why each better rung was passed over or left; empty where this is the best. */
  readonly fallbackReason: string;
}

/** The knobs of a deployment that is served by request-level batching. */
export interface BatchKnobs {
  /** Items in one batch at most, or what the deployment's own measure says of them. Integer >= 1. */
  readonly maxBatchSize: number;
  /** How long the oldest waiting request may be held for company, in ms. Finite >= 0. */
  readonly batchWaitTimeoutMs: number;
  /** Batches that run at the same time at most. Integer >= 1. */
  readonly maxConcurrentBatches: number;
}

export interface DeploymentInfo {
  readonly name: string;
  readonly knobs: BatchKnobs;
}

/** One batch of a deployment other than the text generator. */
export interface BatchRecord extends BatchEvent {
  readonly deployment: string;
  /** Counts up from 0 within its deployment. */
  readonly batchIndex: number;
  /** Requests that waited on when this batch had ended. */
  readonly queueLength: number;
}

/** One step of the engine, which is what the text generator has for batches: one forward pass. */
export interface StepBatch {
  readonly deployment: 'text-generator';
  /** Counts up from 0 within a loaded model. */
  readonly batchIndex: number;
  /** Prompts or parts of them, or one new token for each sequence. */
  readonly kind: 'prefill' | 'decode';
  /** Why it holds no more sequences: see `StepReason`. */
  readonly reason: StepReason;
  /** Sequences in it. */
  readonly batchSize: number;
  /** Tokens fed in, padding not counted. */
  readonly numTokens: number;
  /** Requests that waited when it was scheduled. */
  readonly queueLength: number;
  /** The longest wait of those whose first step it is, received -> scheduled, in ms; 0 where it is nobody's first. */
  readonly waitMs: number;
  /** From the end of the step before, or from its scheduling after an idle spell, to its own end, in ms. */
  readonly executionMs: number;
  /** 'error' when all of its sequences failed in it. */
  readonly outcome: 'ok' | 'error';
}

/** The model that answers a request, and how it runs: all of it may change a sampled text. */
export interface ServedModel {
  readonly id: string;
  readonly backend: BackendInfo['name'];
  readonly precision: BackendInfo['precision'];
}

export type WorkerState = 'loading' | 'warming-up' | 'ready' | 'failed';

export type ServeState = WorkerState | 'closed';

/** The knobs of every deployment, which survive the worker that they were turned in. */
export interface KnobSettings {
  /** Counts the changes: of two settings the one with more of them is in force. */
  readonly revision: number;
  /** The users' own, for a model in a tab: an upstream batches as it was set up to, wherever that is. */
  readonly policy: BatchingPolicy;
  /** All but the text generator; they serve before its model is loaded. */
  readonly deployments: readonly DeploymentInfo[];
}

/** A temporary policy, which hides the users' own one while the client that set it lives. */
export interface HeldOverride {
  readonly overrideId: OverrideId;
  /** In force, all knobs of it. */
  readonly policy: BatchingPolicy;
}

/** What the worker says of itself, the same to every tab. */
export interface WorkerStatus {
  readonly state: WorkerState;
  readonly knobs: KnobSettings;
  /** Left out where the policy in `knobs` is in force. */
  readonly override?: HeldOverride;
  /** Tabs that it serves, its own included. */
  readonly numTabs: number;
  readonly progress?: LoadProgress;
  readonly model?: ModelInfo;
  readonly backend?: BackendInfo;
  /** What is loaded while `model` serves. */
  readonly load?: ModelLoad;
  /** Until the next load. */
  readonly loadFailure?: LoadFailure;
  /** Why the state is `failed`. */
  readonly error?: WireError;
  /** Of a worker that took over from one that ended, and of one that is about to be replaced. */
  readonly recovery?: Recovery;
}

/** The deployment that every worker has. */
export const TEXT_GENERATOR = 'text-generator';

/** `leader`: the worker runs in this tab. `follower`: it runs in another one. */
export type TabRole = 'leader' | 'follower';

/** A temporary policy as one tab sees it. */
export interface OverrideStatus {
  /** Whether this tab has set it. */
  readonly isOwn: boolean;
  /** The users' own policy: what `configure` changes meanwhile, and what is in force when the override ends. */
  readonly basePolicy: BatchingPolicy;
}

/** The worker's status as one tab sees it. */
export interface ServeStatus extends Omit<WorkerStatus, 'state' | 'knobs' | 'override'> {
  readonly state: ServeState;
  readonly role: TabRole;
  /** In force, that of an override included. */
  readonly policy: BatchingPolicy;
  /** Left out where the users' own policy is in force. */
  readonly override?: OverrideStatus;
  /** All but the text generator; they serve before its model is loaded. */
  readonly deployments: readonly DeploymentInfo[];
  /** The worker that served this tab was lost, and the next one is not ready yet. */
  readonly isHandover: boolean;
  /** Why this tab shares its worker with no other; empty where it does. */
  readonly isolationReason: string;
}

/** One forward pass. Durations in ms on the worker's clock. */
export interface StepRecord extends Omit<StepEvent, 'requests' | 'rows' | 'endedAtMs'> {
  /** The longest wait of those whose first step it is, received -> scheduled; 0 where it is nobody's first. */
  readonly waitMs: number;
  /** 'error' when all of its sequences failed in it. */
  readonly outcome: 'ok' | 'error';
  /** The K/V slots of its sequences, in the order of its rows. */
  readonly slots: readonly number[];
  /** From the step's end to the sending of this record: timestamps do not cross the wire. */
  readonly agoMs: number;
}

/**
 * A sequence's stay in one K/V slot; where it is moved to another one, its next stay begins. Times are ms before the
 * message that brings them, on the worker's clock.
 */
export interface SlotStay {
  readonly requestId: RequestId;
  /** Which of its request's continuations this is. */
  readonly index: number;
  readonly slot: number;
  /** 0 for the first stay of the sequence; a move makes it 1, 2, … */
  readonly stayIndex: number;
  /** What it had waited before its first stay. */
  readonly queueWaitMs: number;
  /** The beginning of the stay's first step. */
  readonly startedAgoMs: number;
  /** The first token of this stay: what came before it was prefill. */
  readonly firstTokenAgoMs?: number;
  /** Left out while it lasts. */
  readonly endedAgoMs?: number;
  /** How it ended. */
  readonly end?: FinishReason | 'moved';
  /** Sampled in this stay. */
  readonly numTokens: number;
  readonly firstStepIndex: number;
  readonly lastStepIndex: number;
}

export interface ServeStats extends EngineGauges {
  /** Steps since the previous stats message, oldest first. */
  readonly steps: readonly StepRecord[];
  /** All that last, and those that ended since the previous stats message. */
  readonly slotStays: readonly SlotStay[];
  /** Output tokens per second over the last second of work. */
  readonly tokensPerSecond: number;
  readonly ttftMs: LatencySummary;
  readonly itlMs: LatencySummary;
  readonly queueWaitMs: LatencySummary;
  readonly e2eMs: LatencySummary;
  /** Sequences that ended, by how. */
  readonly finishReasons: Readonly<Record<FinishReason, number>>;
  readonly totals: {
    readonly submitted: number;
    readonly finished: number;
    readonly cancelled: number;
    readonly failed: number;
    readonly rejected: number;
    readonly promptTokens: number;
    readonly outputTokens: number;
    /** Tokens that were looked up in the K/V rows of other sequences, and those found there and not computed again. */
    readonly prefixCacheQueries: number;
    readonly prefixCacheHits: number;
  };
}

/** One request as the other tabs see it. */
export interface RequestActivity {
  readonly requestId: RequestId;
  readonly clientId: ClientId;
  readonly deployment: string;
  /** The beginning of its input, as text. */
  readonly inputPreview: string;
  readonly state: 'waiting' | 'running' | 'finished' | 'cancelled' | 'failed';
  readonly numOutputTokens: number;
}

/** How far a lost worker had come with one continuation. */
export interface ResumedChoice {
  /** All output tokens that its tab has received. */
  readonly tokenIds: readonly number[];
  /** One per token, where they were asked for. */
  readonly logprobs?: readonly TokenLogprobs[];
  /** Of a prompt that it has scored. */
  readonly promptLogprobs?: readonly PromptTokenLogprobs[];
  /** Of one that had ended. */
  readonly finishReason?: FinishReason;
}

/** How far a lost worker had come with a request. Durations in ms. */
export interface Resumption {
  /** The model that started it; another one begins it anew. */
  readonly model?: ServedModel;
  /** In order of their index; those after the last one that its tab has heard of are left out. */
  readonly choices: readonly ResumedChoice[];
  /** As the lost worker measured them, where it came so far. */
  readonly queueWaitMs?: number;
  readonly ttftMs?: number;
  /** The lost worker had accepted it: the next one may not refuse it for a full queue. */
  readonly isAccepted?: true;
}

/** One request as it goes to a worker. */
export interface SubmittedRequest {
  readonly requestId: RequestId;
  readonly input: unknown;
  readonly options: unknown;
  /** Submitted -> sent to this worker, ms, on the clock of the tab that waited. */
  readonly elapsedMs: number;
  /** What a lost worker has done of it already. */
  readonly resumption?: Resumption;
}

/**
 * Who asks over HTTP, outermost first: the peer, then its key, then its user. Each name stands for itself alone within the one
 * before it.
 */
export type Caller = readonly string[];

/** Whose turn a submission is. */
export interface TurnSigns {
  /** Submissions of one turn share this name; a turn of its own where left out. */
  readonly turnId?: string;
  /** From the bridge alone: the door for tabs drops it. */
  readonly caller?: Caller;
}

interface Versioned {
  readonly version: typeof PROTOCOL_VERSION;
}

/** Before the one place that sends it has added version and worker. */
export type Unsigned<Message> = Message extends unknown ? Omit<Message, 'version' | 'workerId'> : never;

/** A server that generates instead of a model in the tab: what the bridge that serves the page was started with. */
export interface UpstreamInit {
  /** To be shown: requests go to the bridge, which knows where to send them. */
  readonly url: string;
  /** Which of its models answers; the first that it names where left out. */
  readonly model?: string;
}

export interface LeftRung {
  readonly rung: Rung;
  readonly reason: string;
}

/** What a worker has to know of those before it. */
export interface WorkerPast {
  readonly recovery?: Recovery;
  readonly leftRungs: readonly LeftRung[];
  /** The rung has brought tokens, and somebody waits for more: the first steps need no rehearsal. */
  readonly isProven: boolean;
  /** Sequences, or items of a batch, that may run together at first, where more were too many. */
  readonly maxRows?: number;
  /** Requests that have ended one worker after another, alone: they fail. */
  readonly condemned: readonly RequestId[];
}

/** From the tab that made the worker, to it alone, once. */
export interface WorkerInit extends Versioned {
  readonly type: 'init';
  readonly modelUrl: string;
  readonly backend: BackendChoice;
  /** Answers for the text generator where the backend is `auto`. */
  readonly upstream?: UpstreamInit;
  /** Whether it serves all tabs, over channels, or only the tab that made it, over its port. */
  readonly isShared: boolean;
  /** The name of a lock that the worker is to hold to its end; without Web Locks there is none. */
  readonly lifeLock?: string;
  readonly past: WorkerPast;
  /** The folder of the bridge that has served the page, ending in `/`; left out where another server has. */
  readonly bridgeUrl?: string;
}

/** From the tab that made the worker, to it alone: it answers `pong`. */
export interface HostPing extends Versioned {
  readonly type: 'ping';
}

/** From the worker to the tab that made it, over its own port. */
export type HostMessage = Versioned &
  /** It runs, answers pings and holds its lock, where it has one. */
  (
    | { readonly type: 'alive' }
    | { readonly type: 'on-rung'; readonly rung: Rung }
    /** Its start has ended: the model serves, or is known not to. */
    | { readonly type: 'ready' }
    /** From the first request that waits or runs to the end of the last one. */
    | { readonly type: 'busy' }
    | { readonly type: 'idle' }
    /** The first token of this worker, or the first answer of a deployment while no prompt waits or runs. */
    | { readonly type: 'progress' }
    /** Told by a worker whose predecessor could not: whose step it is about to begin, or how far those have come since. */
    | {
        readonly type: 'step';
        readonly requestIds: readonly RequestId[];
        /** Of these, those that have no token of this worker. */
        readonly stalledIds: readonly RequestId[];
      }
    /** `patienceMs`: how long the longest step may take. */
    | { readonly type: 'pong'; readonly patienceMs: number }
    /** It can go on no more, and tells nobody of what it has half done. */
    | {
        readonly type: 'fault';
        readonly fault: Fault;
        /** Requests of the step that failed which have no token of this worker. */
        readonly stalledIds: readonly RequestId[];
        /** Sequences that ran, in that step or between two of their own. */
        readonly numRunning: number;
      }
  );

/** A text as the model that serves reads it. */
export interface Tokenization {
  readonly modelId: string;
  /** Tokens that the model's context holds. */
  readonly contextLength: number;
  readonly tokenIds: readonly number[];
  /** Each token as the model's vocabulary spells it: `Ġupon`. */
  readonly spellings: readonly string[];
}

/** Tokens as text. */
export interface Detokenization {
  readonly modelId: string;
  /** Special tokens are spelled out. */
  readonly text: string;
}

/** From any tab to the worker. */
export type ClientMessage = Versioned & { readonly clientId: ClientId } & (
    | {
        readonly type: 'hello';
        /** As this tab last saw them; a worker that knows older ones takes them over. */
        readonly knobs?: KnobSettings;
        /** What this tab holds: only its own word keeps it in force at the next worker. */
        readonly override?: HeldOverride;
      }
    | ({ readonly type: 'submit'; readonly deployment: string } & SubmittedRequest & TurnSigns)
    /** Several that are accepted together, or not at all. */
    | ({
        readonly type: 'submit-all';
        readonly deployment: string;
        readonly requests: readonly SubmittedRequest[];
      } & TurnSigns)
    | { readonly type: 'cancel'; readonly requestId: RequestId }
    | {
        readonly type: 'configure';
        readonly callId: number;
        readonly deployment: string;
        readonly knobs: unknown;
      }
    /** Begins an override, or turns knobs of the one of this id. */
    | {
        readonly type: 'set-override';
        readonly callId: number;
        readonly overrideId: OverrideId;
        readonly knobs: unknown;
      }
    /** Does nothing where another override is held, or none. */
    | { readonly type: 'release-override'; readonly callId: number; readonly overrideId: OverrideId }
    | { readonly type: 'metrics'; readonly callId: number }
    | { readonly type: 'token-texts'; readonly callId: number; readonly tokenIds: readonly number[] }
    | {
        readonly type: 'tokenize';
        readonly callId: number;
        readonly text: string;
        readonly addSpecialTokens: boolean;
      }
    | { readonly type: 'detokenize'; readonly callId: number; readonly tokenIds: readonly number[] }
    | {
        readonly type: 'load-model';
        readonly callId: number;
        readonly source: ModelSource;
        readonly dtype: DtypeChoice;
        readonly whenBusy: WhenBusy;
      }
    /** Of the load that is under way; without one it does nothing. */
    | { readonly type: 'steer-load'; readonly action: 'pause' | 'resume' | 'cancel' }
    | { readonly type: 'list-models'; readonly callId: number }
    | { readonly type: 'delete-model'; readonly callId: number; readonly key: string }
  );

/** From the worker to one tab or to all. */
export type WorkerMessage = Versioned & { readonly workerId: WorkerId } &
  /** To all: it listens from now on; tabs that do not know it say hello. */
  (
    | { readonly type: 'serving' }
    /** The answer to `hello`; what is outstanding can be sent now. */
    | {
        readonly type: 'welcome';
        readonly status: WorkerStatus;
        /** All requests that wait or run. */
        readonly activity: readonly RequestActivity[];
        /** The last batches of all deployments, oldest first. */
        readonly batches: readonly BatchRecord[];
        /** The last steps of the engine that were told of in `stats`, oldest first; left out where there were none. */
        readonly steps?: readonly StepBatch[];
      }
    | { readonly type: 'status'; readonly status: WorkerStatus }
    /** One message per tab and step, whatever the number of its requests in it. */
    | { readonly type: 'updates'; readonly updates: readonly RequestUpdate[] }
    | { readonly type: 'stats'; readonly stats: ServeStats }
    | { readonly type: 'batch'; readonly batch: BatchRecord }
    /** Requests of which something changed since the last such message. */
    | { readonly type: 'activity'; readonly activity: readonly RequestActivity[] }
    /**
     * The answer to `configure` (the users' own knobs), `set-override` (the policy in force), `metrics` (Prometheus text),
     * `token-texts` (string[]), `tokenize` (Tokenization), `detokenize` (Detokenization) or `list-models` (StoredModel[]).
     */
    | { readonly type: 'call-answered'; readonly callId: number; readonly result: unknown }
    | { readonly type: 'call-refused'; readonly callId: number; readonly error: WireError }
  );
