import { readFileSync } from 'node:fs';

import { BRIDGE_SUBPROTOCOL } from '../../src/protocol/bridge-names.ts';
import { formatJsonRequest, formatRequest, type Manner } from './raw-http.ts';

/** Requests of an attacker, and the allowed answers. */
export interface HostileRequest {
  readonly kind: string;
  readonly parts: readonly (string | Buffer)[];
  /** A closed connection is an end as well. */
  readonly statuses: readonly number[];
  readonly manner?: Manner;
}

type Random = () => number;

const JUNK: readonly unknown[] = [null, true, -1, 1e308, 'x', '', [], {}, [null], { a: 1 }, [[]], 'ÿ'];

type Drawn = Omit<HostileRequest, 'kind'>;

/** A kind of request, drawn anew each time. */
type Attack = (random: Random) => Drawn;

/** Texts to draw each part from: a request as it stands, or its first line, headers and body. */
interface Listed {
  readonly raw?: readonly string[];
  readonly start?: readonly string[];
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly body?: readonly string[];
  readonly statuses: readonly number[];
}

const LISTED: Readonly<Record<string, Listed>> = JSON.parse(
  readFileSync(new URL('hostile-requests.json', import.meta.url), 'utf8'),
);

const ATTACKS: Readonly<Record<string, Attack>> = {
  'bad JSON': (random) => {
    // Nested, so that a brace at its end mends no cut of it.
    const whole = JSON.stringify({ stream_options: { include_usage: true }, prompt: 'Once' });
    const cut = whole.slice(0, Math.floor(random() * whole.indexOf('true')));
    return {
      parts: [formatJsonRequest('/v1/completions', pick(random, [cut, `${cut}}`, '\0', '{"a":}']))],
      statuses: [400],
    };
  },
  'a body that is not UTF-8': () => ({
    parts: [formatJsonRequest('/v1/completions', Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
    statuses: [400],
  }),
  'JSON that is nested for ever': (random) => {
    const depth = 65 + Math.floor(random() * 100_000);
    return {
      parts: [formatJsonRequest('/deployments/adder', `{"input":${'['.repeat(depth)}${']'.repeat(depth)}}`)],
      statuses: [400],
    };
  },
  'a prototype for everything': () => ({
    parts: [formatJsonRequest('/deployments/adder', '{"input":{"__proto__":{"isAdmin":true}}}')],
    statuses: [400],
  }),
  'wrong types': (random) => {
    const fields = [
      'prompt',
      'max_tokens',
      'n',
      'stop',
      'stream',
      'logit_bias',
      'temperature',
      'seed',
      'model',
    ];
    const field = pick(random, fields);
    const junk = pick(random, [{ a: 'b' }, [[{}]], -1.5, [null]]);
    const body = JSON.stringify({ prompt: 'Once', max_tokens: 2, [field]: junk });
    return { parts: [formatJsonRequest('/v1/completions', body)], statuses: [400] };
  },
  'an unknown option': (random) => {
    const body = JSON.stringify({
      prompt: 'Once',
      [`option${Math.floor(random() * 1e6)}`]: pick(random, JUNK) ?? 1,
    });
    return { parts: [formatJsonRequest('/v1/completions', body)], statuses: [400] };
  },
  'a wrong input of a deployment': (random) => {
    const path = pick(random, ['/deployments/adder', '/house-price']);
    const field = path === '/house-price' ? 'features' : 'input';
    const body = JSON.stringify({
      [field]: pick(random, ['x', [], {}, [1], null, [['a']], Array(300).fill(1)]),
    });
    return { parts: [formatJsonRequest(path, body)], statuses: [400] };
  },
  'a body that is said to be huge': () => ({
    parts: [formatJsonRequest('/v1/completions', '{"prompt":', { 'Content-Length': '1073741824' })],
    statuses: [413],
  }),
  'a body that is huge': (random) => {
    const body = JSON.stringify({ prompt: 'x'.repeat(2 ** 20 + Math.floor(random() * 2 ** 20)) });
    return { parts: [formatJsonRequest('/v1/completions', body)], statuses: [413] };
  },
  'chunks without end': () => {
    const head = formatRequest('POST /v1/completions', {
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
    });
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    return { parts: [head, ...Array.from({ length: 20 }, () => chunk)], statuses: [413] };
  },
  'bytes that are no HTTP': (random) => ({
    parts: [Buffer.from(Array.from({ length: 64 }, () => 128 + Math.floor(random() * 128)))],
    statuses: [400],
  }),
  'a WebSocket without the token': (random) => ({
    parts: [
      formatRequest(pick(random, ['GET /bridge/socket', 'GET /', 'GET /bridge/socket/']), {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version': '13',
        ...(random() < 0.5 && { Origin: 'http://localhost' }),
        'Sec-WebSocket-Protocol': `${BRIDGE_SUBPROTOCOL}, ${'0'.repeat(64)}`,
      }),
    ],
    statuses: [400, 403],
  }),
  'a long URL': (random) => ({
    parts: [formatRequest(`GET /?text=${'a'.repeat(8200 + Math.floor(random() * 20_000))}`)],
    statuses: [414, 431],
  }),
  'headers without end': (random) => ({
    parts: [
      formatRequest('GET /adder?number=1', { 'X-A': 'a'.repeat(17_000 + Math.floor(random() * 50_000)) }),
    ],
    statuses: [431],
  }),
  'half a request': (random) => {
    const whole = formatJsonRequest('/v1/completions', JSON.stringify({ prompt: 'Once', max_tokens: 2 }));
    return {
      parts: [whole.subarray(0, Math.floor(random() * whole.length))],
      manner: 'half-close',
      statuses: [400],
    };
  },
  'a client that leaves in the middle of a stream': () => ({
    parts: [
      formatJsonRequest(
        '/v1/completions',
        JSON.stringify({ prompt: 'Once', max_tokens: 400, stream: true, n: 2 }),
      ),
    ],
    statuses: [200],
    manner: 'leave midway',
  }),
  'a client that leaves while it waits': () => ({
    parts: [formatRequest('GET /?text=Once&maxNewTokens=400')],
    statuses: [200],
    manner: 'leave',
  }),
};

export function createHostileRequest(random: Random): HostileRequest {
  const [kind, attack] = pick(random, [...Object.entries(LISTED), ...Object.entries(ATTACKS)]);
  return { kind, ...(typeof attack === 'function' ? attack(random) : drawListed(attack, random)) };
}

function drawListed({ raw, start = [], headers = {}, body, statuses }: Listed, random: Random): Drawn {
  if (raw) return { parts: [pick(random, raw)], statuses };
  const text = body && pick(random, body);
  const drawn = {
    ...(text !== undefined && !('Transfer-Encoding' in headers) && { 'Content-Length': String(text.length) }),
    ...Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, pick(random, values)])),
  };
  return { parts: [formatRequest(pick(random, start), drawn, text)], statuses };
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('There is nothing to pick from.');
  return value;
}
