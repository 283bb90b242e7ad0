import { systemClock, type Clock } from '../../../batching/base/clock.ts';
import type { TextDeployment } from '../text-deployment.ts';
import type { UpstreamInit } from '../../../protocol/host-messages.ts';
import type { WorkerStatus } from '../../../protocol/status.ts';
import { toServedModel } from '../../../protocol/models.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';
import type { UpstreamErrorCode } from '../../../protocol/errors/upstream.ts';
import { UpstreamGenerator, type UpstreamGeneratorOptions } from './upstream-generator.ts';
import { UpstreamConnection } from './upstream-connection.ts';
import { readUpstreamModel } from './upstream-model.ts';

export interface ServeUpstreamOptions {
  readonly upstream: UpstreamInit;
  readonly deployment: Pick<TextDeployment, 'use' | 'fail'>;
  readonly stats: UpstreamGeneratorOptions['stats'];
  /** @param isOver Whether an earlier error is over. */
  readonly onStatus: (change: Partial<WorkerStatus>, isOver: boolean) => void;
  readonly connection?: Pick<UpstreamConnection, 'fetchModels' | 'ask' | 'cancel'>;
  readonly clock?: Clock;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

/** These errors may be temporary, for example while a server starts. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'BACK_PRESSURE',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_UNREACHABLE',
] satisfies ('BACK_PRESSURE' | UpstreamErrorCode)[]);

/**
 * Lets the upstream generate texts. Resolves after the first attempt. If the upstream is not reachable, it is tried again after pauses
 * that double, and requests fail until it answers.
 */
export async function serveUpstream({
  upstream,
  deployment,
  stats,
  onStatus,
  connection = new UpstreamConnection(upstream.url),
  clock = systemClock,
}: ServeUpstreamOptions): Promise<void> {
  const attempt = async (pauseMs: number): Promise<void> => {
    try {
      const model = readUpstreamModel(upstream, await connection.fetchModels());
      const { modelInfo, backendInfo } = model;
      onStatus({ state: 'ready', model: modelInfo, backend: backendInfo }, true);
      await deployment.use(
        toServedModel(modelInfo, backendInfo),
        ({ onUpdates }) => new UpstreamGenerator({ connection, model, clock, stats, onUpdates }),
      );
    } catch (cause) {
      const error = toWireError(cause);
      onStatus({ state: 'failed', error }, false);
      deployment.fail(error);
      const nextPauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      if (TRANSIENT.has(error.code)) clock.setTimer(pauseMs, () => void attempt(nextPauseMs));
    }
  };

  await attempt(FIRST_PAUSE_MS);
}
