import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import { UnsupportedModelError } from '../../../protocol/errors/model.ts';

const EXAMPLES: ReadonlyMap<string, string> = new Map([
  [EMBEDDER, 'sentence-transformers/all-MiniLM-L6-v2'],
  [RERANKER, 'cross-encoder/ms-marco-MiniLM-L6-v2'],
]);

/** A model of the hub that a deployment would serve. */
export function exampleFor(deployment: string): string {
  return EXAMPLES.get(deployment) ?? 'HuggingFaceTB/SmolLM2-135M-Instruct';
}

/** @throws InvalidOptionError for a deployment that takes no models. */
export function checkDeployment(deployment: string): void {
  const known = [TEXT_GENERATOR, ...EXAMPLES.keys()];
  if (!known.includes(deployment))
    throw InvalidOptionError.of('deployment', `one of ${known.join(', ')}`, deployment);
}

/** @throws UnsupportedModelError for a model that serves another deployment than the one asked for. */
export function checkServes(id: string, serves: string, asked: string | undefined): void {
  if (asked === undefined || asked === serves) return;
  throw UnsupportedModelError.of(
    `${id} is a model for the ${serves}, not for the ${asked}`,
    exampleFor(asked),
  );
}
