import { beforeEach, describe, expect, it, vi } from 'vitest';
import { requestId } from '../../../batching/generation/test-support.ts';
import { UpstreamConnection } from './upstream-connection.ts';

const [A, B] = [requestId('a'), requestId('b')];

/** A fake bridge: records the worker's requests, and writes to the connection that the worker opened. */
class FakeBridge {
  readonly asked: string[] = [];
  /** The last opened connection. */
  connection: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** A POST waits for it. */
  gate: Promise<void> = Promise.resolve();
  isThere = true;

  readonly fetch = async (url: URL, { method = 'GET' }: RequestInit = {}): Promise<Response> => {
    const name = url.pathname.split('/').slice(4).join('/') || 'connection';
    this.asked.push(`${method} ${name}`);
    if (!this.isThere) throw new TypeError('fetch failed');
    if (method === 'POST') {
      await this.gate;
      return new Response(null, { status: 202 });
    }
    if (method === 'DELETE') return new Response(null, { status: 204 });
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.connection = controller),
    });
    return new Response(body);
  };

  say(text: string): void {
    this.connection?.enqueue(new TextEncoder().encode(text));
  }
}

let bridge: FakeBridge;
let heard: string[];

beforeEach(() => {
  bridge = new FakeBridge();
  heard = [];
  vi.stubGlobal('fetch', bridge.fetch);
  vi.stubGlobal('location', { origin: 'http://localhost:8000' });
});

function ask(connection: UpstreamConnection, id: typeof A): void {
  connection.ask(
    id,
    { path: '/v1/completions', body: {} },
    {
      onHead: () => heard.push(`${id} head`),
      onData: (data) => heard.push(`${id} ${data}`),
      onEnd: () => heard.push(`${id} end`),
      onError: (error) => heard.push(`${id} ${'code' in error ? String(error.code) : error.message}`),
    },
  );
}

/** Resolves when the bridge has been asked this. */
const whenAsked = (request: string) => vi.waitFor(() => expect(bridge.asked).toContain(request));

describe('UpstreamConnection', () => {
  it('brings each answer to whoever asked, over one connection', async () => {
    const connection = new UpstreamConnection('http://gpu:8000');
    ask(connection, A);
    ask(connection, B);
    await whenAsked('POST b');
    bridge.say('event: head\nid: b\ndata: \n\nevent: data\nid: a\nda');
    bridge.say('ta: 1\n\nevent: data\nid: nobody\ndata: 2\n\nevent: end\nid: b\ndata: \n\n');
    const refusal = JSON.stringify({ status: 503, body: 'no' });
    bridge.say(`event: refusal\nid: a\ndata: ${refusal}\n\nevent: data\nid: a\ndata: late\n\n`);
    await vi.waitFor(() => expect(heard).toHaveLength(4));
    expect(heard).toEqual(['b head', 'a 1', 'b end', 'a UPSTREAM_UNAVAILABLE']);
    expect(bridge.asked).toEqual(['GET connection', 'POST a', 'POST b']);
  });

  it('fails all that wait when the bridge goes, and connects anew for the next', async () => {
    const connection = new UpstreamConnection('http://gpu:8000');
    ask(connection, A);
    ask(connection, B);
    await whenAsked('POST b');
    bridge.connection?.error(new Error('gone'));
    await vi.waitFor(() => expect(heard).toEqual(['a UPSTREAM_UNREACHABLE', 'b UPSTREAM_UNREACHABLE']));
    bridge.isThere = false;
    ask(connection, A);
    await vi.waitFor(() => expect(heard).toHaveLength(3));
    bridge.isThere = true;
    ask(connection, A);
    await vi.waitFor(() => expect(bridge.asked.at(-1)).toBe('POST a'));
    bridge.say('event: head\nid: a\ndata: \n\n');
    await vi.waitFor(() => expect(heard.at(-1)).toBe('a head'));
  });

  it('takes a request back once it has been sent, and sends none that was cancelled before', async () => {
    const connection = new UpstreamConnection('http://gpu:8000');
    const sent = Promise.withResolvers<void>();
    bridge.gate = sent.promise;
    ask(connection, A);
    await whenAsked('POST a');
    connection.cancel(A);
    bridge.say('event: data\nid: a\ndata: 1\n\n');
    expect(bridge.asked).not.toContain('DELETE a');
    sent.resolve();
    await whenAsked('DELETE a');
    ask(connection, B);
    connection.cancel(B);
    await whenAsked('DELETE b');
    expect(bridge.asked).not.toContain('POST b');
    expect(heard).toEqual([]);
  });

  it('fails a request that the bridge does not take', async () => {
    const connection = new UpstreamConnection('http://gpu:8000');
    bridge.gate = Promise.reject(new TypeError('fetch failed'));
    ask(connection, A);
    await vi.waitFor(() => expect(heard).toEqual(['a UPSTREAM_UNREACHABLE']));
  });
});
