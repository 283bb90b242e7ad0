import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

import { Bridge } from './bridge.ts';
import { BridgeError } from './errors.ts';
import { createAccessLog } from './http/access-log.ts';
import { isLoopbackHost } from './http/loopback.ts';
import { openBrowser } from './cli/open-browser.ts';
import { parseOptions, USAGE, type CommandLineOptions } from './cli/options.ts';
import { pageAddress } from './cli/page-address.ts';
import { defaultProfile } from './cli/profile-folder.ts';
import { ProgressBar } from './cli/progress-bar.ts';
import { startServer, type RunningServer } from './server.ts';
import { printState } from './cli/print-state.ts';
import { probeUpstream } from './upstream/probe-upstream.ts';
import type { UpstreamOptions } from './upstream/upstream-client.ts';

const BUILT_PAGE = fileURLToPath(new URL('../dist', import.meta.url));

/** Missing when the bridge runs from its sources. Their page has its own copy. */
const RUNTIME = fileURLToPath(new URL('../dist-package/onnxruntime', import.meta.url));

/** The command line. An error that names its remedy is one line, and the process ends with 1. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    await serve(args);
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

async function serve(args: readonly string[]): Promise<void> {
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
  url = pageAddress(server.url, options);
  console.log(`Tabserve is at ${url} (Ctrl+C stops it)`);
  if (!isLoopbackHost(options.host))
    console.log(`HTTP clients may also ask ${options.host}, on port ${server.port}`);
  if (upstream) {
    console.log(`The text generator is ${upstream.url}`);
    void warnOfUpstream(upstream);
  }
  if (options.openBrowser !== 'never') openBrowser(url, options.openBrowser);
  if (options.isHeadless) await serveHeadless(options, bridge, server, stopped);
}

/** Only a warning: the upstream may still be starting. */
async function warnOfUpstream(upstream: UpstreamOptions): Promise<void> {
  const problem = await probeUpstream(upstream);
  if (problem !== undefined) console.error(`Warning: ${problem}`);
}

/**
 * Resolves after `stopped` aborts, when the browser and the server are closed.
 *
 * @throws BridgeError if the first model can't serve, or the browser doesn't stay open.
 */
async function serveHeadless(
  options: CommandLineOptions,
  bridge: Bridge,
  server: RunningServer,
  stopped: AbortSignal,
): Promise<void> {
  const bar = new ProgressBar(process.stderr);
  const print = (write: (line: string) => void) => (line: string) => {
    bar.clear();
    write(line);
  };
  const failed = new AbortController();
  printState(bridge.serve, {
    url: server.url,
    print: print(console.log),
    bar,
    onFailedStart: (reason) => failed.abort(reason),
  });
  // Playwright is large, and only this needs it.
  const { keepHeadlessTab, OWN_ORIGIN } = await import('./cli/headless.ts');
  try {
    await keepHeadlessTab(pageAddress(OWN_ORIGIN, options), {
      server: new URL(server.url).host,
      cookie: bridge.ownBrowserCookie,
      // Without a model to keep, the browser begins afresh.
      profile: options.profile ?? (options.model === undefined ? '' : defaultProfile()),
      signal: AbortSignal.any([stopped, failed.signal]),
      print: print(console.error),
    });
    failed.signal.throwIfAborted();
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
