import type { OpenTab } from '../../../client/index.ts';
import { countOf, describeFaster, formatCount, formatNumber, formatSeconds } from '../../parts/format.ts';
import type { Measured } from '../compare/compared-prompts.ts';
import type { Run } from '../../state/run.ts';
import type { RunSummary } from '../../state/run-summary.ts';
import { nameOfSender, type Sender } from '../../state/sender.ts';

interface Senders {
  /** The requests that aren't this tab's. */
  readonly numBySender: ReadonlyMap<Sender, number>;
  readonly tabs: readonly OpenTab[];
}

interface RunCounts extends Senders {
  readonly numRequests: number;
  readonly numRunning: number;
  readonly numWaiting: number;
  readonly elapsedMs: number;
  /** No model answers before it is loaded. */
  readonly isLoading: boolean;
  /** As `timesOneAtATime` estimates it. */
  readonly timesFaster: number | undefined;
}

export function describeRunning(counts: RunCounts): string {
  const { numRequests, numRunning, numWaiting, elapsedMs, isLoading, timesFaster } = counts;
  const foreign = describeSenders(counts);
  // Without a step no message comes, so the clock would stand still.
  if (numRunning === 0)
    return `${formatCount(numWaiting)} waiting${isLoading ? ' for the model' : ''}${foreign}`;
  const waiting = numWaiting > 0 ? `, ${formatCount(numWaiting)} waiting` : '';
  return `${formatCount(numRunning)} of ${formatCount(numRequests)} running${waiting}${foreign} · ${formatSeconds(elapsedMs)}${after(' · ', describeEstimate(timesFaster))}`;
}

/**
 * @param timesFaster As `timesOneAtATime` estimates it.
 * @param measured A comparison of the same prompts: its times take the place of the run's own.
 */
export function describeOver(
  summary: RunSummary & Senders & Pick<Run, 'isPart'>,
  timesFaster?: number,
  measured?: Measured,
): string {
  const { numRequests, numBySender, elapsedMs, peakBatchSize = 1, stall, guesses, isPart } = summary;
  const prompts = countOf(numRequests, 'prompt');
  const together = peakBatchSize > 1 ? `, up to ${formatCount(peakBatchSize)} together` : '';
  const took = `in ${formatSeconds(elapsedMs)}${together}`;
  const text = `${isPart ? 'The newest ' : ''}${prompts}${describeSenders(summary)} ${took}.${describeStall(stall)}${describeGuesses(guesses)}`;
  if (!measured || numBySender.size > 0) return text + after(' ', describeEstimate(timesFaster), '.');
  const { togetherMs, oneAtATimeMs, hasSameTexts } = measured;
  const faster = describeFaster(togetherMs, oneAtATimeMs);
  const alone = formatSeconds(oneAtATimeMs);
  if (faster === '') return `${text} One at a time took ${alone}.`;
  const same = hasSameTexts ? ', same texts' : '';
  return `${prompts}, ${faster} together${same}: ${formatSeconds(togetherMs)}, one at a time ${alone}.`;
}

/** Empty where nobody would notice. */
function describeEstimate(timesFaster = 1): string {
  const faster = describeFaster(1, timesFaster);
  return faster && `${faster} than one at a time (estimated)`;
}

function after(separator: string, text: string, end = ''): string {
  return text && separator + text + end;
}

/** A stall of less than a tenth of a second is invisible. */
function describeStall(stall: RunSummary['stall']): string {
  if (!stall || stall.unsplitMs < Math.max(100, 1.5 * stall.gapMs)) return '';
  const [gap, unsplit] = [formatSeconds(stall.gapMs), formatSeconds(stall.unsplitMs)];
  return ` New prompts were read in pieces: running texts paused for at most ${gap}, in one step it would have been ${unsplit}.`;
}

/** Fewer steps by less than a twentieth are invisible. */
function describeGuesses(guesses: RunSummary['guesses']): string {
  if (!guesses || guesses.tokensPerStep < 1.05) return '';
  const { numGuessed, numRight, tokensPerStep } = guesses;
  const counts = `${formatCount(numRight)} of ${formatCount(numGuessed)}`;
  return ` Prompt lookup guessed ${counts} tokens right: ${formatNumber(tokensPerStep)} tokens a step.`;
}

function describeSenders({ numBySender, tabs }: Senders): string {
  const parts = Array.from(
    numBySender,
    ([sender, count]) => `${formatCount(count)} from ${nameOfSender(sender, tabs)}`,
  );
  return parts.length > 0 ? ` (${parts.join('; ')})` : '';
}
