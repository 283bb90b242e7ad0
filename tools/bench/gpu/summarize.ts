import { percentilesOf, spreadOf, sum } from '../statistics.ts';
import type { ContenderName } from './contender.ts';
import type { Played, PlayedRequest } from './page/play.ts';
import type { GpuCase, GpuRequest } from './plan.ts';
import type { CellResult } from './results.ts';

/** The runs of a contender in a case, one per round, or why it failed. */
export interface Measured {
  readonly benchCase: GpuCase;
  readonly contender: ContenderName;
  readonly runs: readonly Played[];
  readonly failure?: string;
}

export function summarizeCell({ benchCase, contender, runs, failure }: Measured): CellResult {
  const place = { ...benchCase, contender };
  if (failure !== undefined) return { ...place, failure };
  const timed = runs.map((run) =>
    benchCase.kind === 'prefill' ? timePrefill(run, benchCase) : timeDecode(run),
  );
  return {
    ...place,
    tokensPerSecond: spreadOf(timed.map(({ numTokens, durationMs }) => (numTokens * 1000) / durationMs)),
    ms: percentilesOf(timed.flatMap(({ ms }) => ms)),
  };
}

/** @throws Error if an answer does not have the requested number of tokens. */
export function checkCounts({ requests: played }: Played, requests: readonly GpuRequest[]): void {
  for (const [index, { maxNewTokens }] of requests.entries()) {
    const numTokens = countTokens(played[index]);
    if (numTokens !== maxNewTokens) throw new Error(`Expected ${maxNewTokens} new tokens, got ${numTokens}`);
  }
}

interface Timed {
  readonly numTokens: number;
  readonly durationMs: number;
  /** Times to the first token, or between tokens of a row. */
  readonly ms: readonly number[];
}

/** All prompt tokens, until the last prompt has its first token. */
function timePrefill({ requests }: Played, { length }: GpuCase): Timed {
  const ms = requests.map(({ tokenMs }) => tokenMs[0] ?? NaN);
  return { numTokens: length * requests.length, durationMs: Math.max(...ms), ms };
}

/** Tokens that come while all rows decode: after the last row has its first token, until the first row ends. */
function timeDecode({ requests }: Played): Timed {
  const startMs = Math.max(...requests.map(({ tokenMs }) => tokenMs[0] ?? NaN));
  const endMs = Math.min(...requests.map(({ tokenMs }) => tokenMs.at(-1) ?? NaN));
  if (!(endMs > startMs)) throw new Error('Expected all rows to decode together for a while');
  const rows = requests.map((request) => {
    const inWindow = request.tokenMs.filter((at) => at >= startMs && at <= endMs);
    // A token that comes as the window opens was computed before.
    const numArrivals = request.tokenMs.filter((at) => at > startMs && at <= endMs).length;
    const tokensPerArrival = countTokens(request) / request.tokenMs.length;
    return {
      numTokens: numArrivals * tokensPerArrival,
      ms: inWindow.slice(1).map((at, index) => at - (inWindow[index] ?? NaN)),
    };
  });
  return {
    numTokens: sum(rows.map(({ numTokens }) => numTokens)),
    durationMs: endMs - startMs,
    ms: rows.flatMap(({ ms }) => ms),
  };
}

function countTokens(request: PlayedRequest | undefined): number {
  if (!request) return 0;
  const { continuation } = request;
  return 'tokenIds' in continuation ? continuation.tokenIds.length : continuation.numTokens;
}
