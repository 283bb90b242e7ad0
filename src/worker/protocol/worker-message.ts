import * as v from 'valibot';
import {
  PROTOCOL_VERSION,
  type BackendInfo,
  type BatchRecord,
  type ClientId,
  type GenerationResult,
  type LatencySummary,
  type LoadFailure,
  type ModelInfo,
  type ModelLoad,
  type RequestActivity,
  type RequestUpdate,
  type ServeStats,
  type SlotStay,
  type StepBatch,
  type StepRecord,
  type WireError,
  type WorkerId,
  type WorkerMessage,
  type WorkerStatus,
} from './protocol.ts';
import {
  count,
  duration,
  finishReason,
  heldOverride,
  id,
  knobSettings,
  logprobs,
  name,
  promptLogprobs,
  recovery,
  requestId,
  rung,
  servedModel,
  tokenIds,
  version,
} from './wire-schema.ts';

const wireError: v.GenericSchema<unknown, WireError> = v.object({
  code: v.string(),
  message: v.string(),
  details: v.exactOptional(v.record(v.string(), v.number())),
});

const generationChoice = v.object({
  text: v.string(),
  generatedText: v.string(),
  tokenIds,
  logprobs: v.exactOptional(logprobs),
  promptLogprobs: v.exactOptional(promptLogprobs),
  finishReason,
  seed: count,
});

const generationResult: v.GenericSchema<unknown, GenerationResult> = v.object({
  ...generationChoice.entries,
  choices: v.array(generationChoice),
  usage: v.object({ numPromptTokens: count, numOutputTokens: count }),
  timings: v.object({ queueWaitMs: duration, ttftMs: duration, e2eMs: duration, tpotMs: duration }),
});

const requestUpdate: v.GenericSchema<unknown, RequestUpdate> = v.variant('type', [
  v.object({ type: v.literal('accepted'), requestId }),
  v.object({ type: v.literal('started'), requestId, queueWaitMs: duration, model: servedModel }),
  v.object({
    type: v.literal('echo'),
    requestId,
    index: count,
    text: v.string(),
    promptLogprobs: v.exactOptional(promptLogprobs),
  }),
  v.object({
    type: v.literal('chunk'),
    requestId,
    index: count,
    text: v.string(),
    tokenIds,
    logprobs: v.exactOptional(logprobs),
    ttftMs: v.exactOptional(duration),
    numPromptTokens: v.exactOptional(count),
    finishReason: v.exactOptional(finishReason),
  }),
  v.object({ type: v.literal('restarted'), requestId, model: servedModel }),
  v.object({ type: v.literal('finished'), requestId, result: generationResult }),
  v.object({ type: v.literal('answered'), requestId, result: v.unknown() }),
  v.object({ type: v.literal('failed'), requestId, error: wireError }),
]);

const modelInfo: v.GenericSchema<unknown, ModelInfo> = v.object({
  id: v.string(),
  numParameters: count,
  numLayers: count,
  contextLength: count,
  vocabSize: count,
  generationDefaults: v.object({
    maxNewTokens: count,
    temperature: v.number(),
    topK: count,
    topP: v.number(),
    minP: v.number(),
    repetitionPenalty: v.number(),
    presencePenalty: v.number(),
    frequencyPenalty: v.number(),
    n: count,
    stop: v.array(v.string()),
  }),
});

const backendInfo: v.GenericSchema<unknown, BackendInfo> = v.object({
  name: v.picklist(['webgpu', 'wasm', 'upstream']),
  rung: v.exactOptional(rung),
  precision: v.picklist(['fp16', 'fp32', 'q8', 'q4', 'unknown']),
  adapter: v.string(),
  isSoftwareAdapter: v.boolean(),
  fallbackReason: v.string(),
});

const modelLoad: v.GenericSchema<unknown, ModelLoad> = v.object({
  id: v.string(),
  isPaused: v.boolean(),
  phase: v.picklist(['resolve', 'download', 'verify', 'convert', 'prepare', 'compile', 'drain']),
  loaded: count,
  total: count,
  bytesPerSecond: v.exactOptional(duration),
  secondsLeft: v.exactOptional(duration),
});

const loadFailure: v.GenericSchema<unknown, LoadFailure> = v.object({ id: v.string(), error: wireError });

const workerStatus: v.GenericSchema<unknown, WorkerStatus> = v.object({
  state: v.picklist(['loading', 'warming-up', 'ready', 'failed']),
  knobs: knobSettings,
  override: v.exactOptional(heldOverride),
  numTabs: count,
  progress: v.exactOptional(
    v.object({
      phase: v.picklist(['download', 'prepare', 'compile']),
      loaded: count,
      total: count,
    }),
  ),
  model: v.exactOptional(modelInfo),
  backend: v.exactOptional(backendInfo),
  load: v.exactOptional(modelLoad),
  loadFailure: v.exactOptional(loadFailure),
  error: v.exactOptional(wireError),
  recovery: v.exactOptional(recovery),
});

