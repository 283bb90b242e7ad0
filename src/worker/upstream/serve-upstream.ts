import { systemClock } from '../../batching/clock.ts';
import type { TextGeneratorDeployment } from '../deployments/text-generator-deployment.ts';
import type { UpstreamInit, WorkerStatus } from '../protocol.ts';
import { servedModelId } from '../served-model-id.ts';
import type { StatsReporter } from '../stats-reporter.ts';
import { toWireError } from '../wire-errors.ts';
import { UpstreamGenerator } from './upstream-generator.ts';
import { UpstreamLane } from './upstream-lane.ts';
import { readUpstreamModel } from './upstream-model.ts';

export interface ServeUpstreamOptions {
  readonly upstream: UpstreamInit;
  readonly deployment: Pick<TextGeneratorDeployment, 'use' | 'fail'>;
  readonly stats: StatsReporter;
  readonly onStatus: (change: Partial<WorkerStatus>) => void;
}

/** Lets the upstream answer for the text generator. Resolves when it does, or is known not to. */
export async function serveUpstream({
  upstream,
  deployment,
  stats,
  onStatus,
}: ServeUpstreamOptions): Promise<void> {
  const lane = new UpstreamLane(upstream.url);
  try {
    const model = readUpstreamModel(upstream, await lane.fetchModels());
    const { modelInfo, backendInfo } = model;
    onStatus({ state: 'ready', model: modelInfo, backend: backendInfo });
    await deployment.use(
      servedModelId(modelInfo, backendInfo),
      (policy, onUpdates) =>
        new UpstreamGenerator({
          lane,
          model,
          clock: systemClock,
          policy,
          listener: {
            onUpdates,
            onMeasured: (events, busyMs) => stats.recordMeasured(events, busyMs),
            onPromptTokens: (numPromptTokens) => stats.recordSubmitted(numPromptTokens, 0),
          },
        }),
    );
  } catch (cause) {
    const error = toWireError(cause);
    onStatus({ state: 'failed', error });
    deployment.fail(error);
  }
}
