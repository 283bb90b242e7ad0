import type { StepRecord } from '../../../../src/protocol/stats.ts';
import { percentilesOf, spreadOf, sum } from '../../statistics.ts';
import type { RowsResult, StallResult } from '../results.ts';
import type { Played, PlayedRequest } from './in-page.ts';

/** Every round of the same requests. */
export function summarizeRows(rounds: readonly Played[]): RowsResult {
  const requests = rounds.flatMap((round) => round.requests);
  return {
    numRequests: rounds[0]?.requests.length ?? 0,
    numPromptTokens: requests[0]?.numPromptTokens ?? 0,
    tokensPerSecond: spreadOf(rounds.map(rateOf)),
    ttftMs: percentilesOf(requests.map(({ ttftMs }) => ttftMs)),
    itlMs: percentilesOf(requests.flatMap(tokenGapsOf)),
  };
}

/** The same late prompts with a bounded stall and without a limit. */
export function summarizeStall(bounded: readonly Played[], unlimited: readonly Played[]): StallResult {
  return {
    longestGapMs: spreadOf(bounded.map((round) => longestGapOf(round.steps).gapMs)),
    longestGapSteps: spreadOf(bounded.map((round) => longestGapOf(round.steps).inSteps)),
    unlimitedGapMs: spreadOf(unlimited.map((round) => longestGapOf(round.steps).gapMs)),
    unlimitedGapSteps: spreadOf(unlimited.map((round) => longestGapOf(round.steps).inSteps)),
    throughputRatio: spreadOf(bounded.map(rateOf)).median / spreadOf(unlimited.map(rateOf)).median,
  };
}

function rateOf({ requests, wallMs }: Played): number {
  const counts = requests.flatMap(({ chunks }) => chunks.map(({ numTokens }) => numTokens));
  return (sum(counts) * 1000) / wallMs;
}

/** One value per token but the first: tokens that came together share the time since those before them. */
function tokenGapsOf({ chunks }: PlayedRequest): readonly number[] {
  return chunks.slice(1).flatMap(({ atMs, numTokens }, index) => {
    const gapMs = (atMs - (chunks[index]?.atMs ?? 0)) / numTokens;
    return Array.from({ length: numTokens }, () => gapMs);
  });
}

/** The longest time from one decode step to the next, by itself and in decode steps of as many sequences. */
function longestGapOf(steps: readonly StepRecord[]): { readonly gapMs: number; readonly inSteps: number } {
  let longest = { gapMs: 0, inSteps: 0 };
  let prefillMs: number | undefined;
  for (const { kind, stepMs, batchSize } of steps) {
    if (kind === 'prefill') {
      if (prefillMs !== undefined) prefillMs += stepMs;
      continue;
    }
    const gapMs = (prefillMs ?? 0) + stepMs;
    const alike = steps.filter((step) => step.kind === 'decode' && step.batchSize === batchSize);
    const inSteps = gapMs / percentilesOf(alike.map((step) => step.stepMs)).p50;
    if (inSteps > longest.inSteps) longest = { gapMs, inSteps };
    prefillMs = 0;
  }
  return longest;
}
