import { formatCount, formatNumber } from '../parts/format.ts';
import { formatSeconds } from '../requests/run-text.ts';
import { shortName } from '../header/chip-text.ts';
import type { EmbedProgress, Embedded } from './embed-room.ts';
import { splitLines } from './split-lines.ts';

/** `1,024 of 10,000 · 312 texts/s` */
export function describeEmbedding({ numDone, numTexts, elapsedMs }: EmbedProgress): string {
  const rate = numDone > 0 ? ` · ${rateOf(numDone, elapsedMs)}` : '';
  return `${formatCount(numDone)} of ${formatCount(numTexts)}${rate}`;
}

/** What was embedded, then what the text holds if that is something else. */
export function describeLines(text: string, embedded: Embedded | undefined): string {
  const { lines, numLeftOut } = splitLines(text);
  const leftOut = numLeftOut > 0 ? ` The ${formatCount(numLeftOut)} lines behind them are left out.` : '';
  const isEmbedded = embedded && sameLines(lines, embedded.lines);
  if (!isEmbedded) return lines.length === 0 ? '' : `${countLines(lines.length)}.${leftOut}`;
  const { durationMs, modelId } = embedded;
  const rate = rateOf(lines.length, durationMs);
  return `${countLines(lines.length)} in ${formatSeconds(durationMs)}, ${rate}, by ${shortName(modelId)}.${leftOut}`;
}

function sameLines(lines: readonly string[], others: readonly string[]): boolean {
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}

function countLines(count: number): string {
  return count === 1 ? '1 line' : `${formatCount(count)} lines`;
}

function rateOf(numTexts: number, durationMs: number): string {
  return `${formatNumber((numTexts * 1000) / durationMs)} texts/s`;
}
