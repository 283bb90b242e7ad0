import type { EncoderInfo } from '../../../client/index.ts';
import { BACKENDS } from '../../panels/header/describe-state.ts';
import { countOf, formatCount, formatNumber, formatSeconds } from '../../parts/format.ts';
import { shortName } from '../../panels/header/chip-text.ts';
import type { EmbedProgress, EmbedView, Embedded } from './embed-room.ts';
import { splitLines } from './split-lines.ts';

/** `1,024 of 10,000 · 312 texts/s with tokenizing` */
export function describeEmbedding({ numDone, numTexts, elapsedMs }: EmbedProgress): string {
  const rate = numDone > 0 ? ` · ${rateOf(numDone, elapsedMs)} with tokenizing` : '';
  return `${formatCount(numDone)} of ${formatCount(numTexts)}${rate}`;
}

/** Describes the embedded lines; the typed ones if they differ, and which lines a search finds until they are embedded. */
export function describeLines(text: string, embedded: Embedded | undefined): string {
  const { lines, numLeftOut } = splitLines(text);
  const leftOut =
    numLeftOut > 0
      ? ` The ${countOf(numLeftOut, 'line')} behind them ${numLeftOut === 1 ? 'is' : 'are'} left out.`
      : '';
  const isEmbedded = embedded && sameLines(lines, embedded.lines);
  if (!isEmbedded) {
    const typed = lines.length === 0 ? '' : `${countOf(lines.length, 'line')}.${leftOut}`;
    return [typed, describeBefore(embedded)].filter(Boolean).join(' ');
  }
  const { durationMs, modelId } = embedded;
  const rate = rateOf(lines.length, durationMs);
  const took = `${countOf(lines.length, 'line')} in ${formatSeconds(durationMs)} with tokenizing, ${rate}, by ${shortName(modelId)}.`;
  return `${took}${describeCut(embedded)}${leftOut}`;
}

function describeBefore(embedded: Embedded | undefined): string {
  return embedded
    ? `Until you press Embed, a search finds the ${countOf(embedded.lines.length, 'line')} from before.`
    : '';
}

function describeCut({ numCut, maxTokens }: Embedded): string {
  const longer = numCut === 1 ? '1 is' : `${formatCount(numCut)} are`;
  return numCut > 0 ? ` ${longer} longer than ${readBy(maxTokens, 'model')}: the beginning counts.` : '';
}

/** Says what of a search the models haven't read. @param rerankTokens The most that the reranker reads. */
export function describeSearchCut(
  { hits, isQueryCut }: Pick<EmbedView, 'hits' | 'isQueryCut'>,
  maxTokens: number,
  rerankTokens: number,
): string {
  const numCut = hits.filter(({ isCut }) => isCut).length;
  return [
    isQueryCut && `The query is longer than ${readBy(maxTokens, 'model')}: its beginning counts.`,
    numCut > 0 &&
      `${countOf(numCut, 'line')} with the query ${numCut === 1 ? 'is' : 'are'} longer than ${readBy(rerankTokens, 'reranker')}: the beginnings count.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function readBy(maxTokens: number, reader: string): string {
  return `the ${formatCount(maxTokens)} tokens that the ${reader} reads`;
}

function sameLines(lines: readonly string[], others: readonly string[]): boolean {
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}

/** Of the whole way of a text. The figures beside it have the batches alone. */
function rateOf(numTexts: number, durationMs: number): string {
  return `${formatNumber((numTexts * 1000) / durationMs)} texts/s`;
}

interface RunPlaces {
  readonly numBatches: number;
  readonly numOnWasm: number;
}

/** `12 batches: 9 on WebGPU, 3 on the CPU, which is faster below 320 tokens.` */
export function describePlaces(
  run: RunPlaces | undefined,
  encoder: Pick<EncoderInfo, 'backend' | 'crossoverTokens'> | undefined,
): string {
  if (!run || !encoder) return '';
  const { numBatches, numOnWasm } = run;
  const batches = countOf(numBatches, 'batch', 'batches');
  const { crossoverTokens, backend } = encoder;
  if (crossoverTokens === undefined) return `${batches} on ${BACKENDS[backend.name].title}.`;
  const places = `${formatCount(numBatches - numOnWasm)} on ${BACKENDS[backend.name].title}, ${formatCount(numOnWasm)} on the CPU`;
  return `${batches}: ${places}, which is faster below ${formatCount(crossoverTokens)} tokens.`;
}
