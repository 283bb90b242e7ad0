import type { RequestId } from '../../../protocol/ids.ts';
import type { AnswerSyntax } from './answer-syntax.ts';

/** Constants of FNV-1a. */
const [OFFSET, PRIME] = [0x811c9dc5, 0x01000193];

/**
 * Names a call of an answer: the same whichever worker goes on with it. Some templates refuse calls in the history whose IDs don't
 * have so many letters and digits.
 *
 * @param number Of the call in its answer, from 0.
 */
export function callId(sequenceId: RequestId, number: number, { tools }: AnswerSyntax): string {
  const id = `call_${sequenceId}_${number}`;
  const length = tools?.idLength;
  if (length === undefined) return id;
  const digits = [id, `${id}_`].map((text) => hashOf(text).toString(36).padStart(7, '0')).join('');
  return digits.slice(-length);
}

function hashOf(text: string): number {
  return Array.from(text).reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), PRIME) >>> 0,
    OFFSET,
  );
}
