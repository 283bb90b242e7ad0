import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';
import { build } from 'vite';

import { Bridge } from '../../../bridge/bridge.ts';
import { startServer } from '../../../bridge/server.ts';
import { percentilesOf } from '../statistics.ts';
import { findBrowser } from '../../../bridge/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { compareCalls, loadAdder } from './load.ts';

// What the bridge takes, and what it adds to a call.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What a call may take longer over HTTP than in the page, at the median. */
const MAX_ADDED_MS = 3;

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '20' },
    calls: { type: 'string', default: '60' },
  },
});

await build({ root: ROOT, logLevel: 'warn' });
const found = await findBrowser();
let url = '';
const bridge = new Bridge({ host: 'localhost', url: () => url });
const server = await startServer({ host: 'localhost', port: 0, root: `${ROOT}/dist`, bridge });
({ url } = server);
const browser = await chromium.launch({ executablePath: found.path, args: [...WEBGPU_ARGUMENTS] });
try {
  const page = await browser.newPage();
  // The model has no part in this: its load must not disturb it.
  await page.goto(`${url}/?backend=wasm`);
  await bridge.serve.ready();

  const calls = await compareCalls(page, url, Number(values.calls));
  const inPage = percentilesOf(calls.inPageMs);
  const overHttp = percentilesOf(calls.overHttpMs);
  const addedMs = overHttp.p50 - inPage.p50;
  console.log(
    `One call after the other, ${values.calls} of each in turns: p50 ${inPage.p50.toFixed(1)} ms in the page, ` +
      `${overHttp.p50.toFixed(1)} ms over HTTP: the bridge adds ${addedMs.toFixed(1)} ms.`,
  );

  const load = await loadAdder(page, url, {
    connections: Number(values.connections),
    seconds: Number(values.seconds),
  });
  const numFull = load.batches.filter(({ reason }) => reason === 'full').length;
  console.log(
    `${values.connections} connections for ${values.seconds} s: ${load.numAnswered} answered, ${load.numErrors} errors, ` +
      `${load.itemsPerSecond.toFixed(1)} items/s; ${numFull} of ${load.batches.length} batches full.`,
  );
  const isFine = addedMs <= MAX_ADDED_MS && load.numErrors === 0 && numFull === load.batches.length;
  if (!isFine) process.exitCode = 1;
} finally {
  await browser.close();
  await server.close();
}
