import type { MetricsRegistry } from '../../../batching/metrics/registry.ts';
import type { CallName } from '../../../protocol/call-answers.ts';
import type { JobCall } from '../../../jobs/service/job-calls.ts';
import type { CallHandlers, CallMessage } from '../../../protocol/calls.ts';
import { importPart } from '../../base/import-part.ts';
import type { ServingLog } from '../../logs/serving-log.ts';
import type { Knobs } from './knobs.ts';

interface OwnCallParts {
  readonly knobs: Knobs;
  readonly metrics: MetricsRegistry;
  readonly log: Pick<ServingLog, 'read'>;
}

/** Answers the calls about knobs, metrics and the log. */
export function createOwnCalls({ knobs, metrics, log }: OwnCallParts) {
  return {
    configure: ({ deployment, knobs: changed }) => knobs.configure(deployment, changed),
    'set-override': ({ clientId, overrideId, deployment, knobs: changed }) =>
      knobs.setOverride(clientId, { overrideId, deployment, knobs: changed }),
    'release-override': ({ overrideId }) => knobs.releaseOverride(overrideId),
    async metrics() {
      const { toPrometheusText } = await importPart(() => import('../../../batching/metrics/prometheus.ts'));
      return toPrometheusText(metrics.snapshot());
    },
    'read-log': ({ cursor }) => log.read(cursor),
  } satisfies Partial<CallHandlers>;
}

export type OwnCalls = ReturnType<typeof createOwnCalls>;

/** All calls but these are about models. */
export type ModelCall = Exclude<CallName, keyof OwnCalls | JobCall>;

export function isModelCall(
  message: CallMessage<Exclude<CallName, JobCall>>,
  ownCalls: OwnCalls,
): message is CallMessage<ModelCall> {
  return !(message.type in ownCalls);
}
