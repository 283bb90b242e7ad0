import { constants } from 'node:os';

import { systemClock } from '../src/batching/base/clock.ts';
import type { Bridge } from './bridge.ts';
import { BridgeError } from './base/errors.ts';
import { createAccessLog } from './http/access-log.ts';
import { isLoopbackHost } from './http/loopback.ts';
import { openBrowser } from './cli/open-browser.ts';
import { parseOptions, USAGE } from './cli/options.ts';
import { ProgressBar } from './cli/progress-bar.ts';
import { printState } from './cli/print-state.ts';
import { HtmlFiles } from './static/html-files.ts';
import { keepOwnTab, startOwnServer, targetIn, type OwnServer } from './own-server.ts';
import type { RunningServer } from './server.ts';
import { probeTarget } from './forward/fetch-target.ts';

/** The command that answers a file instead of HTTP requests. */
const RUN_BATCH = 'run-batch';

/** A page of one's own may never do it. */
const CONNECT_TIMEOUT_MS = 60_000;

/** The command line. An error that names its remedy is one line, and the process ends with 1. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    const [command, ...rest] = args;
    if (command !== RUN_BATCH) await serve(args);
    else {
      const { runBatch } = await import('./run-batch.ts');
      process.exitCode = await runBatch(rest);
    }
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
  const target = targetIn(options);
  const log = createAccessLog(options.logLevel, (line) => console.log(line));
  const { batchFolder } = options;
  const own = await startOwnServer(options, { forwardTo: target, log, batchFolder });
  const { bridge, server, url } = own;
  const stopped = stopOnSignal(bridge, server, options.drainMs);
  console.log(`Tabserve is at ${url} (Ctrl+C stops it)`);
  if (!isLoopbackHost(options.host))
    console.log(
      `Also listening on ${options.host}, port ${server.port}. A page that another machine opens there has no WebGPU and stores no models, unless it comes over https: see docs/server.md.`,
    );
  const { root, entry = 'index.html' } = options;
  const numPages = root === undefined ? 0 : new HtmlFiles(root).names.length;
  if (numPages > 1)
    console.log(
      `${root} has ${numPages} pages; ${entry} is at /. The first that calls \`connect()\` answers.`,
    );
  if (target) {
    console.log(`The text generator is ${target.url}`);
    void probeTarget(target).then((problem) => problem && console.error(`Warning: ${problem}`));
  }
  if (options.openBrowser !== 'never') openBrowser(url, options.openBrowser);
  if (options.isHeadless) await serveHeadless(own, stopped);
}

/**
 * Resolves after `stopped` aborts, when the browser and the server are closed.
 *
 * @throws BridgeError if the first model can't serve, or the browser doesn't stay open.
 */
async function serveHeadless(own: OwnServer, stopped: AbortSignal): Promise<void> {
  const { bridge, server } = own;
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
    encoders: [own.options.embedder, own.options.reranker].filter((id) => id !== undefined),
    onFailedStart: (reason) => failed.abort(reason),
  });
  const cancelTimer = systemClock.setTimer(CONNECT_TIMEOUT_MS, () => {
    if (!bridge.isServed) print(console.error)(neverConnected(server.url));
  });
  try {
    const signal = AbortSignal.any([stopped, failed.signal]);
    await keepOwnTab(own, { signal, print: print(console.error) });
    failed.signal.throwIfAborted();
  } finally {
    cancelTimer();
    await server.close();
  }
}

function neverConnected(url: string): string {
  const seconds = CONNECT_TIMEOUT_MS / 1000;
  return `Warning: after ${seconds} s the page hasn't connected. It has to call \`connect()\` of the package and to serve without a press; open ${url} in a browser, whose console says what keeps it.`;
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
