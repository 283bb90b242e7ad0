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

/** A kind of request, drawn anew each time. */
type Attack = (random: Random) => Omit<HostileRequest, 'kind'>;

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
  'a length beside chunks': () => ({
    parts: [
      formatRequest(
        'POST /v1/completions',
        { 'Content-Type': 'application/json', 'Content-Length': '4', 'Transfer-Encoding': 'chunked' },
        '0\r\n\r\nGET /adder?number=1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
      ),
    ],
    statuses: [400],
  }),
  'two lengths': () => ({
    parts: [
      'POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\n{}{}',
    ],
    statuses: [400],
  }),
  'a header that goes on over lines': () => ({
    parts: ['GET /adder?number=1 HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n c\r\nConnection: close\r\n\r\n'],
    // Obsolete, and joined to one line.
    statuses: [200, 400],
  }),
  'a line break in a header': () => ({
    parts: ['GET /adder?number=1 HTTP/1.1\r\nHost: localhost\r\nX-A: b\rX-Request-Id: x\r\n\r\n'],
    statuses: [400],
  }),
  'bytes that are no HTTP': (random) => ({
    parts: [Buffer.from(Array.from({ length: 64 }, () => 128 + Math.floor(random() * 128)))],
    statuses: [400],
  }),
  'no Host': () => ({
    parts: ['GET /adder?number=1 HTTP/1.1\r\nConnection: close\r\n\r\n'],
    statuses: [400],
  }),
  'a foreign Host': (random) => ({
    parts: [
      formatRequest('GET /adder?number=1', {
        Host: pick(random, [
          'evil.example',
          'localhost.evil.example',
          'evil.example:8000',
          'a@localhost',
          'localhost/x',
          '',
        ]),
      }),
    ],
    statuses: [403],
  }),
  'a foreign Origin': (random) => ({
    parts: [
      formatRequest(
        pick(random, [
          'GET /adder?number=1',
          'GET /',
          'POST /?text=a',
          'GET /bridge/token',
          'OPTIONS /adder',
        ]),
        {
          Origin: pick(random, [
            'http://evil.example',
            'null',
            'http://localhost:1',
            'file://',
            'https://localhost.evil.example',
          ]),
        },
      ),
    ],
    statuses: [403],
  }),
  'an image on a foreign page': (random) => ({
    parts: [
      formatRequest('GET /?text=Once', {
        'Sec-Fetch-Site': pick(random, ['cross-site', 'same-site']),
        'Sec-Fetch-Mode': pick(random, ['no-cors', 'navigate']),
        'Sec-Fetch-Dest': pick(random, ['image', 'document', 'iframe']),
      }),
    ],
    statuses: [403],
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
  'two Host headers': (random) => ({
    parts: [
      formatRequest(
        pick(random, ['GET /adder?number=1', 'GET /index.html', 'POST /?text=Once', 'GET /bridge/socket']),
        { host: pick(random, ['localhost', 'evil.example', '']) },
      ),
    ],
    statuses: [400],
  }),
  'a broken form': (random) => {
    const body = pick(random, [
      '--b\r\n',
      'text=a',
      '--b\r\nContent-Disposition: form-data\r\n\r\na\r\n--b--\r\n',
    ]);
    const headers = {
      'Content-Type': pick(random, ['multipart/form-data', 'multipart/form-data; boundary=b']),
      'Content-Length': String(body.length),
    };
    return {
      parts: [formatRequest(`POST ${pick(random, ['/', '/adder'])}`, headers, body)],
      statuses: [400],
    };
  },
  'a wrong form': (random) => {
    const body = pick(random, ['', 'text=a&text=b', 'text=a&x=1', 'number=x', '{"text":"a"}', 'text=']);
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': String(body.length),
    };
    return { parts: [formatRequest('POST /', headers, body)], statuses: [400] };
  },
  'a wrong method': (random) => ({
    parts: [
      formatRequest(
        pick(random, ['DELETE /adder', 'PUT /v1/completions', 'GET /v1/completions', 'PATCH /metrics']),
      ),
    ],
    statuses: [405],
  }),
  'a path that is not there': (random) => ({
    parts: [
      formatRequest(
        pick(random, [
          'GET /v2',
          'GET /..%2f..%2fetc/passwd',
          'POST /nowhere',
          'GET /%',
          'GET //evil.example/',
        ]),
      ),
    ],
    statuses: [404],
  }),
  'a URL that is no path': () => ({ parts: [formatRequest('GET http://evil.example/')], statuses: [400] }),
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
  'a body of another type': (random) => ({
    parts: [
      formatJsonRequest('/v1/completions', '{"prompt":"a"}', {
        'Content-Type': pick(random, [
          'text/plain',
          'application/x-www-form-urlencoded',
          'application/jsonp',
          '',
        ]),
      }),
    ],
    statuses: [415],
  }),
  'a packed body': () => ({
    parts: [formatJsonRequest('/v1/completions', '{"prompt":"a"}', { 'Content-Encoding': 'gzip' })],
    statuses: [415],
  }),
  'a wrong query': (random) => ({
    parts: [
      formatRequest(
        `GET ${pick(random, ['/adder?number=x', '/adder', '/adder?number=1&number=2', '/?text=a&n=999', '/?text=', '/?text=a&stop='])}`,
      ),
    ],
    statuses: [400],
  }),
  'a wrong time limit': (random) => ({
    parts: [
      formatRequest('GET /adder?number=1', {
        'X-Request-Timeout-Seconds': pick(random, ['-1', '0', 'soon', 'NaN', '1e9', '']),
      }),
    ],
    statuses: [400],
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
  const [kind, attack] = pick(random, Object.entries(ATTACKS));
  return { kind, ...attack(random) };
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('There is nothing to pick from.');
  return value;
}
