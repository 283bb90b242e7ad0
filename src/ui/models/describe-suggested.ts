import type { SuggestedModel } from '../../client/index.ts';
import { formatCompact, formatCount } from '../parts/format.ts';
import { formatSize } from './describe-load.ts';

/** `134.5M parameters · 269 MB download · Apache-2.0` */
export function describeModel(model: SuggestedModel, isStored: boolean): string {
  const { numParameters, downloadBytes, license } = model;
  const size = isStored ? 'on this device' : `${formatSize(downloadBytes)} download`;
  return `${formatCompact(numParameters)} parameters · ${size} · ${license}`;
}

/** `Fits: 0.9 GB in fp16 with one text of 2,048 tokens.`, or why it doesn't. */
export function describeFit({ obstacle, memoryBytes, dtype, contextLength }: SuggestedModel): string {
  if (obstacle) return obstacle;
  const fit = dtype === 'q8' || dtype === 'q4' ? 'Tight' : 'Fits';
  return `${fit}: ${formatSize(memoryBytes)} in ${dtype} with one text of ${formatCount(contextLength)} tokens.`;
}
