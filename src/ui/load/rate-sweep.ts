import { createTrace } from './create-trace.ts';
import type { Scenario, Trace } from './scenario.ts';

/** One load, to be sent slower and faster. */
export interface RateSweep {
  /** Requests per second at factor 1. */
  readonly baseRate: number;
  readonly traceAt: (factor: number) => Trace;
}

/** Poisson arrivals around the mean rate of a trace. For a closed loop, the rate is the number of users. */
export function sweepScenario(scenario: Scenario, { requests, closedLoop }: Trace): RateSweep {
  const baseRate = closedLoop
    ? closedLoop.numUsers
    : Math.max(0.1, requests.length / scenario.durationSeconds);
  return {
    baseRate,
    traceAt: (factor) =>
      createTrace({ ...scenario, arrivals: { type: 'poisson', ratePerSecond: baseRate * factor } }),
  };
}

/** The requests of a trace with scaled pauses. The trace must have a rate. */
export function sweepReplay(trace: Trace): RateSweep {
  return {
    baseRate: rateOf(trace),
    traceAt: (factor) => ({
      requests: trace.requests.map((request) => ({ ...request, atMs: request.atMs / factor })),
    }),
  };
}

/** Requests per second; 0 for a closed loop and where all come at once. */
export function rateOf({ requests, closedLoop }: Trace): number {
  const lastAtMs = requests.at(-1)?.atMs ?? 0;
  return closedLoop || lastAtMs === 0 ? 0 : (requests.length * 1000) / lastAtMs;
}
