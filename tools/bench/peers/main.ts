import { startServer } from '../../../bridge/server.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import type { BenchModel } from '../command-line.ts';
import { conditionsOf } from '../conditions.ts';
import { buildDriver, buildPeersPage, LIBRARIES_POLICY } from './build-page.ts';
import { CASE_NAMES, casesOf } from './cases.ts';
import { describeLibraries, installPeers } from './install-peers.ts';
import { loadEntrants, measureAll, type Sites } from './measure.ts';
import { parseOptions, USAGE, type PeerOptions } from './options.ts';
import { peersReportOf } from './report.ts';
import { PEER_RESULTS, recordPeerRun, type PeerRun } from './results.ts';
import { summarize } from './summarize.ts';
import { withTabs } from './with-tabs.ts';

export const bench = defineBench(USAGE, parseOptions, (options) =>
  options.isMarkdown ? printRecorded() : measureAndRecord(options),
);

async function printRecorded(): Promise<void> {
  const { runs, smollm2 = {} } = await PEER_RESULTS.read();
  const reports = [smollm2, runs].flatMap((part) => Object.values(part)).map(peersReportOf);
  console.log(reports.join('\n\n') || 'Nothing is recorded: run `npm run bench -- peers` first.');
}

async function measureAndRecord(chosen: PeerOptions): Promise<void> {
  await installPeers();
  const run = await withSites(chosen.model, (sites) => measureInBrowser(chosen, sites));
  console.log(`\n${peersReportOf(run)}\n`);
  const isWhole = CASE_NAMES.every((name) => chosen.cases.includes(name));
  console.log(
    isWhole ? `Recorded in ${await recordPeerRun(run)}` : 'Not recorded: it lacks some of the cases.',
  );
}

/** Builds and serves the pages: the application with its own policy, the libraries with one that lets them start. */
async function withSites<Result>(model: BenchModel, run: (sites: Sites) => Promise<Result>): Promise<Result> {
  const driver = await buildDriver();
  const host = { host: 'localhost', port: 0 };
  const application = await startServer({ ...host, root: await buildPage() });
  const libraries = await startServer({
    ...host,
    root: await buildPeersPage(model),
    policy: LIBRARIES_POLICY,
  });
  try {
    return await run({ applicationUrl: application.url, librariesUrl: libraries.url, driver });
  } finally {
    await application.close();
    await libraries.close();
  }
}

function measureInBrowser(
  { model, backend, rounds, cases: names }: PeerOptions,
  sites: Sites,
): Promise<PeerRun> {
  const cases = casesOf(names, backend, model);
  return withTabs(async ({ context, version }) => {
    const entrants = await loadEntrants(context, sites, backend, model);
    const conditions = conditionsOf(
      `peers --model ${model} --backend ${backend} --rounds ${rounds}`,
      version,
    );
    const measured = await measureAll(cases, entrants, rounds);
    return {
      ...conditions,
      backend,
      model,
      libraries: describeLibraries(),
      numRounds: rounds,
      cases: summarize(cases, measured),
    };
  });
}
