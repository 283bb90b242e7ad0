import { parse, stringify } from 'devalue';

// Messages over a WebSocket are text. JSON would turn Infinity, which knobs may be, into null, and drop what is undefined.

/** @throws Error for what has no text: a function, or an object of a class of its own. */
export function toWireText(message: unknown): string {
  return stringify(message);
}

/** Undefined for anything that `toWireText` does not write. */
export function fromWireText(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
