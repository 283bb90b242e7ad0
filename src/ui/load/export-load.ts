import type { ServeStatus } from '../../worker/protocol/protocol.ts';
import type { LoadResults } from './load-session.ts';
import { describeSuggestion } from './suggestion-text.ts';

/** The file of a load test. A run without a trace sent the file's own. */
export function exportLoad(
  { mode, scenario, latencyLimitMs, trials, suggestion }: LoadResults,
  { model, backend, policy }: Pick<ServeStatus, 'model' | 'backend' | 'policy'>,
) {
  const trace = trials[0]?.trace;
  return {
    mode,
    scenario,
    latencyLimitMs,
    model,
    backend,
    policy,
    trace,
    ...(suggestion && { suggestion: describeSuggestion(suggestion, latencyLimitMs) }),
    trials: trials.map(({ trace: own, ...trial }) => (own === trace ? trial : { ...trial, trace: own })),
  };
}
