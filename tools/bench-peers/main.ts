import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';

import { readOptions } from '../bench/command-line.ts';
import { describeMachine } from '../bench/machine.ts';
import { WEBGPU_ARGUMENTS } from '../browser/launch-arguments.ts';
import { withBrowser } from '../bench/with-browser.ts';
import { buildPage } from './build-page.ts';
import { loadEntrants, measureAll } from './measure.ts';
import { parseOptions, USAGE, type PeerOptions } from './options.ts';
import { peersReportOf } from './report.ts';
import { readPeerResults, recordPeerRun, type PeerRun } from './results.ts';
import { summarize } from './summarize.ts';

/** The other libraries start workers from text, and fetch what they hold themselves. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "connect-src 'self' data: blob:",
].join('; ');

const options = readOptions(parseOptions, USAGE);
if (options?.isMarkdown) await printRecorded();
else if (options) await measureAndRecord(options);

async function printRecorded(): Promise<void> {
  const { runs } = await readPeerResults();
  const reports = Object.values(runs).map(peersReportOf);
  console.log(reports.join('\n\n') || 'Nothing is recorded: run `npm run bench:peers` first.');
}

async function measureAndRecord(chosen: PeerOptions): Promise<void> {
  const [loadAverage = 0] = loadavg();
  const run = { ...(await measureInBrowser(chosen, await buildPage())), loadAverage };
  console.log(`\n${peersReportOf(run)}\n\nRecorded in ${await recordPeerRun(run)}`);
}

function measureInBrowser(
  { backend, rounds }: PeerOptions,
  root: string,
): Promise<Omit<PeerRun, 'loadAverage'>> {
  const site = { root, args: WEBGPU_ARGUMENTS, policy: POLICY };
  return withBrowser(site, async ({ browser, version, url }) => {
    const entrants = await loadEntrants(browser, url, backend);
    const startedAt = new Date().toISOString();
    const measured = await measureAll(entrants, rounds);
    return {
      startedAt,
      command: `npm run bench:peers -- --backend ${backend} --rounds ${rounds}`,
      machine: describeMachine(),
      browser: version,
      backend,
      model: 'storyteller',
      versions: await peerVersions(),
      numRounds: rounds,
      cases: summarize(measured),
    };
  });
}

async function peerVersions(): Promise<Record<string, string>> {
  const packages = ['@huggingface/transformers', '@wllama/wllama', 'onnxruntime-web'];
  const versions = await Promise.all(packages.map(versionOf));
  return Object.fromEntries(packages.map((name, index) => [name, versions[index] ?? '']));
}

/** Its manifest is read as a file: not every package exports it. */
async function versionOf(name: string): Promise<string> {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  const manifest: { readonly version: string } = JSON.parse(await readFile(file, 'utf8'));
  return manifest.version;
}
