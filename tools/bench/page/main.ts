import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { build } from 'vite';

import { startServer } from '../../../bridge/server.ts';
import { findBrowser } from '../../../bridge/browser/find-browser.ts';
import { QUIET_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { measureDrawing, NUM_PAIRS } from './measure-drawing.ts';
import { measurePage } from './measure-page.ts';
import { measureStreaming, NUM_STREAMS, SLACK_MS, STREAMING_SECONDS } from './measure-streaming.ts';

// Scores the built page as Lighthouse's mobile preset does, and measures how smoothly requests stream and what drawing costs them.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MAX_SCRIPT_BYTES = 110_000;

await build({ root: ROOT, logLevel: 'warn' });
const found = await findBrowser();
const server = await startServer({ host: 'localhost', port: 0, root: `${ROOT}/dist` });
const browser = await chromium.launch({ executablePath: found.path, args: [...QUIET_ARGUMENTS] });
try {
  const { firstContentfulPaintMs, interactiveMs, scriptBytes, scriptFiles, layoutShift } = await measurePage(
    browser,
    server.url,
  );
  const streaming = await measureStreaming(browser, server.url);
  const { onTimeShare, longestFrameMs, longTasksMs, stepsPerSecond } = streaming;
  const drawing = await measureDrawing(browser, server.url);
  const isSmall = scriptBytes <= MAX_SCRIPT_BYTES;
  console.log(`
| figure                                  | value |
| --------------------------------------- | ----- |
| first contentful paint                  | ${(firstContentfulPaintMs / 1000).toFixed(2)} s |
| until a prompt can be written           | ${(interactiveMs / 1000).toFixed(2)} s |
| scripts by then, brotli                 | ${(scriptBytes / 1000).toFixed(1)} kB in ${scriptFiles.length} files (at most ${MAX_SCRIPT_BYTES / 1000} kB) |
| layout shift, until a text is generated | ${layoutShift.toFixed(4)} |

${found.version}, ${new Date().toISOString()}; slow 4G (150 ms, 1.6 Mbit/s), processor 4 times slower, WASM; served without compression.

| ${NUM_STREAMS} requests streaming for ${STREAMING_SECONDS} s, at 1280×800       | value |
| ------------------------------------------------------- | ----- |
| frames that came on time, of 60 a second                | ${(onTimeShare * 100).toFixed(1)} % |
| longest time without a frame                            | ${longestFrameMs.toFixed(0)} ms |
| tasks over 50 ms                                        | ${longTasksMs.map((ms) => `${ms.toFixed(0)} ms`).join(', ') || 'none'} |
| steps of the model                                      | ${stepsPerSecond.toFixed(0)}/s |

Not throttled, WASM; on time is within ${(1000 / 60 + SLACK_MS).toFixed(1)} ms of the frame before.`);
  console.log(
    `\nTokens/s with the page hidden ÷ in view, ${NUM_STREAMS} requests on WASM, median of ${NUM_PAIRS} pairs: ` +
      `${drawing.median.toFixed(2)} (${drawing.min.toFixed(2)} to ${drawing.max.toFixed(2)}).`,
  );
  if (!isSmall || layoutShift > 0) process.exitCode = 1;
} finally {
  await browser.close();
  await server.close();
}
