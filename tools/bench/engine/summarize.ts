import type { Measurement } from './measure.ts';
import type { BenchRun, ContextResult, ScenarioResult } from './results.ts';
import { COMPARED_SIZE, NUM_SWEPT_TOKENS, type Scenario } from './scenarios.ts';
import { percentilesOf, spreadOf, sum } from '../statistics.ts';

/** A scenario and its measurements, one per round. */
export interface Measured {
  readonly scenario: Scenario;
  readonly rounds: readonly Measurement[];
}

export function summarizeScenario({ scenario, rounds }: Measured): ScenarioResult {
  const steps = rounds.flatMap(({ decodeSteps }) => decodeSteps);
  const wholeBatch = scenario.policy === 'off' ? 1 : scenario.numRequests;
  const wholeSteps = steps.filter(({ batchSize }) => batchSize === wholeBatch);
  const outsideMs = sum(steps.map(outsideRun));
  return {
    ...scenario,
    numOutputTokens: sum(rounds.map(({ numOutputTokens }) => numOutputTokens)),
    tokensPerSecond: spreadOf(rounds.map(tokensPerSecond)),
    decodeStepMs: percentilesOf(wholeSteps.map(({ stepMs }) => stepMs)),
    ttftMs: percentilesOf(rounds.flatMap(({ ttftMs }) => ttftMs)),
    overheadShare: outsideMs / sum(steps.map(({ stepMs }) => stepMs)),
  };
}

export function summarizeContext(rounds: readonly Measurement[]): ContextResult {
  const numPromptTokens = Math.max(...rounds.map((round) => round.numPromptTokens));
  const steps = rounds.flatMap(({ decodeSteps }) => decodeSteps);
  const wholeSteps = steps.filter(({ batchSize }) => batchSize === COMPARED_SIZE);
  return {
    numPromptTokens,
    contextLength: numPromptTokens + NUM_SWEPT_TOKENS - 1,
    tokensPerSecond: spreadOf(rounds.map(tokensPerSecond)),
    decodeStepMs: percentilesOf(wholeSteps.map(({ stepMs }) => stepMs)),
  };
}

/** A step behind another is launched while the device is busy, so the CPU's time costs nothing. */
function outsideRun({ isBehind, stepMs, runMs, readbackMs }: Measurement['decodeSteps'][number]): number {
  return isBehind ? 0 : stepMs - runMs - readbackMs;
}

export function compareToOff(measured: readonly Measured[]): BenchRun['ratiosToOff'] {
  return { static: ratioToOff(measured, 'static'), continuous: ratioToOff(measured, 'continuous') };
}

export function ratioToOff(measured: readonly Measured[], policy: Scenario['policy']): number {
  return medianRate(measured, policy) / medianRate(measured, 'off');
}

function medianRate(measured: readonly Measured[], policy: Scenario['policy']): number {
  const found = measured.find(
    ({ scenario }) => scenario.policy === policy && scenario.numRequests === COMPARED_SIZE,
  );
  return spreadOf((found?.rounds ?? []).map(tokensPerSecond)).median;
}

function tokensPerSecond({ numOutputTokens, wallMs }: Measurement): number {
  return (numOutputTokens * 1000) / wallMs;
}
