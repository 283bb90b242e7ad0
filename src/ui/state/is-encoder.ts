import { EMBEDDER, RERANKER } from '../../client/index.ts';

/** Whether the deployment is one of those of the Embed view, which keeps what they answer. */
export function isEncoder(deployment: string): boolean {
  return deployment === EMBEDDER || deployment === RERANKER;
}