const latencySummary: v.GenericSchema<unknown, LatencySummary> = v.object({
  count,
  p50: duration,
  p95: duration,
  p99: duration,
});

/** What a step says of itself wherever it is told of. */
const stepEntries = {
  kind: v.picklist(['prefill', 'decode']),
  reason: v.picklist(['full', 'deferred', 'timeout', 'idle']),
  batchSize: count,
  numTokens: count,
  queueLength: count,
  waitMs: duration,
  outcome: v.picklist(['ok', 'error']),
};

const stepRecord: v.GenericSchema<unknown, StepRecord> = v.object({
  stepIndex: count,
  ...stepEntries,
  isBehind: v.boolean(),
  stepMs: duration,
  runMs: duration,
  readbackMs: duration,
  agoMs: duration,
  slots: v.array(count),
});

const stepBatch: v.GenericSchema<unknown, StepBatch> = v.object({
  ...stepEntries,
  deployment: v.literal('text-generator'),
  batchIndex: count,
  executionMs: duration,
});

const slotStay: v.GenericSchema<unknown, SlotStay> = v.object({
  requestId,
  index: count,
  slot: count,
  stayIndex: count,
  queueWaitMs: duration,
  startedAgoMs: duration,
  firstTokenAgoMs: v.exactOptional(duration),
  endedAgoMs: v.exactOptional(duration),
  end: v.exactOptional(v.picklist(['stop', 'length', 'abort', 'error', 'moved'])),
  numTokens: count,
  firstStepIndex: count,
  lastStepIndex: count,
});

const serveStats: v.GenericSchema<unknown, ServeStats> = v.object({
  steps: v.array(stepRecord),
  slotStays: v.array(slotStay),
  numRunning: count,
  numWaiting: count,
  kvCache: v.object({ usedBytes: count, reservedBytes: count }),
  tokensPerSecond: duration,
  ttftMs: latencySummary,
  itlMs: latencySummary,
  queueWaitMs: latencySummary,
  e2eMs: latencySummary,
  finishReasons: v.object({ stop: count, length: count, abort: count, error: count }),
  totals: v.object({
    submitted: count,
    finished: count,
    cancelled: count,
    failed: count,
    rejected: count,
    promptTokens: count,
    outputTokens: count,
    prefixCacheQueries: count,
    prefixCacheHits: count,
  }),
});

const batchRecord: v.GenericSchema<unknown, BatchRecord> = v.object({
  deployment: name,
  batchIndex: count,
  queueLength: count,
  reason: v.picklist(['full', 'deferred', 'flush', 'close', 'timeout', 'idle']),
  batchSize: count,
  measuredSize: v.number(),
  maxBatchSize: count,
  waitMs: duration,
  executionMs: duration,
  cancelled: count,
  outcome: v.picklist(['ok', 'error']),
});

const requestActivity: v.GenericSchema<unknown, RequestActivity> = v.object({
  requestId,
  clientId: id<ClientId>(),
  deployment: name,
  inputPreview: v.string(),
  state: v.picklist(['waiting', 'running', 'finished', 'cancelled', 'failed']),
  numOutputTokens: count,
});

const from = { version, workerId: id<WorkerId>() };

const workerMessage: v.GenericSchema<unknown, WorkerMessage> = v.variant('type', [
  v.object({ ...from, type: v.literal('serving') }),
  v.object({
    ...from,
    type: v.literal('welcome'),
    status: workerStatus,
    activity: v.array(requestActivity),
    batches: v.array(batchRecord),
    steps: v.exactOptional(v.array(stepBatch)),
  }),
  v.object({ ...from, type: v.literal('status'), status: workerStatus }),
  v.object({ ...from, type: v.literal('updates'), updates: v.array(requestUpdate) }),
  v.object({ ...from, type: v.literal('stats'), stats: serveStats }),
  v.object({ ...from, type: v.literal('batch'), batch: batchRecord }),
  v.object({ ...from, type: v.literal('activity'), activity: v.array(requestActivity) }),
  v.object({ ...from, type: v.literal('call-answered'), callId: count, result: v.unknown() }),
  v.object({ ...from, type: v.literal('call-refused'), callId: count, error: wireError }),
]);

/** What no worker of this version says is undefined and goes no further: the tab's own door. */
export function parseWorkerMessage(data: unknown): WorkerMessage | undefined {
  const result = v.safeParse(workerMessage, data, { abortEarly: true });
  return result.success ? result.output : undefined;
}

const signed = v.object({
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
  workerId: id<WorkerId>(),
  type: name,
});

/** The version of a worker that is not of this one; undefined for anything else. */
export function foreignWorkerVersion(data: unknown): number | undefined {
  const result = v.safeParse(signed, data);
  return result.success && result.output.version !== PROTOCOL_VERSION ? result.output.version : undefined;
}
