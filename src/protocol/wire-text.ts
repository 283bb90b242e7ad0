import { parse, stringify } from 'devalue';
import { isKept, parseOrderedJson, writeOrderedJson } from '../batching/base/ordered-json.ts';
import { isRecord } from '../platform/is-record.ts';

// Messages over a WebSocket are text. JSON would turn Infinity, a valid knob, into null, and drop undefined values.

/** The only key of a Map that stands for what its JSON says. No body of a request has a Map. */
const JSON_KEY = '\0json';

const TO_TEXT = { Json: (value: unknown) => value instanceof Map && value.size === 1 && value.get(JSON_KEY) };
const FROM_TEXT = { Json: (text: unknown) => parseOrderedJson(String(text)) };

/** @throws Error for a function or an instance of a class, which cannot be text. */
export function toWireText(message: unknown): string {
  return stringify(message, TO_TEXT);
}

/** Undefined for anything but the output of `toWireText`. */
export function fromWireText(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return parse(text, FROM_TEXT);
  } catch {
    return undefined;
  }
}

/**
 * The fields of a body for a message over a WebSocket. `structuredClone`, which every client makes of its requests, would change the
 * order of keys and the spelling of numbers: parts that have such are Maps until `fromWireText` gives them back.
 */
export function packOrdered<Fields extends object>(fields: Fields): Fields {
  const packed = Object.entries(fields).map(([name, value]) => [name, packOrderedValue(value)] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other end unpacks them
  return Object.fromEntries(packed) as Fields;
}

/** As `packOrdered`, for any part of a body: packs the outermost parts that were read in order. */
export function packOrderedValue(value: unknown): unknown {
  if (isKept(value)) return new Map([[JSON_KEY, writeOrderedJson(value)]]);
  if (Array.isArray(value)) return value.map(packOrderedValue);
  return isRecord(value) ? packOrdered(value) : value;
}

/** What `packOrdered` has packed, where no WebSocket comes between. */
export function unpackOrdered<Fields extends object>(fields: Fields): Fields {
  const unpacked = Object.entries(fields).map(([name, value]) => [name, unpack(value)] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it had these fields before it was packed
  return Object.fromEntries(unpacked) as Fields;
}

function unpack(value: unknown): unknown {
  const json = TO_TEXT.Json(value);
  if (json !== false) return FROM_TEXT.Json(json);
  if (Array.isArray(value)) return value.map(unpack);
  return isRecord(value) ? unpackOrdered(value) : value;
}
