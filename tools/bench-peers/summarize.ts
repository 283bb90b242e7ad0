import type { Spread } from '../bench/results.ts';
import { percentilesOf, spreadOf, sum } from '../bench/statistics.ts';
import { CASES, type BenchCase } from './cases.ts';
import { CONTENDERS } from './contender.ts';
import type { Measured } from './measure.ts';
import type { CaseRun } from './page/run-case.ts';
import { isAsReference } from './reference.ts';
import type { CaseResult, ContenderResult } from './results.ts';

export function summarize(measured: readonly Measured[]): readonly CaseResult[] {
  return CASES.map((benchCase) => {
    const inCase = measured.filter((entry) => entry.benchCase === benchCase);
    const own = inCase.find(({ entrant }) => entrant.name === 'tabserve')?.runs ?? [];
    const excluded = Object.entries(benchCase.cannot);
    return {
      label: benchCase.label,
      numRequests: benchCase.requests.length,
      contenders: inCase.map((entry) => summarizeContender(entry, own)),
      excluded: excluded.map(([name, reason]) => ({ name: labelOf(name), reason })),
    };
  });
}

/** Generated and asked for: what a list runs on beyond a member's own length is not an answer's. */
export function numTokensOf({ answers }: CaseRun): number {
  return sum(
    answers.map(({ continuation }) =>
      'tokenIds' in continuation ? continuation.tokenIds.length : continuation.numTokens,
    ),
  );
}

function summarizeContender(
  { benchCase, entrant, runs }: Measured,
  own: readonly CaseRun[],
): ContenderResult {
  const answers = runs.flatMap((run) => run.answers);
  return {
    name: CONTENDERS[entrant.name],
    runsOn: entrant.runsOn,
    numTokens: sum(runs.map(numTokensOf)),
    tokensPerSecond: spreadOf(runs.map(tokensPerSecond)),
    wallMs: percentilesOf(runs.map(({ wallMs }) => wallMs)),
    ttftMs: percentilesOf(answers.map(({ ttftMs }) => ttftMs)),
    latencyMs: percentilesOf(answers.map(({ latencyMs }) => latencyMs)),
    numAnswers: answers.length,
    numAsReference: sum(runs.map((run) => countAsReference(benchCase, run))),
    ...(entrant.name !== 'tabserve' && { tabserveOverIt: ratioOf(own, runs) }),
  };
}

function countAsReference({ requests }: BenchCase, { answers }: CaseRun): number {
  const checked = requests.filter((request, index) => {
    const continuation = answers[index]?.continuation;
    return continuation && isAsReference(request, continuation);
  });
  return checked.length;
}

/** Tokens/s over tokens/s, round by round. */
function ratioOf(own: readonly CaseRun[], others: readonly CaseRun[]): Spread {
  return spreadOf(
    others.map((other, round) => {
      const run = own[round];
      return run ? tokensPerSecond(run) / tokensPerSecond(other) : NaN;
    }),
  );
}

function tokensPerSecond(run: CaseRun): number {
  return (numTokensOf(run) * 1000) / run.wallMs;
}

function labelOf(name: string): string {
  return Object.entries(CONTENDERS).find(([key]) => key === name)?.[1] ?? name;
}
