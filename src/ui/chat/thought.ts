/** An answer of a model that may think before it answers, as Qwen3 does. */
export interface ParsedAnswer {
  /** The text between `<think>` and `</think>`; empty where the model doesn't think. */
  readonly thought: string;
  readonly isThinking: boolean;
  readonly text: string;
}

const START = '<think>';
const END = '</think>';

/** Reads an answer that may still grow. Some templates write `<think>` themselves, so an answer may have its end alone. */
export function parseAnswer(answer: string): ParsedAnswer {
  const trimmed = answer.trimStart();
  // The beginning of `<think>` isn't shown as text for a moment.
  if (trimmed !== '' && START.startsWith(trimmed)) return { thought: '', isThinking: true, text: '' };
  const start = trimmed.startsWith(START) ? START.length : 0;
  const end = trimmed.indexOf(END);
  if (end !== -1) {
    const text = trimmed.slice(end + END.length).trimStart();
    return { thought: trimmed.slice(start, end).trim(), isThinking: false, text };
  }
  return start > 0
    ? { thought: trimmed.slice(start).trimStart(), isThinking: true, text: '' }
    : { thought: '', isThinking: false, text: trimmed };
}
