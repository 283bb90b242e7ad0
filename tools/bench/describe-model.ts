import type { ModelInfo } from '../../src/protocol/models.ts';
import type { BenchRun } from './engine/results.ts';

/** The part of a model's description that is recorded. */
export function describeModel({ id, numParameters, numLayers, contextLength }: ModelInfo): BenchRun['model'] {
  return { id, numParameters, numLayers, contextLength };
}
