import type { Samples } from '../bench-case.ts';
import { numTokensOf, type Burst, type PeerRequest, type TimedAnswer } from '../libraries/contender.ts';
import { medianOf, sum } from '../statistics.ts';
import { sameShareOf } from './reference.ts';

export function samplesOf(bursts: readonly Burst[], requests: readonly PeerRequest[]): Samples {
  const answers = bursts.flatMap((burst) => burst.answers);
  const shares = bursts.flatMap((burst) =>
    burst.answers.flatMap(({ continuation }, index) => {
      const request = requests[index];
      return (request && sameShareOf(request, continuation)) ?? [];
    }),
  );
  const decoded = bursts.flatMap((burst) => decodeOf(burst) ?? []);
  return {
    'tokens/s':
      (1000 * sum(answers.map(({ continuation }) => numTokensOf(continuation)))) /
      sum(bursts.map(({ wallMs }) => wallMs)),
    TTFT: answers.map(firstMsOf),
    latency: answers.map(({ latencyMs }) => latencyMs),
    ...(decoded.length > 0 && {
      'decode tokens/s': medianOf(decoded.map(({ tokensPerSecond }) => tokensPerSecond)),
      'between tokens': decoded.flatMap(({ gapsMs }) => gapsMs),
    }),
    ...(shares.length > 0 && {
      'answers as PyTorch': shares.map((share) => (share === 1 ? 1 : 0)),
      'tokens as PyTorch': shares,
    }),
  };
}

function firstMsOf({ tokenMs, latencyMs }: TimedAnswer): number {
  return tokenMs[0] ?? latencyMs;
}

interface Decoded {
  readonly tokensPerSecond: number;
  readonly gapsMs: readonly number[];
}

/**
 * Tokens that come while all rows decode: after the last row has its first token, until the first row ends. `undefined` if they
 * never do.
 */
export function decodeOf({ answers }: Burst): Decoded | undefined {
  const startMs = Math.max(...answers.map(firstMsOf));
  const endMs = Math.min(...answers.map(({ tokenMs }) => tokenMs.at(-1) ?? 0));
  if (endMs <= startMs) return undefined;
  const rows = answers.map(({ continuation, tokenMs }) => {
    const inWindow = tokenMs.filter((at) => at >= startMs && at <= endMs);
    // A token that comes as the window opens was computed before.
    const numArrivals = tokenMs.filter((at) => at > startMs && at <= endMs).length;
    return {
      numTokens: (numArrivals * numTokensOf(continuation)) / tokenMs.length,
      gapsMs: inWindow.slice(1).map((at, index) => at - (inWindow[index] ?? NaN)),
    };
  });
  const numTokens = sum(rows.map((row) => row.numTokens));
  return {
    tokensPerSecond: (1000 * numTokens) / (endMs - startMs),
    gapsMs: rows.flatMap((row) => row.gapsMs),
  };
}
