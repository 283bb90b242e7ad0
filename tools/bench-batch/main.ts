import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { chromium } from 'playwright';
import { build } from 'vite';

import { startServer } from '../../bridge/server.ts';
import { findBrowser } from '../browser/find-browser.ts';
import { QUIET_ARGUMENTS } from '../browser/launch-arguments.ts';
import { formatReport } from './format-report.ts';
import { measureAll, type BenchReport } from './measure.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const BUILT_PAGE = fileURLToPath(new URL('../../dist-bench-batch', import.meta.url));

const inNode = await measureInNode();
console.log(`## Node ${process.version}\n\n${formatReport(inNode)}\n`);
const inBrowser = await measureInBrowser();
console.log(`## ${inBrowser.browser}\n\n${formatReport(inBrowser.report)}`);

function measureInNode(): Promise<BenchReport> {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  return measureAll({
    usedHeapBytes() {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    },
  });
}

async function measureInBrowser(): Promise<{ readonly browser: string; readonly report: BenchReport }> {
  await build({
    root: PAGE,
    logLevel: 'warn',
    build: { target: 'es2024', outDir: BUILT_PAGE, emptyOutDir: true },
  });
  const found = await findBrowser();
  const server = await startServer({ host: 'localhost', port: 0, root: BUILT_PAGE });
  const args = [...QUIET_ARGUMENTS, '--js-flags=--expose-gc', '--enable-precise-memory-info'];
  const browser = await chromium.launch({ executablePath: found.path, args });
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.waitForFunction(() => 'benchBatch' in window);
    const report = await page.evaluate(() => window.benchBatch?.());
    if (!report) throw new Error('The page has no benchmark.');
    return { browser: found.version, report };
  } finally {
    await browser.close();
    await server.close();
  }
}
