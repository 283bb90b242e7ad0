import { parseOptions } from '../base/parse-options.ts';
import { KNOBS, type BatchingPolicy } from './policy.ts';

/** The policy with some knobs changed. One bad knob refuses the whole update; `current` stays as it is. */
export function updatePolicy(current: BatchingPolicy, knobs: unknown): BatchingPolicy {
  return { ...current, ...parseOptions('knobs', KNOBS, knobs) };
}
