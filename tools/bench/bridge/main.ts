import { parseArgs } from 'node:util';

import { Bridge } from '../../../bridge/bridge.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { parseCount } from '../command-line.ts';
import { percentilesOf } from '../statistics.ts';
import { withBrowser } from '../with-browser.ts';
import { compareCalls, loadAdder, type Load } from './load.ts';

interface BridgeOptions extends Load {
  readonly numCalls: number;
}

/** The most that HTTP may add to a call, at the median. */
const MAX_ADDED_MS = 3;

const USAGE = `\
  --connections N  clients at once under load (default 64)
  --seconds N      duration of the load (default 20)
  --calls N        calls that are timed one by one, in the page and over HTTP (default 60)`;

export const bench = defineBench(USAGE, parseOptions, measure);

function parseOptions(args: readonly string[]): BridgeOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      connections: { type: 'string', default: '64' },
      seconds: { type: 'string', default: '20' },
      calls: { type: 'string', default: '60' },
    },
  });
  return {
    connections: parseCount('--connections', values.connections),
    seconds: parseCount('--seconds', values.seconds),
    numCalls: parseCount('--calls', values.calls),
  };
}

/** Measures what HTTP adds to a call, and the bridge under load. */
async function measure({ numCalls, ...load }: BridgeOptions): Promise<void> {
  let address = '';
  const bridge = new Bridge({ host: 'localhost', url: () => address });
  const site = { root: await buildPage(), args: WEBGPU_ARGUMENTS, bridge };
  await withBrowser(site, async ({ browser, url }) => {
    address = url;
    const page = await browser.newPage();
    // No call uses the model, but its load must not disturb them.
    await page.goto(`${url}/?backend=wasm`);
    await bridge.serve.ready();

    const calls = await compareCalls(page, url, numCalls);
    const inPage = percentilesOf(calls.inPageMs);
    const overHttp = percentilesOf(calls.overHttpMs);
    const addedMs = overHttp.p50 - inPage.p50;
    console.log(
      `One call after the other, ${numCalls} of each in turns: p50 ${inPage.p50.toFixed(1)} ms in the page, ` +
        `${overHttp.p50.toFixed(1)} ms over HTTP: the bridge adds ${addedMs.toFixed(1)} ms.`,
    );

    const { batches, numAnswered, numErrors, itemsPerSecond } = await loadAdder(page, url, load);
    const numFull = batches.filter(({ reason }) => reason === 'full').length;
    console.log(
      `${load.connections} connections for ${load.seconds} s: ${numAnswered} answered, ${numErrors} errors, ` +
        `${itemsPerSecond.toFixed(1)} items/s; ${numFull} of ${batches.length} batches full.`,
    );
    const isFine = addedMs <= MAX_ADDED_MS && numErrors === 0 && numFull === batches.length;
    if (!isFine) process.exitCode = 1;
  });
}
