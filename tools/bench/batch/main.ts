import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { Page } from 'playwright';
import { build } from 'vite';

import { QUIET_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { defineBench } from '../bench.ts';
import { pathOf } from '../paths.ts';
import { withBrowser, type SiteInBrowser } from '../with-browser.ts';
import { compare, type BenchReport } from './compare.ts';
import { formatReport } from './format-report.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const BUILT_PAGE = pathOf('dist-bench-batch');
const NODE_PROCESS = fileURLToPath(new URL('node-process.ts', import.meta.url));

const execute = promisify(execFile);

export const bench = defineBench('', (args) => parseArgs({ args: [...args] }), measure);

async function measure(): Promise<void> {
  const inNode = await compare({
    measureContender: (name) => measureInNode('contender', name),
    measureCancel: (numQueued) => measureInNode('cancel', String(numQueued)),
  });
  console.log(`## Node ${process.version}\n\n${formatReport(inNode)}\n`);
  const inBrowser = await compareInBrowser();
  console.log(`## ${inBrowser.browser}\n\n${formatReport(inBrowser.report)}`);
}

async function measureInNode<Result>(kind: 'contender' | 'cancel', argument: string): Promise<Result> {
  const { stdout } = await execute(process.execPath, ['--expose-gc', NODE_PROCESS, kind, argument]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what node-process.ts prints for this kind
  return JSON.parse(stdout) as Result;
}

async function compareInBrowser(): Promise<{ readonly browser: string; readonly report: BenchReport }> {
  await build({
    root: PAGE,
    logLevel: 'warn',
    build: { target: 'es2024', outDir: BUILT_PAGE, emptyOutDir: true },
  });
  const args = [...QUIET_ARGUMENTS, '--js-flags=--expose-gc', '--enable-precise-memory-info'];
  return withBrowser({ root: BUILT_PAGE, args }, async (site) => ({
    browser: site.version,
    report: await compareIn(site),
  }));
}

function compareIn({ browser, url }: SiteInBrowser): Promise<BenchReport> {
  /** Contexts share no renderer process. */
  const inNewContext = async <Result>(run: (page: Page) => Promise<Result>): Promise<Result> => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForFunction(() => 'bench' in window);
    const result = await run(page);
    await context.close();
    return result;
  };
  return compare({
    measureContender: (name) =>
      inNewContext((page) => page.evaluate((given) => window.bench.measureContender(given), name)),
    measureCancel: (numQueued) =>
      inNewContext((page) => page.evaluate((given) => window.bench.measureCancel(given), numQueued)),
  });
}
