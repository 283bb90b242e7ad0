import { RERANKER, type SuggestedModel } from '../../../client/index.ts';
import { formatBytes, formatCompact, formatCount } from '../../parts/format.ts';

/** `134.5M parameters · 269 MB download · Apache-2.0` */
export function describeModel(model: SuggestedModel, isStored: boolean): string {
  const { numParameters, downloadBytes, license } = model;
  const size = isStored ? 'on this device' : `${formatBytes(downloadBytes)} download`;
  return `${formatCompact(numParameters)} parameters · ${size} · ${license}`;
}

/** The model's use, in a word. */
export function describeUse({ isChat, deployment }: SuggestedModel): string {
  if (deployment === undefined) return isChat ? 'chat' : 'text';
  return deployment === RERANKER ? 'ranking' : 'embeddings';
}

/** `Fits: 0.9 GB in fp16 with one text of 2,048 tokens.`, or why it doesn't. */
export function describeFit(model: SuggestedModel): string {
  const { obstacle, memoryBytes, dtype, contextLength, deployment } = model;
  if (obstacle) return obstacle;
  const fit = dtype === 'q8' || dtype === 'q4' ? 'Tight' : 'Fits';
  const takes = `${fit}: ${formatBytes(memoryBytes)} in ${dtype}`;
  if (deployment !== undefined) return `${takes}, beside the model that generates.`;
  return `${takes} with one text of ${formatCount(contextLength)} tokens.`;
}
