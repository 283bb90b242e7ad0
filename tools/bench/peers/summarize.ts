import { keysOf } from '../../../src/batching/records.ts';
import { percentilesOf, spreadOf, sum } from '../statistics.ts';
import type { BenchCase } from './cases.ts';
import { OWN_CONTENDERS, type ContenderName } from './contender.ts';
import type { Burst, CaseRun, TimedAnswer } from './page/run-case.ts';
import { isAsReference } from './reference.ts';
import type { CaseResult, ContenderResult } from './results.ts';

/** The runs of a contender in a case, one per round. */
export interface Measured {
  readonly benchCase: BenchCase;
  readonly entrant: { readonly name: ContenderName; readonly runsOn: string };
  readonly runs: readonly CaseRun[];
}

export function summarize(cases: readonly BenchCase[], measured: readonly Measured[]): readonly CaseResult[] {
  return cases.map((benchCase) => {
    const inCase = measured.filter((entry) => entry.benchCase === benchCase);
    return {
      name: benchCase.name,
      label: benchCase.label,
      numRequests: benchCase.requests.length,
      contenders: inCase.map((entry) => summarizeContender(entry, inCase)),
      excluded: keysOf(benchCase.leftOut).flatMap((name) => {
        const reason = benchCase.leftOut[name];
        return reason === undefined ? [] : [{ name, reason }];
      }),
    };
  });
}

/** Counts the requested tokens only: a list of prompts runs until its longest member ends. */
export function numTokensOf(run: CaseRun): number {
  return sum(
    answersOf(run).map(({ continuation }) =>
      'tokenIds' in continuation ? continuation.tokenIds.length : continuation.numTokens,
    ),
  );
}

export function wallMsOf(run: CaseRun): number {
  return sum(run.map(({ wallMs }) => wallMs));
}

function answersOf(run: CaseRun): readonly TimedAnswer[] {
  return run.flatMap(({ answers }) => answers);
}

function summarizeContender(
  { benchCase, entrant, runs }: Measured,
  inCase: readonly Measured[],
): ContenderResult {
  const answers = runs.flatMap(answersOf);
  const bursts = runs.flat();
  const { numPromptTokens } = benchCase;
  return {
    name: entrant.name,
    runsOn: entrant.runsOn,
    numTokens: sum(runs.map(numTokensOf)),
    tokensPerSecond: spreadOf(runs.map(tokensPerSecond)),
    ...(numPromptTokens !== undefined && {
      promptTokensPerSecond: spreadOf(
        runs.map((run) => (run.length * numPromptTokens * 1000) / sum(run.map(promptsReadMs))),
      ),
    }),
    wallMs: percentilesOf(bursts.map(({ wallMs }) => wallMs)),
    ttftMs: percentilesOf(answers.map(({ ttftMs }) => ttftMs)),
    latencyMs: percentilesOf(answers.map(({ latencyMs }) => latencyMs)),
    numAnswers: answers.length,
    numAsReference: sum(bursts.map((burst) => countAsReference(benchCase, burst))),
    over: ratiosOver(entrant.name, runs, inCase),
  };
}

function countAsReference({ requests }: BenchCase, { answers }: Burst): number {
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

/** The ratio of the medians of tokens/s. */
function ratioOf(own: readonly CaseRun[], others: readonly CaseRun[]): number {
  return spreadOf(own.map(tokensPerSecond)).median / spreadOf(others.map(tokensPerSecond)).median;
}

function tokensPerSecond(run: CaseRun): number {
  return (numTokensOf(run) * 1000) / wallMsOf(run);
}

/** Time until every answer has begun, ms. */
function promptsReadMs({ answers }: Burst): number {
  return Math.max(...answers.map(({ ttftMs }) => ttftMs));
}
