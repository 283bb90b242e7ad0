import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import type { BackendInfo, ModelInfo } from '../../src/worker/protocol/models.ts';
import type { PolicyName } from '../../src/worker/protocol/status.ts';
import type { Machine } from './machine.ts';

/** The schema of `bench/results.json`: the last run of each backend. Durations in ms. */
export interface BenchResults {
  /** Raised when a field changes its meaning. */
  readonly schemaVersion: 3;
  readonly runs: { readonly [Backend in BackendInfo['name']]?: BenchRun };
}

export interface BenchRun {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Repeats the run. */
  readonly command: string;
  readonly machine: Machine;
  /** As it names itself. */
  readonly browser: string;
  readonly backend: BackendInfo;
  readonly model: Pick<ModelInfo, 'id' | 'numParameters' | 'numLayers' | 'contextLength'>;
  readonly settings: { readonly rounds: number; readonly maxNewTokens: number };
  readonly scenarios: readonly ScenarioResult[];
  /** Tokens/s of 8 requests over tokens/s of the same requests under `off`, round by round. */
  readonly ratiosToOff: { readonly static: Spread; readonly continuous: Spread };
  /** 8 requests under `continuous` that grow to these many tokens each, prompt and output together. */
  readonly contexts: readonly ContextResult[];
  /** A generated checkpoint with the shape of a Llama. */
  readonly standIn: StandInResult;
  /** Of a decode step of 8 rows; on WebGPU alone. */
  readonly resources?: DecodeResources;
}

export interface StandInResult extends Pick<BenchRun, 'model' | 'scenarios'> {
  /** Tokens/s of 8 requests under `continuous` over those of the same requests under `off`, round by round. */
  readonly ratioToOff: Spread;
}

export interface ContextResult {
  /** Tokens of the prompt, at most, of each request. */
  readonly numPromptTokens: number;
  /** Tokens in the K/V cache of each sequence at its last step. */
  readonly contextLength: number;
  readonly tokensPerSecond: Spread;
  readonly decodeStepMs: Percentiles;
}

/** Per decode step, over `numSteps` of them. */
export interface DecodeResources {
  readonly numSteps: number;
  readonly dispatches: number;
  readonly submits: number;
  readonly buffersCreated: number;
  readonly bytesRead: number;
  /** CPU time of the page and its worker. */
  readonly rendererCpuMs: number;
  /** CPU time of the browser's GPU process; with a software adapter, the GPU's own work too. */
  readonly gpuProcessCpuMs: number;
  /** Of the time, that in which the device had finished all that was submitted: 0 to 1. */
  readonly gpuIdleShare: number;
}

export interface ScenarioResult {
  readonly policy: PolicyName;
  /** Submitted in one turn. */
  readonly numRequests: number;
  /** Over all rounds: what was generated, not what was asked for. */
  readonly numOutputTokens: number;
  /** Output tokens of all requests over the time from the first submission to the last result; one value per round. */
  readonly tokensPerSecond: Spread;
  /** Decode steps with the whole batch in them. */
  readonly decodeStepMs: Percentiles;
  /** On the worker's clock, from receipt; queue wait and prefill included. */
  readonly ttftMs: Percentiles;
  /** Of the time of all decode steps, what was spent outside `session.run` and readback: 0 to 1. */
  readonly overheadShare: number;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
}

const FILE = fileURLToPath(new URL('../../bench/results.json', import.meta.url));

export async function readResults(): Promise<BenchResults> {
  if (!existsSync(FILE)) return { schemaVersion: 3, runs: {} };
  return JSON.parse(await readFile(FILE, 'utf8'));
}

/** Replaces the run of its backend and keeps the other's; returns the file's path. */
export async function recordRun(run: BenchRun): Promise<string> {
  const { runs } = await readResults();
  const results: BenchResults = { schemaVersion: 3, runs: { ...runs, [run.backend.name]: run } };
  await mkdir(fileURLToPath(new URL('.', `file://${FILE}`)), { recursive: true });
  await writeFile(FILE, `${JSON.stringify(results, undefined, 2)}\n`);
  return FILE;
}
