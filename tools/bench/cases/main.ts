import { BrowserMissingError } from '../../../bridge/browser/find-browser.ts';
import type { BenchCase, Chosen, Setup } from '../bench-case.ts';
import { bench as engine } from './engine.ts';
import { bench as peers } from './peers.ts';
import { bench as gpu } from './gpu.ts';
import { bench as encoder } from './encoder.ts';
import { bench as cpu } from './cpu.ts';
import { bench as state } from './state.ts';
import { bench as lookup } from './lookup.ts';
import { bench as tabs } from './tabs.ts';
import { bench as page } from './page.ts';
import { bench as load } from './load.ts';
import { bench as jobs } from './jobs.ts';
import { conditionsOf } from '../conditions.ts';
import { measureGroups, only } from '../measure-groups.ts';
import { parseOptions, usageOf } from '../options.ts';
import { readRecords, writeRecord, type BenchRecord } from '../record.ts';
import { reportOf } from '../report.ts';
import { UsageError } from '../usage-error.ts';

// `npm run bench -- CASE [OPTIONS]`

const CASES = { engine, peers, gpu, encoder, cpu, state, lookup, tabs, page, load, jobs };

const [name = '', ...args] = process.argv.slice(2);
try {
  const found = Object.entries(CASES).find(([each]) => each === name)?.[1];
  if (!found) throw new UsageError(usage());
  await start(found);
} catch (error) {
  if (!(error instanceof UsageError || error instanceof BrowserMissingError)) throw error;
  fail(error.message);
}

function usage(): string {
  return [
    'Usage: npm run bench -- CASE [options]',
    ...Object.entries(CASES).map(([each, { summary }]) => `  ${each.padEnd(8)} ${summary}`),
    '`npm run bench -- CASE --help` prints the options of one.',
  ].join('\n');
}

async function start(bench: BenchCase): Promise<void> {
  const help = `Usage: npm run bench -- ${name} [options]\n${usageOf(bench)}`;
  if (args.includes('--help')) return console.log(help);
  let chosen: Chosen;
  try {
    chosen = parseOptions(bench, args);
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${help}`);
  }
  // A damaged file fails before the measurement, not after it.
  readRecords(name);
  await bench.run(chosen, (setup) => measureAndRecord(chosen, setup));
}

async function measureAndRecord(chosen: Chosen, setup: Setup): Promise<void> {
  const { groups: all, check, isSoftware, browser, ...about } = setup;
  const conditions = conditionsOf([name, ...args].join(' '), browser);
  const groups = await measureGroups(only(all, chosen.only), chosen.rounds);
  const record: BenchRecord = { ...about, ...conditions, rounds: chosen.rounds, groups };
  console.log(`\n${reportOf(record)}\n`);
  const isPart = chosen.isShort || chosen.only !== undefined || chosen.beside !== undefined;
  if (isPart) console.log('Not recorded: this is a part of the case.');
  else if (isSoftware) console.log('Not recorded: the adapter computes on the CPU.');
  else console.log(`Recorded in ${await writeRecord(name, record)}`);
  for (const broken of check?.(groups) ?? []) fail(`Failed: ${broken}`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
