import * as v from 'valibot';
import { deviceCheck } from '../../protocol/device-check.ts';
import type { BackendChoice } from '../../protocol/ladder.ts';
import type { BackendInfo, ModelInfo } from '../../protocol/models.ts';
import type { Optional } from '../../batching/base/records.ts';
import type { BatchingPolicy } from '../../protocol/status.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import { checkedOptions, functionRefusal } from '../base/refusals.ts';
import type { WorkerSource } from '../links/worker-host.ts';
import { CheckProgress } from './check-progress.ts';
import type { CheckedClient, CheckedOptions } from './checked-client.ts';
import { judgeTexts, judgeValues, roundingOf, type FoundValues, type Verdict } from './compare-texts.ts';
import { measureSpeed } from './rates.ts';
import { judgeShapes, SHAPE } from './seeded-shape.ts';
import {
  oneByOne,
  partingsOf,
  PROMPTS,
  streamedIds,
  submit,
  together,
  type Runner,
  type TokenIds,
} from './text-runs.ts';
import { openTrial, type CreateClient, type Trial } from './trial.ts';
import type { CheckName, CheckOptions, CheckReport } from './types.ts';

/** The policy of each worker while it is checked. Prompt lookup would measure the text instead of the machine. */
const POLICY: Optional<BatchingPolicy> = {
  policy: 'continuous',
  maxBatchSize: 16,
  batchWaitTimeoutMs: 0,
  promptLookup: false,
};

const SEED = 7;
/** Texts with a shape, and those that both backends write. */
const [NUM_SHAPED, NUM_ON_BOTH] = [8, 4];

const GREEDY: CheckedOptions = { maxNewTokens: 32, temperature: 0, ignoreEos: true };
/** The CPU computes the same logits in each batch. Those of a GPU are rounded, which may move any drawn token. */
const SAMPLED: CheckedOptions = { ...GREEDY, temperature: 0.8, seed: SEED };

const PLACES: Readonly<Record<BackendInfo['name'], string>> = {
  wasm: 'CPU',
  webgpu: 'GPU',
  server: 'Server',
};

export interface CheckedTab {
  /** The client of the running worker. */
  readonly serve: CheckedClient;
  /** How this tab makes workers. Undefined where it may make none. */
  readonly source: WorkerSource | undefined;
  readonly createClient: CreateClient;
}

/** Runs all lines of a check, one after the other. @throws As `TabserveClient.check`. */
export async function checkMachine(tab: CheckedTab, given: CheckOptions): Promise<CheckReport> {
  const options = checkedOptions(given, ['onProgress', 'onRequest', 'signal']);
  const { onRequest = () => {} } = options;
  const refusal = functionRefusal('onRequest', onRequest);
  if (refusal) throw refusal;
  const { serve } = tab;
  const { backend, model } = await serve.ready();
  const progress = new CheckProgress(model, options.onProgress);
  if (!model || !backend) return progress.end('No model is loaded.');
  // It refuses that by name.
  if (backend.name === 'server') await serve.checkDevice();
  const override = await serve.overridePolicy(POLICY);
  const signal = AbortSignal.any([override.signal, ...(options.signal ? [options.signal] : [])]);
  const runner = { serve, signal, onRequest };
  try {
    await new MachineCheck({ tab, runner, progress, backend, model }).run();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await override.release();
  }
  return progress.end(options.signal?.aborted ? 'Stopped.' : messageOf(override.signal.reason));
}

interface CheckParts {
  readonly tab: CheckedTab;
  /** At the running worker. */
  readonly runner: Runner;
  readonly progress: CheckProgress;
  /** Where that one runs the model. */
  readonly backend: BackendInfo;
  readonly model: ModelInfo;
}

/** Why a worker of the check's own doesn't run the model. */
interface Obstacle {
  readonly why: string;
  /** Whether it is that a GPU computes wrong values. */
  readonly isWrong?: boolean;
}

