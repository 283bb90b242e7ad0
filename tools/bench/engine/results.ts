import type { BackendInfo, Dtype } from '../../../src/protocol/models.ts';
import type { PolicyName } from '../../../src/protocol/status.ts';
import type { Conditions, RecordedModel } from '../conditions.ts';
import { ResultsFile } from '../results-file.ts';
import type { Percentiles, Spread } from '../statistics.ts';

/** The schema of `bench/results.json`: the last run of each backend, and of decode steps. Durations in ms. */
export interface BenchResults {
  /** Raised when a field changes its meaning. */
  readonly schemaVersion: 5;
  readonly runs: { readonly [Backend in BackendInfo['name']]?: BenchRun };
  /** Measured on WebGPU only. */
  readonly stepCosts?: StepCostRun;
  /** Measured on WASM only. */
  readonly threads?: ThreadsRun;
  /** Measured on WASM only. */
  readonly realModel?: RealModelRun;
}

interface BackendConditions extends Conditions {
  readonly backend: BackendInfo;
}

export interface BenchRun extends BackendConditions {
  readonly model: RecordedModel;
  readonly settings: { readonly rounds: number; readonly maxNewTokens: number };
  readonly scenarios: readonly ScenarioResult[];
  /** With 8 requests: the median of tokens/s over that under `off`. */
  readonly ratiosToOff: { readonly static: number; readonly continuous: number };
  /** 8 requests under `continuous` that grow to these many tokens each, prompt and output together. */
  readonly contexts: readonly ContextResult[];
  /** A generated checkpoint with the shape of a Llama. */
  readonly standIn: StandInResult;
}

export interface StandInResult extends Pick<BenchRun, 'model' | 'scenarios'> {
  /** With 8 requests: the median of tokens/s under `continuous` over that under `off`. */
  readonly ratioToOff: number;
}

export interface ContextResult {
  /** Tokens of the prompt, at most, of each request. */
  readonly numPromptTokens: number;
  /** Tokens in the K/V cache of each sequence at its last step. */
  readonly contextLength: number;
  readonly tokensPerSecond: Spread;
  readonly decodeStepMs: Percentiles;
}

export interface StepCostRun extends BackendConditions {
  /** CPU time is the mean of `numSteps` steps in each round. */
  readonly settings: { readonly rounds: number; readonly numSteps: number };
  readonly costs: readonly StepCost[];
}

/** The costs of a decode step, captured and plain, in one interleaved run. */
export interface StepCost {
  /** A generated checkpoint with random weights. */
  readonly model: RecordedModel;
  /** Sequences in the step. */
  readonly numRows: number;
  /** On the page that users get: a step is captured once and replayed. */
  readonly captured: StepResources;
  /** On the page that is built with `--mode plain-steps`: onnxruntime-web describes each step to the GPU. */
  readonly plain: StepResources;
  /** The worker's CPU time of captured steps over that of plain ones, round by round. */
  readonly cpuRatio: Spread;
}

/** Per decode step. */
export interface StepResources {
  /** CPU time of the worker's own thread; one value per round. */
  readonly workerCpuMs: Spread;
  /** CPU time of the browser's GPU process, which includes the GPU's own work if the adapter is software. */
  readonly gpuProcessCpuMs: Spread;
  readonly dispatches: number;
  readonly submits: number;
  readonly buffersCreated: number;
  readonly bytesRead: number;
  /** Share of the time in which the device had finished everything that was submitted: 0 to 1. */
  readonly gpuIdleShare: number;
}

export interface ThreadsRun extends Conditions {
  readonly settings: { readonly rounds: number };
  readonly results: readonly ThreadsResult[];
}

/** Requests under `continuous`, with some number of WASM threads. */
export interface ThreadsResult {
  /** A generated checkpoint with random weights. */
  readonly model: RecordedModel;
  /** As the page names it: the CPU, and the number of threads. */
  readonly adapter: string;
  readonly numRequests: number;
  /** One value per round; the numbers of threads take turns in each. */
  readonly tokensPerSecond: Spread;
}

/** SmolLM2-135M-Instruct of a GGUF file, under `continuous`. */
export interface RealModelRun extends BackendConditions {
  readonly model: RecordedModel;
  readonly settings: { readonly rounds: number; readonly maxNewTokens: number };
  readonly precisions: readonly PrecisionResult[];
}

export interface PrecisionResult {
  readonly dtype: Dtype;
  /** Resident memory of the tab's process, page and worker, after all rounds; 0 where it is unknown. */
  readonly residentBytes: number;
  readonly rows: readonly RowsResult[];
  readonly stall: StallResult;
}

/** Requests that are sent at once. */
export interface RowsResult {
  readonly numRequests: number;
  /** Of each prompt. */
  readonly numPromptTokens: number;
  /** Output tokens over the time from the first request to the last answer, prefill included; one value per round. */
  readonly tokensPerSecond: Spread;
  /** On the worker's clock, from receipt. */
  readonly ttftMs: Percentiles;
  /** On the page's clock; tokens that come in one message share the time since the last one. */
  readonly itlMs: Percentiles;
}

/** A text runs while prompts arrive: the longest time between two tokens of it. One value per round. */
export interface StallResult {
  readonly longestGapMs: Spread;
  /** In decode steps of as many sequences. */
  readonly longestGapSteps: Spread;
  /** With `prefillStallMs: Infinity`. */
  readonly unlimitedGapMs: Spread;
  readonly unlimitedGapSteps: Spread;
  /** The median of tokens/s over that without a limit. */
  readonly throughputRatio: number;
}

export interface ScenarioResult {
  readonly policy: PolicyName;
  /** At any time: each is sent again when it has ended. */
  readonly numRequests: number;
  /** Generated over all rounds, which may be fewer than requested. */
  readonly numOutputTokens: number;
  /** Output tokens over the time in which that many requests run; one value per round. */
  readonly tokensPerSecond: Spread;
  /** Decode steps with the whole batch in them. */
  readonly decodeStepMs: Percentiles;
  /** On the worker's clock, from receipt; queue wait and prefill included. */
  readonly ttftMs: Percentiles;
  /** Share of the decode steps' time that was spent outside `session.run` and readback: 0 to 1. */
  readonly overheadShare: number;
}

export const RESULTS = new ResultsFile<BenchResults>('results.json', { schemaVersion: 5, runs: {} });

/** Replaces the run of its backend and keeps everything else. Returns the file's path. */
export async function recordRun(run: BenchRun): Promise<string> {
  await RESULTS.update(({ runs }) => ({ runs: { ...runs, [run.backend.name]: run } }));
  return RESULTS.path;
}

/** Replaces a part of the file. Returns its path. */
export async function recordPart(
  part: Pick<BenchResults, 'stepCosts' | 'threads' | 'realModel'>,
): Promise<string> {
  await RESULTS.update(() => part);
  return RESULTS.path;
}
