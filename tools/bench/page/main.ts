import { parseArgs } from 'node:util';

import { QUIET_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { markdownTable } from '../markdown-table.ts';
import type { Spread } from '../statistics.ts';
import { withBrowser } from '../with-browser.ts';
import { measureDrawing, NUM_PAIRS, TEXT_LENGTH } from './measure-drawing.ts';
import { measurePage, type PageFigures } from './measure-page.ts';
import {
  measureStreaming,
  NUM_STREAMS,
  SLACK_MS,
  STREAMING_SECONDS,
  type StreamingFigures,
} from './measure-streaming.ts';

const MAX_SCRIPT_BYTES = 110_000;

export const bench = defineBench('', (args) => parseArgs({ args: [...args] }), measure);

/**
 * Scores the built page as Lighthouse's mobile preset does, and measures how smoothly requests stream and what drawing costs
 * them.
 */
async function measure(): Promise<void> {
  const site = { root: await buildPage(), args: QUIET_ARGUMENTS };
  await withBrowser(site, async ({ browser, version, url }) => {
    const page = await measurePage(browser, url);
    console.log(loadReportOf(page, version));
    console.log(streamingReportOf(await measureStreaming(browser, url)));
    console.log(drawingReportOf(await measureDrawing(browser, url)));
    if (page.scriptBytes > MAX_SCRIPT_BYTES || page.layoutShift > 0) process.exitCode = 1;
  });
}

function loadReportOf(page: PageFigures, version: string): string {
  const { firstContentfulPaintMs, interactiveMs, scriptBytes, scriptFiles, layoutShift } = page;
  const scripts = `${(scriptBytes / 1000).toFixed(1)} kB in ${scriptFiles.length} files (at most ${MAX_SCRIPT_BYTES / 1000} kB)`;
  return [
    '',
    ...markdownTable(
      ['figure', 'value'],
      [
        ['first contentful paint', `${(firstContentfulPaintMs / 1000).toFixed(2)} s`],
        ['until a prompt can be written', `${(interactiveMs / 1000).toFixed(2)} s`],
        ['scripts by then, brotli', scripts],
        ['layout shift, until a text is generated', layoutShift.toFixed(4)],
      ],
    ),
    '',
    `${version}, ${new Date().toISOString()}; slow 4G (150 ms, 1.6 Mbit/s), processor 4 times slower, WASM; served without compression.`,
  ].join('\n');
}

function streamingReportOf(streaming: StreamingFigures): string {
  const { onTimeShare, longestFrameMs, longTasksMs, stepsPerSecond } = streaming;
  return [
    '',
    ...markdownTable(
      [`${NUM_STREAMS} requests streaming for ${STREAMING_SECONDS} s, at 1280×800`, 'value'],
      [
        ['frames that came on time, of 60 a second', `${(onTimeShare * 100).toFixed(1)} %`],
        ['longest time without a frame', `${longestFrameMs.toFixed(0)} ms`],
        [
          'tasks over 50 ms',
          [longTasksMs.length, ...longTasksMs.map((ms) => `${ms.toFixed(0)} ms`)].join(', '),
        ],
        ['steps of the model', `${stepsPerSecond.toFixed(0)}/s`],
      ],
    ),
    '',
    `Not throttled, WASM; on time is within ${(1000 / 60 + SLACK_MS).toFixed(1)} ms of the frame before.`,
  ].join('\n');
}

function drawingReportOf({ median, min, max }: Spread): string {
  return (
    `\nTokens/s with the page in view ÷ hidden, ${NUM_STREAMS} texts of ${TEXT_LENGTH} tokens on WASM, median of ${NUM_PAIRS} pairs: ` +
    `${median.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)}).`
  );
}
