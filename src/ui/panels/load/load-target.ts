import {
  EMBEDDER,
  TEXT_GENERATOR,
  type BatchingPolicy,
  type BatchKnobs,
  type FinishReason,
  type GenerationResult,
  type RequestId,
  type TabserveClient,
} from '../../../client/index.ts';
import type { TrialOverride } from '../trials/run-trials.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import type { TraceRequest } from './scenario.ts';

/** The deployments that the load lab can load. */
export type LoadedDeployment = typeof TEXT_GENERATOR | typeof EMBEDDER;

/** In force during a trial. An embedder has no policy. */
export type TrialKnobs = Pick<BatchingPolicy, 'maxBatchSize' | 'batchWaitTimeoutMs'> &
  Partial<Pick<BatchingPolicy, 'policy'>>;

/** How a request ended. */
export type Ending =
  | {
      readonly status: 'finished';
      readonly finishReason?: FinishReason;
      readonly numPromptTokens: number;
      /** Without the end token, as the metrics count them. An embedder only reads. */
      readonly numOutputTokens?: number;
      /** As the worker measured them; of an embedder, the page. */
      readonly timings: Pick<GenerationResult['timings'], 'e2eMs'> & Partial<GenerationResult['timings']>;
    }
  /** Back pressure: the queue was full. */
  | { readonly status: 'rejected' }
  | { readonly status: 'failed'; readonly code: string }
  /** The run was stopped. */
  | { readonly status: 'cancelled' };

interface SendOptions {
  readonly signal: AbortSignal;
  /** Called right after the submission. */
  readonly onSubmitted: (requestId: RequestId) => void;
}

/** The deployment that a load test sends its requests to. */
export interface LoadTarget {
  readonly deployment: LoadedDeployment;
  readonly knobs: () => TrialKnobs;
  /** For a comparison. An embedder has none here: its view compares its ways to batch. */
  readonly override?: () => Promise<TrialOverride<Partial<TrialKnobs>, TrialKnobs>>;
  /** Never rejects. */
  readonly send: (request: TraceRequest, options: SendOptions) => Promise<Ending>;
  /** Model and settings, for a file of results. */
  readonly describe: () => object;
}

export function createLoadTarget(serve: TabserveClient, deployment: LoadedDeployment): LoadTarget {
  return deployment === TEXT_GENERATOR ? textTarget(serve) : embedderTarget(serve);
}

function textTarget(serve: TabserveClient): LoadTarget {
  return {
    deployment: TEXT_GENERATOR,
    knobs: () => serve.status().policy,
    override: () => serve.overridePolicy(),
    send: ({ prompt, maxNewTokens, seed }, { signal, onSubmitted }) =>
      endingOf(async () => {
        const response = serve.getHandle(TEXT_GENERATOR).remote(prompt, { maxNewTokens, seed, signal });
        onSubmitted(response.requestId);
        const { tokenIds, finishReason, usage, timings } = await response.result();
        const { numPromptTokens } = usage;
        return {
          status: 'finished',
          finishReason,
          numPromptTokens,
          numOutputTokens: tokenIds.length,
          timings,
        };
      }),
    describe: () => {
      const { model, backend, policy } = serve.status();
      return { model, backend, policy };
    },
  };
}

function embedderTarget(serve: TabserveClient): LoadTarget {
  let known: BatchKnobs | undefined;
  const knobs = (): BatchKnobs => {
    // A worker that has taken over serves no embedder until it is asked.
    known = serve.status().deployments.find(({ name }) => name === EMBEDDER)?.knobs ?? known;
    if (!known) throw new Error('No embedder is served');
    return known;
  };
  return {
    deployment: EMBEDDER,
    knobs,
    send: ({ prompt }, { signal, onSubmitted }) =>
      endingOf(async () => {
        const sentAtMs = performance.now();
        const response = serve.getHandle(EMBEDDER).remote(prompt, { signal });
        onSubmitted(response.requestId);
        const { numTokens } = await response.result();
        const e2eMs = performance.now() - sentAtMs;
        return { status: 'finished', numPromptTokens: numTokens, timings: { e2eMs } };
      }),
    describe: () => ({
      encoder: serve.status().encoders?.find((encoder) => encoder.deployment === EMBEDDER),
      knobs: knobs(),
    }),
  };
}

async function endingOf(send: () => Promise<Ending>): Promise<Ending> {
  try {
    return await send();
  } catch (caught) {
    const { code } = toWireError(caught);
    if (code === 'REQUEST_CANCELLED') return { status: 'cancelled' };
    return code === 'BACK_PRESSURE' ? { status: 'rejected' } : { status: 'failed', code };
  }
}
