import { systemClock, type Clock } from '../../../batching/clock.ts';
import type { TextGeneratorDeployment } from '../text-generator-deployment.ts';
import type { UpstreamInit, WireError, WorkerStatus } from '../../protocol/protocol.ts';
import { servedModel } from '../../protocol/served-model.ts';
import type { StatsReporter } from '../../logs/stats-reporter.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { UpstreamErrorCode } from '../../protocol/errors/upstream.ts';
import { UpstreamGenerator } from './upstream-generator.ts';
import { UpstreamLane } from './upstream-lane.ts';
import { readUpstreamModel } from './upstream-model.ts';

export interface ServeUpstreamOptions {
  readonly upstream: UpstreamInit;
  readonly deployment: Pick<TextGeneratorDeployment, 'use' | 'fail'>;
  readonly stats: Pick<StatsReporter, 'recordMeasured' | 'recordSubmitted'>;
  /** @param isOver Whether what was wrong before is right now. */
  readonly onStatus: (change: Partial<WorkerStatus>, isOver: boolean) => void;
  readonly lane?: Pick<UpstreamLane, 'fetchModels' | 'ask' | 'cancel'>;
  readonly clock?: Clock;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

/** What may be right by itself, a server that is still starting, say. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'BACK_PRESSURE',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_UNREACHABLE',
] satisfies ('BACK_PRESSURE' | UpstreamErrorCode)[]);

/**
 * Lets the upstream answer for the text generator. Resolves when it does, or is known not to; one that is not there is asked
 * again, after pauses that double, and requests fail until it is.
 */
export async function serveUpstream({
  upstream,
  deployment,
  stats,
  onStatus,
  lane = new UpstreamLane(upstream.url),
  clock = systemClock,
}: ServeUpstreamOptions): Promise<void> {
  const serve = async (): Promise<void> => {
    const model = readUpstreamModel(upstream, await lane.fetchModels());
    const { modelInfo, backendInfo } = model;
    onStatus({ state: 'ready', model: modelInfo, backend: backendInfo }, true);
    await deployment.use(servedModel(modelInfo, backendInfo), (policy, onUpdates) => {
      const listener = {
        onUpdates,
        onMeasured: stats.recordMeasured.bind(stats),
        onPromptTokens: (numPromptTokens: number) => stats.recordSubmitted(numPromptTokens, 0),
      };
      return new UpstreamGenerator({ lane, model, clock, policy, listener });
    });
  };

  const attempt = async (pauseMs: number): Promise<void> => {
    try {
      await serve();
    } catch (cause) {
      const error: WireError = toWireError(cause);
      onStatus({ state: 'failed', error }, false);
      deployment.fail(error);
      const nextPauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      if (TRANSIENT.has(error.code)) clock.setTimer(pauseMs, () => void attempt(nextPauseMs));
    }
  };

  await attempt(FIRST_PAUSE_MS);
}
