import { createServer } from 'node:http';

import { Bridge, BridgeError, startServer } from 'tabserve/node';

import { sameType } from './same-type.js';

const bridge = new Bridge({
  host: 'localhost',
  url: () => 'http://localhost:8000',
  forwardTo: { url: 'http://localhost:9000' },
  log: ({ status, path }) => {
    sameType<typeof status, number>();
    sameType<typeof path, string>();
  },
});
createServer((request, response) => bridge.handle(request, response, () => response.end()));
const result = await bridge.serve.getHandle('text-generator').remote('Once').result();
sameType<typeof result.text, string>();
void new Bridge({ host: 'localhost', url: () => '', hub: undefined, graceMs: undefined, log: undefined });
await using server = await startServer({
  root: 'dist',
  host: 'localhost',
  port: 0,
  bridge,
  maxConnections: undefined,
});
sameType<typeof server.url, string>();
sameType<BridgeError['code'] extends string ? true : false, true>();
// @ts-expect-error -- the bridge has to know where the user can open a tab
void new Bridge({ host: 'localhost' });
// @ts-expect-error -- a port is a number
void startServer({ root: 'dist', host: 'localhost', port: '8000' });
