import type { Spread } from '../bench/results.ts';
import { percentilesOf, spreadOf, sum } from '../bench/statistics.ts';
import type { BenchCase } from './cases.ts';
import { contenderNames, OWN_CONTENDERS, type ContenderName } from './contender.ts';
import type { Measured } from './measure.ts';
import type { CaseRun } from './page/run-case.ts';
import { isAsReference } from './reference.ts';
import type { CaseResult, ContenderResult } from './results.ts';

export function summarize(cases: readonly BenchCase[], measured: readonly Measured[]): readonly CaseResult[] {
  return cases.map((benchCase) => {
    const inCase = measured.filter((entry) => entry.benchCase === benchCase);
    return {
      name: benchCase.name,
      label: benchCase.label,
      numRequests: benchCase.requests.length,
      contenders: inCase.map((entry) => summarizeContender(entry, inCase)),
      excluded: contenderNames().flatMap((name) => {
        const reason = benchCase.leftOut[name];
        return reason === undefined ? [] : [{ name, reason }];
      }),
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
  inCase: readonly Measured[],
): ContenderResult {
  const answers = runs.flatMap((run) => run.answers);
  const { numPromptTokens } = benchCase;
  return {
    name: entrant.name,
    runsOn: entrant.runsOn,
    numTokens: sum(runs.map(numTokensOf)),
    tokensPerSecond: spreadOf(runs.map(tokensPerSecond)),
    ...(numPromptTokens !== undefined && {
      promptTokensPerSecond: spreadOf(runs.map((run) => (numPromptTokens * 1000) / promptsReadMs(run))),
    }),
    wallMs: percentilesOf(runs.map(({ wallMs }) => wallMs)),
    ttftMs: percentilesOf(answers.map(({ ttftMs }) => ttftMs)),
    latencyMs: percentilesOf(answers.map(({ latencyMs }) => latencyMs)),
    numAnswers: answers.length,
    numAsReference: sum(runs.map((run) => countAsReference(benchCase, run))),
    over: ratiosOver(entrant.name, runs, inCase),
  };
}

function countAsReference({ requests }: BenchCase, { answers }: CaseRun): number {
  const checked = requests.filter((request, index) => {
    const continuation = answers[index]?.continuation;
    return continuation && isAsReference(request, continuation);
  });
  return checked.length;
}

/** The ratios of our contenders over this one, without its own. */
function ratiosOver(
  name: ContenderName,
  runs: readonly CaseRun[],
  inCase: readonly Measured[],
): ContenderResult['over'] {
  const others = OWN_CONTENDERS.filter((own) => own !== name);
  return Object.fromEntries(
    others.flatMap((own) => {
      const ownRuns = inCase.find(({ entrant }) => entrant.name === own)?.runs;
      return ownRuns ? [[own, ratioOf(ownRuns, runs)] as const] : [];
    }),
  );
}

/** Tokens/s over tokens/s, round by round: what disturbs the machine in a round disturbs both. */
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

/** Time until every answer has begun, ms. */
function promptsReadMs({ answers }: CaseRun): number {
  return Math.max(...answers.map(({ ttftMs }) => ttftMs));
}