class MachineCheck {
  readonly #parts: CheckParts;
  /** By place. */
  readonly #values = new Map<string, FoundValues>();
  /** Of the nine prompts, one by one, at the running worker. */
  #alone: readonly TokenIds[] = [];

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { progress, runner, backend } = this.#parts;
    await this.#judge('together', () => this.#compareTogether());
    await this.#judge('shapes', () => this.#shapeBatch());
    await this.#measure(runner, backend);
    await this.#checkHandover();
    await this.#checkOtherBackend();
    progress.judge('values', judgeValues([...this.#values.values()]));
  }

  /** The options with which texts are the same in each batch. */
  get #options(): CheckedOptions {
    return this.#parts.backend.name === 'wasm' ? SAMPLED : GREEDY;
  }

  async #compareTogether(): Promise<Verdict> {
    const { runner } = this.#parts;
    this.#alone = await oneByOne(runner, PROMPTS, this.#options);
    return this.#compare(this.#alone, await together(runner, PROMPTS, this.#options));
  }

  /** @param other Where the second results are from, if not from the backend of the first. */
  async #compare(
    first: readonly TokenIds[],
    second: readonly TokenIds[],
    other?: BackendInfo,
  ): Promise<Verdict> {
    const { runner, backend } = this.#parts;
    const partings = await partingsOf(runner, PROMPTS, first, second);
    return judgeTexts(first.length, partings, roundingOf(backend, other ?? backend));
  }

  async #shapeBatch(): Promise<Verdict> {
    const options = { maxNewTokens: 64, temperature: 0.8, seed: SEED, responseFormat: SHAPE };
    const responses = submit(this.#parts.runner, PROMPTS.slice(0, NUM_SHAPED), options);
    const results = await Promise.all(responses.map((response) => response.result()));
    return judgeShapes(results.map(({ generatedText }) => generatedText));
  }

  async #checkHandover(): Promise<void> {
    const { backend, progress } = this.#parts;
    progress.begin('handover');
    const obstacle = await this.#tryOut(
      backend.name === 'wasm' ? 'wasm' : 'webgpu',
      async (trial, runner) => {
        await this.#judge('handover', () => this.#endInTheMiddle(trial, runner));
        await this.#checkDevice(runner, backend);
        return undefined;
      },
    );
    if (obstacle) this.#skip('handover', backend.name, obstacle);
  }

  /** Ends the worker when all of its texts have begun. */
  async #endInTheMiddle(trial: Trial, runner: Runner): Promise<Verdict> {
    const { promise: begun, resolve: onAllBegun } = Promise.withResolvers<void>();
    let [numBegun, numMoved] = [0, 0];
    const onBegun = (): void => {
      numBegun += 1;
      if (numBegun === PROMPTS.length) onAllBegun();
    };
    runner.serve.subscribe('requests', (updates) => {
      numMoved += updates.filter(({ type }) => type === 'resubmitted').length;
    });
    const responses = submit(runner, PROMPTS, this.#options);
    const texts = Promise.all(responses.map((response) => streamedIds(response, onBegun)));
    await Promise.race([begun, texts]);
    trial.endWorker();
    const { outcome, detail } = await this.#compare(this.#alone, await texts);
    if (numMoved === 0) return { outcome: 'not-run', detail: 'The texts ended before their worker did.' };
    return { outcome, detail: `${detail} ${numMoved} of them moved in the middle.` };
  }

  /** What needs a worker on the other backend. */
  async #checkOtherBackend(): Promise<void> {
    const { backend, progress } = this.#parts;
    const other = backend.name === 'wasm' ? 'webgpu' : 'wasm';
    progress.begin('tokens');
    const obstacle =
      this.#knownObstacle ??
      // A software adapter is no GPU, so `auto` passes over it.
      (await this.#tryOut(other === 'wasm' ? 'wasm' : 'auto', async (trial, runner, found) => {
        if (found.name !== other) return obstacleOf(trial.serve, found);
        await this.#judge('tokens', () => this.#compareBackends(runner, found));
        await this.#checkDevice(runner, found);
        await this.#measure(runner, found);
        return undefined;
      }));
    if (obstacle) this.#skip('tokens', other, obstacle);
  }

  /** Where the page has looked for a GPU in vain, no other worker finds one. */
  get #knownObstacle(): Obstacle | undefined {
    const { tab, backend } = this.#parts;
    const hasLooked = backend.name === 'wasm' && tab.source?.backend === 'auto';
    return hasLooked ? obstacleOf(tab.serve, backend) : undefined;
  }

  async #compareBackends(runner: Runner, found: BackendInfo): Promise<Verdict> {
    const { backend } = this.#parts;
    const unlike = [backend, found].map(({ precision }) => precision);
    if (!areComparable(unlike)) {
      const detail = `The model is stored as ${backend.precision}, and the other backend runs it as ${found.precision}.`;
      return { outcome: 'not-run', detail };
    }
    const prompts = PROMPTS.slice(0, NUM_ON_BOTH);
    const here = await together(this.#parts.runner, prompts, GREEDY);
    return this.#compare(here, await together(runner, prompts, GREEDY), found);
  }

  async #checkDevice({ serve, signal }: Runner, backend: BackendInfo): Promise<void> {
    this.#parts.progress.say(`Computing known values on the ${PLACES[backend.name]}`);
    const answer = await untilAborted(serve.checkDevice(), signal);
    const { values, where, bytesPerSecond } = v.parse(deviceCheck, answer);
    const place = PLACES[backend.name];
    this.#values.set(place, { place, values, why: where });
    if (backend.name === 'wasm') this.#parts.progress.measured(backend, { bytesPerSecond });
  }

  async #measure(runner: Runner, backend: BackendInfo): Promise<void> {
    const { progress } = this.#parts;
    const onSize = (numTexts: number): void =>
      progress.say(`Measuring the ${PLACES[backend.name]}: ${numTexts} at a time`);
    progress.measured(backend, await measureSpeed({ ...runner, onSize }));
  }

  /** An error of a request is a wrong line: the machine didn't do what it shows. */
  async #judge(name: CheckName, run: () => Promise<Verdict>): Promise<void> {
    const { progress, runner } = this.#parts;
    progress.begin(name);
    try {
      progress.judge(name, await run());
    } catch (error) {
      runner.signal.throwIfAborted();
      progress.judge(name, { outcome: 'wrong', detail: messageOf(error) });
    }
  }

  /** What was found before the obstacle stays. */
  #skip(name: CheckName, backend: BackendInfo['name'], { why, isWrong }: Obstacle): void {
    this.#parts.progress.skip(name, why);
    const place = PLACES[backend];
    if (this.#values.has(place)) return;
    this.#values.set(place, { place, values: isWrong ? 'wrong' : 'not-run', why });
  }

  /**
   * Runs the model in a worker of the check's own.
   *
   * @returns Why that was not possible, as `run` or the worker says.
   */
  async #tryOut(
    choice: BackendChoice,
    run: (trial: Trial, runner: Runner, found: BackendInfo) => Promise<Obstacle | undefined>,
  ): Promise<Obstacle | undefined> {
    const { tab, runner, model, progress } = this.#parts;
    if (!tab.source) return { why: 'This tab may not run a worker (canLead: false).' };
    progress.say('Loading the model in a worker of the check');
    const trial = openTrial(tab.source, choice, tab.createClient);
    const { serve } = trial;
    try {
      const { backend, ...found } = await untilAborted(serve.ready(), runner.signal);
      if (!backend || found.model?.id !== model.id)
        return { why: found.loadFailure?.error.message ?? 'Its worker has another model.' };
      await serve.overridePolicy(POLICY);
      return await run(trial, { serve, signal: runner.signal, onRequest: () => {} }, backend);
    } catch (error) {
      runner.signal.throwIfAborted();
      return { why: messageOf(error), isWrong: codeOf(error) === 'GPU_WRONG_VALUES' };
    } finally {
      serve.close();
    }
  }
}

/** Why this worker doesn't run on the GPU. */
function obstacleOf(serve: CheckedClient, { fallbackReason }: BackendInfo): Obstacle {
  const isWrong = serve.status().recovery?.kind === 'wrong-values';
  return { why: `${fallbackReason}.`, isWrong };
}

/** fp16 rounds the weights of fp32 once. Quantized weights are others. */
function areComparable(precisions: readonly BackendInfo['precision'][]): boolean {
  return new Set(precisions.map((each) => (each === 'fp16' ? 'fp32' : each))).size === 1;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
