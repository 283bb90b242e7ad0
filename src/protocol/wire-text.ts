import { parse, stringify } from 'devalue';

// Messages over a WebSocket are text. JSON would turn Infinity, a valid knob, into null, and drop undefined values.

/** @throws Error for a function or an instance of a class, which cannot be text. */
export function toWireText(message: unknown): string {
  return stringify(message);
}

/** Undefined for anything but the output of `toWireText`. */
export function fromWireText(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
