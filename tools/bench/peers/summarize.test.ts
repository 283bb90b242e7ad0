import { describe, expect, it } from 'vitest';

import { casesOf, type BenchCase, type CaseName } from './cases.ts';
import type { ContenderName } from './contender.ts';
import type { Burst, CaseRun } from './page/run-case.ts';
import { longPrompts, referencePrompts } from './reference.ts';
import { peersReportOf } from './report.ts';
import { summarize, type Measured } from './summarize.ts';

/** A burst of right answers. The first begins after `ttftMs`, and each of the others `ttftMs` later. */
function roundOf({ requests }: BenchCase, wallMs: number, ttftMs = 1): Burst {
  const entries = [...referencePrompts, ...longPrompts];
  return {
    wallMs,
    answers: requests.map(({ prompt, maxNewTokens }, index) => {
      const tokenIds = entries.find((entry) => entry.prompt === prompt)?.greedyTokenIds ?? [];
      return {
        continuation: { tokenIds: tokenIds.slice(0, maxNewTokens) },
        ttftMs: ttftMs * (index + 1),
        latencyMs: wallMs,
      };
    }),
  };
}

function measured(benchCase: BenchCase, name: ContenderName, runs: readonly CaseRun[]): Measured {
  return { benchCase, entrant: { name, runsOn: 'CPU' }, runs };
}

function onlyCase(name: CaseName): BenchCase {
  const [benchCase] = casesOf([name], 'wasm');
  if (!benchCase) throw new Error(`No case is called ${name}.`);
  return benchCase;
}

function reportOf(benchCase: BenchCase): string {
  return peersReportOf({
    startedAt: '',
    command: '',
    machine: { cpu: '', numCores: 2, memoryGiB: 1 },
    loadAverage: 0,
    browser: '',
    backend: 'wasm',
    model: 'storyteller',
    libraries: [{ name: 'Tabserve', version: '1.2.3', runtime: 'a runtime 4' }],
    numRounds: 1,
    cases: summarize([benchCase], [measured(benchCase, 'tabserve', [[roundOf(benchCase, 1000)]])]),
  });
}

const eight = onlyCase('eight');
const prompts = onlyCase('prompts');
const rounds = (...wallMs: readonly number[]): CaseRun[] => wallMs.map((ms) => [roundOf(eight, ms)]);

describe('summarize', () => {
  const [result] = summarize(
    [eight],
    [
      measured(eight, 'tabserve', rounds(100, 200, 100)),
      measured(eight, 'tabserve-page', rounds(200, 200, 200)),
      measured(eight, 'wllama', [[...rounds(100), ...rounds(300)].flat(), ...rounds(800, 100)]),
    ],
  );
  const over = (name: ContenderName): unknown =>
    result?.contenders.find((contender) => contender.name === name)?.over;

  it('divides the median of each of ours by that of a peer, over all bursts of a round', () => {
    expect(over('wllama')).toEqual({ tabserve: 2, 'tabserve-page': 1 });
  });

  it('divides each of ours by the other, and neither by itself', () => {
    expect(over('tabserve')).toEqual({ 'tabserve-page': 0.5 });
    expect(over('tabserve-page')).toEqual({ tabserve: 2 });
  });

  it('counts the answers that are the reference', () => {
    const wrong = roundOf(eight, 100);
    const answers = wrong.answers.with(0, { continuation: { tokenIds: [1] }, ttftMs: 1, latencyMs: 1 });
    const [other] = summarize(
      [eight],
      [measured(eight, 'wllama', [[{ ...wrong, answers }], ...rounds(100)])],
    );
    expect(other?.contenders[0]).toMatchObject({ numAnswers: 16, numAsReference: 15 });
  });

  it('divides the tokens of long prompts by the time until the last answer has begun', () => {
    const [long] = summarize([prompts], [measured(prompts, 'wllama', [[roundOf(prompts, 5000, 200)]])]);
    expect(long?.contenders[0]?.promptTokensPerSecond?.median).toBe((8 * 400) / 1.6);
    expect(result?.contenders[0]?.promptTokensPerSecond).toBeUndefined();
  });
});

describe('peersReportOf', () => {
  it('has a column for prompt tokens if they were measured', () => {
    expect(reportOf(prompts)).toContain('| prompt tokens/s |');
    expect(reportOf(eight)).not.toContain('prompt tokens/s');
  });

  it('names each library with its runtime', () => {
    expect(reportOf(eight)).toContain('Tabserve 1.2.3 on a runtime 4');
  });
});
