import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { reportOf } from '../bench/report.ts';
import { readResults, type BenchResults } from '../bench/results.ts';
import { peersReportOf } from '../bench-peers/report.ts';
import { readPeerResults, type PeerResults } from '../bench-peers/results.ts';
import { formatTabs } from '../bench-tabs/report.ts';
import { readTabs, type TabsResults } from '../bench-tabs/results.ts';

// The figures in the README are those of bench/*.json, between markers. `--write` brings them up to date.

const README = fileURLToPath(new URL('../../README.md', import.meta.url));

const readme = await readFile(README, 'utf8');
const withBench = withTabs(withFigures(readme, await readResults()), await readTabs());
const upToDate = withPeers(withBench, await readPeerResults());
if (process.argv.includes('--write')) {
  await writeFile(README, upToDate);
} else if (normalize(readme) === normalize(upToDate)) {
  console.log('README: its figures are those of bench/*.json.');
} else {
  console.error('README: figures differ from bench/*.json. Run `npm run bench:readme`.');
  process.exitCode = 1;
}

function withFigures(text: string, { runs }: BenchResults): string {
  const { webgpu, wasm } = runs;
  if (!webgpu || !wasm)
    throw new Error('Both backends must be recorded: run `npm run bench`, also with --backend wasm.');
  const ratio = webgpu.ratiosToOff.continuous.median.toFixed(1);
  const withHeadline = replaceBetween(text, '<!-- ratio -->', '<!-- /ratio -->', ratio);
  const tables = `\n\n${reportOf(webgpu)}\n\n${reportOf(wasm)}\n\n`;
  return replaceBetween(withHeadline, '<!-- bench -->', '<!-- /bench -->', tables);
}

function withTabs(text: string, { runs }: TabsResults): string {
  const reports = Object.values(runs).map((run) => `\n\n${formatTabs(run)}`);
  return replaceBetween(text, '<!-- tabs -->', '<!-- /tabs -->', `${reports.join('')}\n\n`);
}

/** What is recorded, which may be one backend alone: a full run takes a quarter of an hour on an idle machine. */
function withPeers(text: string, { runs }: PeerResults): string {
  const tables = Object.values(runs).map((run) => `\n\n${peersReportOf(run)}`);
  return replaceBetween(text, '<!-- peers -->', '<!-- /peers -->', `${tables.join('')}\n\n`);
}

/** The formatter may pad tables and wrap lines. */
function normalize(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/-{3,}/g, '---');
}

function replaceBetween(text: string, start: string, end: string, content: string): string {
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`README.md has no place ${start} … ${end}`);
  return text.slice(0, from + start.length) + content + text.slice(to);
}
