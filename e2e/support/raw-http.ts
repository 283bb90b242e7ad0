import { connect } from 'node:net';

/** How long anything may go without an answer before it counts as hanging: longer than every limit of the server. */
const HANG_MS = 25_000;

export interface RawAnswer {
  /** Undefined where the connection was closed without one. */
  readonly status: number | undefined;
  readonly text: string;
}

export interface RawRequest {
  readonly port: number;
  readonly parts: readonly (string | Buffer)[];
  readonly manner?: Manner;
}

/** The client waits for the answer, ends its side, leaves at once, or leaves in the middle of the answer. */
export type Manner = 'wait' | 'half-close' | 'leave' | 'leave midway';

/** Sends raw bytes, which need not be a valid request, and waits until the connection is closed. */
export function sendRaw({ port, parts, manner = 'wait' }: RawRequest): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const socket = connect(port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.setTimeout(HANG_MS, () => {
    reject(new Error(`No answer to ${String(parts[0]).slice(0, 200)}`));
    socket.destroy();
  });
  socket.on('connect', () => {
    for (const part of parts) socket.write(part);
    if (manner === 'half-close') socket.end();
    if (manner === 'leave') socket.destroySoon();
  });
  socket.on('data', (data) => {
    received.push(data);
    if (manner === 'leave midway') socket.destroy();
  });
  // The server may close while something is still written to it.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    const text = Buffer.concat(received).toString();
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
    resolve({ status: status === undefined ? undefined : Number(status), text });
  });
  return promise;
}

/** An HTTP/1.1 request, after which the connection closes. */
export function formatRequest(
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): Buffer {
  const fields = { Host: 'localhost', Connection: 'close', ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)]);
}
