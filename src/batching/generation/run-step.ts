import type { Clock } from '../base/clock.ts';
import { ModelRunError } from '../base/errors.ts';
import { modelRunFailed } from './generation-errors.ts';
import type { ModelRunner, StartedStep, Step, StepOutput } from './model-runner.ts';
import { RuntimeLostError } from './runtime-lost-error.ts';

/** Starts a step. A run that fails becomes an output in which every row failed; only `RuntimeLostError` rejects the output. */
export function runStep(runner: ModelRunner, step: Step, clock: Clock): StartedStep {
  const { launched, output } = startSafely(runner, step);
  return { launched: launched.catch(() => {}), output: settled(step, output, clock) };
}

function startSafely(runner: ModelRunner, step: Step): StartedStep {
  try {
    return runner.start(step);
  } catch (cause) {
    return { launched: Promise.resolve(), output: Promise.reject(cause) };
  }
}

async function settled(step: Step, running: Promise<StepOutput>, clock: Clock): Promise<StepOutput> {
  const calledAtMs = clock.now();
  try {
    const output = await running;
    return { ...output, tokenIds: checkedTokenIds(step, output) };
  } catch (cause) {
    if (cause instanceof RuntimeLostError) throw cause;
    const tokenIds = step.rows.map(() => modelRunError(cause));
    return { tokenIds, runMs: clock.now() - calledAtMs, readbackMs: 0 };
  }
}

function checkedTokenIds(step: Step, { tokenIds }: StepOutput): StepOutput['tokenIds'] {
  const expected = step.kind === 'prefill' && !step.isLastChunk ? 0 : step.rows.length;
  if (tokenIds.length !== expected) {
    throw new RangeError(`Expected ${expected} token ids from the runner, got ${tokenIds.length}`);
  }
  return tokenIds.map((entry) => (entry instanceof Error ? modelRunError(entry) : entry));
}

function modelRunError(cause: unknown): ModelRunError {
  return cause instanceof ModelRunError ? cause : modelRunFailed(cause);
}
