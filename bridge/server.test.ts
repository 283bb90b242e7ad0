import { once } from 'node:events';
import { connect } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { startServer, type RunningServer, type ServerOptions } from './server.ts';
import { createFolder, startBridge } from './testing/test-support.ts';

const FILES = {
  'index.html': '<!doctype html><head><title>Tabserve</title></head>',
  'assets/main-abc123.js': 'export {};',
  'assets/ort-abc123.wasm': '\0asm',
  'models/storyteller/config.json': '{}',
  'models/storyteller/model.safetensors': 'weights',
};

async function policyOf(url: string): Promise<string> {
  const { headers } = await fetch(`${url}/assets/main-abc123.js`);
  return headers.get('content-security-policy') ?? '';
}

/** The answer to a client that waits for a 100 before it sends the body. */
async function expectContinue(port: number, path: string, headers: string, body: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n${headers}\r\n\r\n`);
  let received = '';
  socket.on('data', (data) => {
    if (String(data).startsWith('HTTP/1.1 100')) socket.write(body);
    received += String(data);
  });
  await once(socket, 'close');
  return received;
}

/** Addresses of this machine on all its networks. */
function externalAddresses(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((given) => given ?? []);
  return addresses.flatMap(({ address, family, internal }) =>
    family === 'IPv4' && !internal ? [address] : [],
  );
}

describe('startServer', () => {
  let root: string;
  let server: RunningServer;

  beforeEach(async () => {
    root = await createFolder(FILES);
    server = await start({});
  });

  /** Ends with the test. */
  async function start(options: Partial<ServerOptions>): Promise<RunningServer> {
    const started = await startServer({ port: 0, host: 'localhost', root, ...options });
    onTestFinished(() => started.close());
    return started;
  }

  it.each([
    ['413', '/v1/completions', 'Content-Type: application/json\r\nContent-Length: 99999999'],
    ['415', '/v1/completions', 'Content-Type: text/html\r\nContent-Length: 9'],
    ['404', '/assets/main-abc123.js', 'Content-Length: 9'],
    [
      '403',
      '/v1/completions',
      'Origin: https://evil.example\r\nContent-Type: application/json\r\nContent-Length: 9',
    ],
  ])('never lets a body come that it does not read: %s', async (status, path, headers) => {
    const { port } = await startBridge();
    const answer = await expectContinue(port, path, headers, '');
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/^connection: close\r$/im);
  });

  it('lets a body come that it reads', async () => {
    const { port } = await startBridge();
    const headers = 'Content-Type: application/json\r\nConnection: close\r\nContent-Length: 9';
    const answer = await expectContinue(port, '/v1/completions', headers, '{"a": 1}}');
    expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 400 /);
  });

  it('answers on both loopback addresses under the name localhost', async () => {
    const viaName = await fetch(server.url);
    const viaAddress = await fetch(`http://127.0.0.1:${server.port}/`);
    expect(await viaName.text()).toBe(FILES['index.html']);
    expect(viaAddress.status).toBe(200);
  });

  it.each(['0.0.0.0', ...externalAddresses()])(
    'has the page on loopback as well, which browsers trust, when it listens on %s',
    async (host) => {
      const other = await start({ host });
      expect(other.url).toBe(`http://localhost:${other.port}`);
      expect((await fetch(other.url)).status).toBe(200);
      expect((await fetch(`http://127.0.0.1:${other.port}`)).status).toBe(200);
      expect((await fetch(`http://${host}:${other.port}`)).status).toBe(200);
      await other.close();
      await expect(fetch(`http://127.0.0.1:${other.port}`)).rejects.toThrow('fetch failed');
    },
  );

  it('lets every file load from its own origin and from the hub alone, and run no text as script', async () => {
    expect(await policyOf(server.url)).toContain("connect-src 'self' https://huggingface.co ");
    expect(await policyOf(server.url)).toContain("script-src 'self' 'wasm-unsafe-eval';");
    expect(await policyOf(server.url)).toContain("require-trusted-types-for 'script'");
    expect(await policyOf(server.url)).not.toMatch(/unsafe-inline|'unsafe-eval'|data:|blob:/);
    const mirrored = await start({ hub: ['http://hub.example'] });
    expect(await policyOf(mirrored.url)).toContain("connect-src 'self' http://hub.example;");
  });

  it('serves other pages with a policy of their own', async () => {
    const policy = "default-src 'self'";
    const other = await start({ policy });
    expect(await policyOf(other.url)).toBe(policy);
  });

  it('isolates the page from other origins, also on an answer that is an error', async () => {
    for (const path of ['/', '/nowhere']) {
      const { headers } = await fetch(server.url + path);
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('permissions-policy')).toContain('camera=()');
    }
  });

  it.each([
    ['/', 'text/html;charset=utf-8', 'no-cache'],
    ['/assets/main-abc123.js', 'text/javascript', 'public, max-age=31536000, immutable'],
    ['/assets/ort-abc123.wasm', 'application/wasm', 'public, max-age=31536000, immutable'],
    ['/models/storyteller/config.json', 'application/json', 'no-cache'],
    ['/models/storyteller/model.safetensors', 'application/octet-stream', 'no-cache'],
  ])('serves %s as %s, %s', async (path, type, caching) => {
    const { headers } = await fetch(server.url + path);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('cache-control')).toBe(caching);
  });

  it('answers 304 to a browser that has the file', async () => {
    const first = await fetch(`${server.url}/models/storyteller/model.safetensors`);
    const etag = first.headers.get('etag') ?? '';
    const second = await fetch(first.url, { headers: { 'if-none-match': etag } });
    expect(second.status).toBe(304);
  });

  it('stays inside its folder and refuses what it does not serve', async () => {
    expect((await fetch(`${server.url}/..%2f..%2fetc/passwd`)).status).toBe(404);
    expect((await fetch(`${server.url}/models/none/config.json`)).status).toBe(404);
    expect((await fetch(server.url, { method: 'POST' })).status).toBe(405);
  });

  it.each([
    ['no request', 'nonsense\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
    [
      'a foreign WebSocket',
      'GET /bridge/socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      'HTTP/1.1 403 Forbidden',
    ],
    [
      'a WebSocket of two hosts',
      'GET /bridge/socket HTTP/1.1\r\nHost: localhost\r\nHost: a.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      'HTTP/1.1 400 Bad Request',
    ],
    [
      'a WebSocket for nobody',
      'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      'HTTP/1.1 400 Bad Request',
    ],
  ])(
    'closes the connection that it refuses as %s, also where the client does not',
    async (_, sent, status) => {
      const { port } = await startBridge();
      const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      let answer = '';
      client.on('data', (data) => (answer += String(data)));
      // A client notices a closed connection only when it keeps writing.
      const writeOn = (): void => void client.write('more', (error) => error ?? setImmediate(writeOn));
      client.on('end', writeOn);
      client.on('error', () => undefined);
      client.write(sent);
      await new Promise((resolve) => void client.once('close', resolve));
      expect(answer).toContain(status);
    },
  );

  it('tells the page of the server that it forwards to, which answers nobody of another site', async () => {
    const target = { url: 'http://127.0.0.1:1', model: '"><script>$&', apiKey: 'secret' };
    const other = await startBridge({ forwardTo: target });
    for (const path of ['/', '/index.html', '/?backend=auto']) {
      const page = await fetch(other.url + path);
      expect(page.headers.get('cross-origin-embedder-policy')).toBe('require-corp');
      expect(page.headers.get('content-type')).toBe('text/html;charset=utf-8');
      expect(await page.text()).toContain(
        '<meta name="tabserve-server" content="http://127.0.0.1:1" data-model="&quot;>&lt;script>$&amp;" />',
      );
    }
    expect((await fetch(`${other.url}/v1/models`)).status, 'asked, and not there').toBe(502);
    const foreign = { headers: { origin: 'http://evil.example' } };
    expect((await fetch(`${other.url}/v1/models`, foreign)).status).toBe(403);
    expect((await fetch(`${server.url}/v1/models`)).status, 'without such a server').toBe(404);
  });

  it.each([
    ['GET', '/v1/files', /Nothing is stored here\. The endpoints are .*POST \/v1\/chat\/completions/],
    ['GET', '/models?a=1', /nothing at \/models\. Did you mean \/v1\/models\?$/],
    [
      'POST',
      '/v1/images/edits',
      /Only text is generated, embedded and ranked here\. The endpoints are .*POST \/v1\/responses/,
    ],
    ['POST', '/chat/completions', /Did you mean \/v1\/chat\/completions\?$/],
  ])('says at %s %s what there is instead', async (method, path, message) => {
    const other = await startBridge();
    const response = await fetch(other.url + path, { method });
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: expect.objectContaining({ code: 'NOT_FOUND', message: expect.stringMatching(message) }) },
    ]);
  });

  it('lets a new client in when silent connections have taken every place', async () => {
    const other = await start({ host: '127.0.0.1', maxConnections: 8 });
    const silent = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const client = connect(other.port, '127.0.0.1');
        await new Promise((resolve) => void client.once('connect', resolve));
        return client;
      }),
    );
    expect((await fetch(other.url)).status).toBe(200);
    for (const client of silent) client.destroy();
  });

  it('names --port when the port is in use, and leaves the running server alone', async () => {
    const second = start({ port: server.port });
    await expect(second).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringContaining('--port'),
    });
    expect((await fetch(server.url)).status).toBe(200);
  });

  it.each([
    [
      'an address of another machine',
      '192.0.2.1',
      /^192\.0\.2\.1 is not an address of this machine: pass --host/,
    ],
    // Which of the two depends on whether a name server answers.
    ['a name of nobody', 'tabserve.invalid', /^The name tabserve\.invalid (?:has no address|could not be)/],
  ])('names --host when it is %s', async (_, host, message) => {
    await expect(start({ host })).rejects.toMatchObject({
      name: 'BridgeError',
      code: 'CANNOT_LISTEN',
      message: expect.stringMatching(message),
    });
  });

  it('serves another file of the folder as the page, and no policy where that is empty', async () => {
    await writeFile(join(root, 'app.html'), '<!doctype html><head></head><title>Mine</title>');
    const { url } = await start({ root, entry: 'app.html', policy: '' });
    for (const path of ['/', '/app.html']) {
      const response = await fetch(url + path);
      expect(await response.text()).toContain('<title>Mine</title>');
      expect(response.headers.has('content-security-policy')).toBe(false);
    }
  });

  it('names the build command when the page is not built', async () => {
    const missing = start({ root: join(root, 'assets') });
    await expect(missing).rejects.toMatchObject({
      code: 'PAGE_NOT_BUILT',
      message: expect.stringContaining('npm run build'),
    });
  });

  it('is closed once and for all by close(), also with a connection open', async () => {
    const other = await start({ host: '127.0.0.1' });
    await fetch(other.url);
    await other.close();
    await other.close();
    await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  });

  it('is closed at the end of its scope', async () => {
    const other = await start({ host: '127.0.0.1' });
    await other[Symbol.asyncDispose]();
    await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  });
});
