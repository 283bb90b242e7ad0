import { setTimeout } from 'node:timers/promises';
import { chromium, type Browser, type BrowserContext } from 'playwright';

import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { findCheckout } from './checkout.ts';
import { judge, reasonToSkip, type TestResult, type Verdict } from './judge.ts';
import { serveWpt, type WptSite } from './site.ts';

// The Web Platform Tests of the Prompt API on the packed entry: `node e2e/wpt/main.ts [CHECKOUT]`.

const FILE_TIMEOUT_MS = 180_000;

/** In the order of testharness.js. */
const STATUSES = ['pass', 'fail', 'timeout', 'not-run', 'precondition-failed'] as const;

interface Report {
  readonly message: string | null;
  readonly tests: readonly { readonly name: string; readonly status: number; readonly message: string }[];
}

/** Files whose tests need a model that is not downloaded yet. */
const TO_DOWNLOAD = /user-activation|monitor-callback-exception/;

const LABELS: Readonly<Record<Verdict['kind'], string>> = {
  pass: 'pass',
  fails: 'fail, as listed',
  'does-not-apply': 'does not apply',
  unexpected: 'UNEXPECTED',
};

const counts = new Map<Verdict['kind'], number>();
let numSkippedFiles = 0;

const site = await serveWpt(await findCheckout(process.argv[2]));
const { path } = await findBrowser();
const browser = await chromium.launch({ executablePath: path, args: ['--js-flags=--expose-gc'] });
try {
  await runAll(browser, site);
} finally {
  await browser.close();
  await site.close();
}
const countOf = (kind: Verdict['kind']): number => counts.get(kind) ?? 0;
console.log(
  `Web Platform Tests: ${countOf('pass')} passed, ${countOf('fails')} failed as listed, ` +
    `${countOf('does-not-apply')} and all of ${numSkippedFiles} files do not apply, ${countOf('unexpected')} unexpected.`,
);
process.exitCode = countOf('unexpected') === 0 && countOf('pass') > 0 ? 0 : 1;

async function runAll(running: Browser, { files, addressOf }: WptSite): Promise<void> {
  const shared = await running.newContext();
  // Its tab keeps the worker, so that the model is loaded once for all files.
  const { page: keeper } = await openTest(shared, addressOf('keeper.window.js', false));
  await keeper.evaluate('LanguageModel.create()');
  for (const file of files) {
    const reason = reasonToSkip(file);
    if (reason === undefined) await runFile(running, shared, file, addressOf);
    else {
      numSkippedFiles += 1;
      console.log(`${LABELS['does-not-apply'].padEnd(15)}  ${file}: ${reason}`);
    }
  }
}

async function runFile(
  running: Browser,
  shared: BrowserContext,
  file: string,
  addressOf: WptSite['addressOf'],
): Promise<void> {
  const isToDownload = TO_DOWNLOAD.test(file);
  const context = isToDownload ? await running.newContext() : shared;
  const { page, report } = await openTest(context, addressOf(file, isToDownload));
  const late: Report = { message: `No result in ${FILE_TIMEOUT_MS} ms.`, tests: [] };
  const timeOut = setTimeout(FILE_TIMEOUT_MS, late, { ref: false });
  for (const result of resultsOf(await Promise.race([report, timeOut]))) {
    const verdict = judge(file, result);
    counts.set(verdict.kind, (counts.get(verdict.kind) ?? 0) + 1);
    const reason = verdict.reason === '' ? '' : `: ${verdict.reason}`;
    console.log(`${LABELS[verdict.kind].padEnd(15)}  ${file} · ${result.name}${reason}`);
  }
  await (isToDownload ? context.close() : page.close());
}

/** The page reports its results by itself, because a debugger's evaluation in it would count as user activation. */
async function openTest(context: BrowserContext, address: string) {
  const page = await context.newPage();
  const { promise: report, resolve } = Promise.withResolvers<Report>();
  await page.exposeFunction('sendReport', resolve);
  await page.exposeFunction('clickAt', (x: number, y: number) => page.mouse.click(x, y));
  await page.goto(address);
  return { page, report };
}

function resultsOf({ message, tests }: Report): readonly TestResult[] {
  if (tests.length === 0)
    return [{ name: 'the file', status: 'fail', message: message ?? 'It has no tests.' }];
  return tests.map(({ name, status, message: detail }) => ({
    name,
    status: STATUSES[status] ?? 'fail',
    message: detail,
  }));
}
