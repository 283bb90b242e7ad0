import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { startServer } from '../../../bridge/server.ts';
import { defineBench } from '../bench.ts';
import { parseCount } from '../command-line.ts';
import { conditionsOf } from '../conditions.ts';
import { pathOf } from '../paths.ts';
import { buildLibraries, LIBRARIES_POLICY } from '../peers/build-page.ts';
import { describeLibraries, installPeers } from '../peers/install-peers.ts';
import { writeMiniLm } from '../peers/models/write-peer-models.ts';
import { withTabs } from '../peers/with-tabs.ts';
import { spreadOf } from '../statistics.ts';
import { DTYPES } from './contender.ts';
import { measureDtype, type Own } from './measure.ts';
import { encoderReportOf } from './report.ts';
import { recordEncoderRun, type DtypeResult, type EncoderBenchRun } from './results.ts';
import { sentences } from './sentences.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const BUILT_PAGE = pathOf('dist-bench-encoder');

const USAGE = `\
  --texts N   texts of mixed length (default 1000); other numbers are printed, not recorded
  --rounds N  times that each library embeds them in each way, interleaved (default 2)`;

interface EncoderOptions {
  readonly numTexts: number;
  readonly numRounds: number;
  readonly isRecorded: boolean;
}

export const bench = defineBench(USAGE, parseOptions, measureAndRecord);

function parseOptions(args: readonly string[]): EncoderOptions {
  const options = { texts: { type: 'string' }, rounds: { type: 'string', default: '2' } } as const;
  const { texts, rounds } = parseArgs({ args: [...args], options }).values;
  return {
    numTexts: parseCount('--texts', texts ?? '1000'),
    numRounds: parseCount('--rounds', rounds),
    isRecorded: texts === undefined,
  };
}

async function measureAndRecord(options: EncoderOptions): Promise<void> {
  await installPeers();
  await buildLibraries(PAGE, BUILT_PAGE);
  await writeMiniLm(join(BUILT_PAGE, 'models'));
  const site = { host: 'localhost', port: 0, root: BUILT_PAGE, policy: LIBRARIES_POLICY };
  await using server = await startServer(site);
  const run = await measureInBrowser(server.url, options);
  console.log(`\n${encoderReportOf(run)}\n`);
  if (options.isRecorded) console.log(`Recorded in ${await recordEncoderRun(run)}`);
}

function measureInBrowser(url: string, { numTexts, numRounds }: EncoderOptions): Promise<EncoderBenchRun> {
  const plan = { url, texts: sentences(numTexts), numRounds };
  return withTabs(async ({ context, version }) => {
    const conditions = conditionsOf(`encoder --rounds ${numRounds}`, version);
    let own: Own | undefined;
    const dtypes: DtypeResult[] = [];
    for (const dtype of DTYPES) {
      const measured = await measureDtype(context, dtype, plan, own);
      own ??= measured.own;
      dtypes.push(measured.result);
    }
    const numTokens = spreadOf(own?.numTokens ?? []);
    const libraries = describeLibraries().filter(({ name }) => name !== 'wllama');
    return { ...conditions, libraries, numRounds, numTexts, numTokens, dtypes };
  });
}
