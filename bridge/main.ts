import { fileURLToPath } from 'node:url';

import { Bridge } from './bridge.ts';
import { BridgeError } from './errors.ts';
import { createAccessLog } from './http/access-log.ts';
import { isLoopbackHost } from './http/loopback.ts';
import { openBrowser } from './open-browser.ts';
import { parseOptions, USAGE, type BridgeOptions } from './options.ts';
import { startServer, type RunningServer } from './server.ts';
import { tellState } from './tell-state.ts';
import { probeUpstream } from './upstream/probe-upstream.ts';
import type { UpstreamOptions } from './upstream/upstream-options.ts';

const BUILT_PAGE = fileURLToPath(new URL('../dist', import.meta.url));

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BridgeError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  if (options.help) {
    console.log(USAGE);
    return;
  }
  let url = '';
  const apiKey = process.env['TABSERVE_UPSTREAM_API_KEY'] || undefined;
  const upstream = options.upstream && { ...options.upstream, apiKey };
  const bridge = new Bridge({
    ...options,
    upstream,
    url: () => url,
    log: createAccessLog(options.logLevel, (line) => console.log(line)),
  });
  const server = await startServer({ ...options, root: BUILT_PAGE, bridge }).catch((error: unknown) => {
    bridge.close();
    throw error;
  });
  closeOnSignal(() => void server.close());
  url = pageUrl(server.url, options);
  console.log(`Tabserve is at ${url} (Ctrl+C stops it)`);
  if (!isLoopbackHost(options.host))
    console.log(`HTTP clients may also ask ${options.host}, on port ${server.port}`);
  if (upstream) {
    console.log(`The text generator is ${upstream.url}`);
    void warnOfUpstream(upstream);
  }
  if (options.openBrowser !== 'never') openBrowser(url, options.openBrowser);
  if (options.isHeadless) await serveHeadless(url, bridge, server);
}

/** It may still be starting: the bridge asks again with each request. */
async function warnOfUpstream(upstream: UpstreamOptions): Promise<void> {
  const problem = await probeUpstream(upstream);
  if (problem !== undefined) console.error(`Warning: ${problem}`);
}

/** The page reads its backend from its address. */
function pageUrl(origin: string, { backend }: BridgeOptions): string {
  return backend === undefined ? origin : `${origin}/?backend=${backend}`;
}

/** Resolves when a signal has ended it, and the server with it. */
async function serveHeadless(
  url: string,
  { serve, ownBrowserCookie: cookie }: Bridge,
  server: RunningServer,
): Promise<void> {
  const controller = new AbortController();
  closeOnSignal(() => controller.abort());
  tellState(serve, url, (line) => console.log(line));
  // What starts browsers is large, and only this needs it.
  const { keepHeadlessTab } = await import('./headless.ts');
  try {
    await keepHeadlessTab(url, { cookie, signal: controller.signal, tell: (line) => console.error(line) });
  } finally {
    await server.close();
  }
}

/** The process ends by itself once nothing listens; a second signal ends it at once. */
function closeOnSignal(close: () => void): void {
  process.once('SIGINT', close);
  process.once('SIGTERM', close);
}
