#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

import { Bridge } from './bridge.ts';
import { BridgeError } from './errors.ts';
import { createAccessLog } from './http/access-log.ts';
import { isLoopbackHost } from './http/loopback.ts';
import { openBrowser } from './cli/open-browser.ts';
import { parseOptions, USAGE } from './cli/options.ts';
import { startServer, type RunningServer } from './server.ts';
import { printState } from './cli/print-state.ts';
import { probeUpstream } from './upstream/probe-upstream.ts';
import type { UpstreamOptions } from './upstream/upstream-client.ts';

const BUILT_PAGE = fileURLToPath(new URL('../dist', import.meta.url));

/** Missing when the bridge runs from its sources. Their page has its own copy. */
const RUNTIME = fileURLToPath(new URL('../dist-package/onnxruntime', import.meta.url));

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
  const server = await startServer({
    ...options,
    root: BUILT_PAGE,
    ...(existsSync(RUNTIME) && { runtime: RUNTIME }),
    bridge,
  }).catch((error: unknown) => {
    bridge.close();
    throw error;
  });
  const stopped = stopOnSignal(bridge, server, options.drainMs);
  // The page reads its backend from its address.
  url = options.backend === undefined ? server.url : `${server.url}/?backend=${options.backend}`;
  console.log(`Tabserve is at ${url} (Ctrl+C stops it)`);
  if (!isLoopbackHost(options.host))
    console.log(`HTTP clients may also ask ${options.host}, on port ${server.port}`);
  if (upstream) {
    console.log(`The text generator is ${upstream.url}`);
    void warnOfUpstream(upstream);
  }
  if (options.openBrowser !== 'never') openBrowser(url, options.openBrowser);
  if (options.isHeadless) await serveHeadless(url, bridge, server, stopped);
}

/** Only a warning: the upstream may still be starting. */
async function warnOfUpstream(upstream: UpstreamOptions): Promise<void> {
  const problem = await probeUpstream(upstream);
  if (problem !== undefined) console.error(`Warning: ${problem}`);
}

/** Resolves after `stopped` aborts, when the browser and the server are closed. */
async function serveHeadless(
  url: string,
  { serve, ownBrowserCookie: cookie }: Bridge,
  server: RunningServer,
  stopped: AbortSignal,
): Promise<void> {
  printState(serve, url, (line) => console.log(line));
  // Playwright is large, and only this needs it.
  const { keepHeadlessTab } = await import('./cli/headless.ts');
  try {
    await keepHeadlessTab(url, { cookie, signal: stopped, print: (line) => console.error(line) });
  } finally {
    await server.close();
  }
}

/**
 * The first SIGINT or SIGTERM lets running requests go on for `drainMs`, then ends them and the server. The second one ends
 * the process at once.
 *
 * @returns A signal that aborts when all requests have ended: they need the tab until then.
 */
function stopOnSignal(bridge: Bridge, server: RunningServer, drainMs: number): AbortSignal {
  const stopped = new AbortController();
  let isStopping = false;
  const stop = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (isStopping) process.exit(128 + constants.signals[signal]);
    isStopping = true;
    console.log(
      `Stopping: running requests may go on for ${drainMs} ms. Press Ctrl+C again to stop at once.`,
    );
    void bridge.drain(drainMs).then(() => {
      stopped.abort();
      return server.close();
    });
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return stopped.signal;
}
