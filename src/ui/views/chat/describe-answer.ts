import { formatCount } from '../../parts/format.ts';
import { describeFigures, describeSpeed, describeState } from '../../panels/requests/describe-request.ts';
import type { AnswerEnd } from './chats.ts';

/** One line: how it ended, its speed and figures, and how much of the prompt was reused. */
export function describeAnswer(end: AnswerEnd): string {
  const figures = describeFigures(end);
  const state = end.isLoop ? 'Stopped: it repeated itself' : describeState(end, end.contextLength);
  const parts = [state + describeSpeed(end), figures, describeReuse(end)];
  const line = parts.filter((part) => part !== '').join(' · ');
  // A narrow column breaks between figures, never within one.
  return line.replaceAll(/(\d) (?=m?s\b|tokens?\b)/g, '$1\u00A0');
}

/** Empty where nothing was reused, or it isn't known. */
function describeReuse({ numCachedTokens = 0, numPromptTokens = 0 }: AnswerEnd): string {
  if (numCachedTokens === 0) return '';
  return `${formatCount(numCachedTokens)} of ${formatCount(numPromptTokens)} prompt tokens reused`;
}
