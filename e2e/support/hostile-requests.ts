import { readFileSync } from 'node:fs';

import { BRIDGE_SUBPROTOCOL } from '../../src/protocol/bridge-names.ts';
import { formatRequest, type Manner } from './raw-http.ts';

/** Requests of an attacker, and the allowed answers. */
export interface HostileRequest {
  readonly kind: string;
  readonly parts: readonly (string | Buffer)[];
  /** A closed connection is an end as well. */
  readonly statuses: readonly number[];
  readonly manner?: Manner;
}

type Random = () => number;

/**
 * Texts to draw each part from: a request as it stands, or its first line, headers and body. `<x*3>` stands for `xxx`, and
 * `<subprotocol>` for the bridge's.
 */
interface Attack extends Pick<HostileRequest, 'statuses' | 'manner'> {
  readonly raw?: readonly string[];
  readonly start?: readonly string[];
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly body?: readonly string[];
}

const ATTACKS: Readonly<Record<string, Attack>> = JSON.parse(
  readFileSync(new URL('hostile-requests.json', import.meta.url), 'utf8'),
);

/** Those that no text is. */
const BYTES: Readonly<Record<string, (random: Random) => Buffer>> = {
  'a body that is not UTF-8': () =>
    formatRequest(
      'POST /v1/completions',
      { 'Content-Type': 'application/json', 'Content-Length': '4' },
      Buffer.from([0x22, 0xff, 0xfe, 0x22]),
    ),
  'bytes that are no HTTP': (random) =>
    Buffer.from(Array.from({ length: 64 }, () => 128 + Math.floor(random() * 128))),
};

export function createHostileRequest(random: Random): HostileRequest {
  const [kind, attack] = pick(random, [...Object.entries(ATTACKS), ...Object.entries(BYTES)]);
  if (typeof attack === 'function') return { kind, parts: [attack(random)], statuses: [400] };
  const { raw, start = [], headers = {}, body, statuses, manner = 'wait' } = attack;
  const draw = (texts: readonly string[]): string => written(pick(random, texts));
  if (raw) return { kind, parts: [draw(raw)], statuses, manner };
  const text = body && draw(body);
  const drawn = {
    ...(text !== undefined && !('Transfer-Encoding' in headers) && { 'Content-Length': String(text.length) }),
    ...Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, draw(values)])),
  };
  return { kind, parts: [formatRequest(draw(start), drawn, text)], statuses, manner };
}

function written(text: string): string {
  return text
    .replaceAll('<subprotocol>', BRIDGE_SUBPROTOCOL)
    .replaceAll(/<([^<>*]+)\*(\d+)>/g, (_, part: string, count: string) => part.repeat(Number(count)));
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('There is nothing to pick from.');
  return value;
}
