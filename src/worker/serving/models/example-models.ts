import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';

const EXAMPLES: ReadonlyMap<string, string> = new Map([
  [EMBEDDER, 'sentence-transformers/all-MiniLM-L6-v2'],
  [RERANKER, 'cross-encoder/ms-marco-MiniLM-L6-v2'],
]);

/** A model of the hub that a deployment would serve. */
export function exampleFor(deployment: string): string {
  return EXAMPLES.get(deployment) ?? 'HuggingFaceTB/SmolLM2-135M-Instruct';
}
