import type { Page } from 'playwright';

import { startServer } from '../../../bridge/server.ts';
import type { BenchCase, Group, Subject } from '../bench-case.ts';
import { buildPage } from '../built-pages.ts';
import { launchProfile } from '../launch.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import type { Column } from '../record.ts';
import { runClosedLoop, runJob, timeFirstTokens, type RowsPlan } from './jobs-in-page.ts';

const SHORT = 'Once upon a time there was a {{thing}} number {{number}}';
/** About 200 tokens that all rows share. */
const LONG = `${'The little dog and the big cat went to the park and played with the red ball all day. '.repeat(9)}${SHORT}`;

const RATE: Column = { name: 'rows/s', digits: 2, shows: 'p50' };

export const bench: BenchCase = {
  summary: 'rows per second of a job beside a closed loop, and prompts that are typed meanwhile',
  rounds: 5,
  choices: { backend: ['wasm', 'webgpu'] },
  async run({ isShort, backend: name, browserArgs }, measure) {
    await using site = await startServer({ host: 'localhost', port: 0, root: await buildPage() });
    // In an incognito window each write to a job's storage asks another process, for 0.5 ms.
    const { version, ...launched } = await launchProfile(browserArgs);
    await using context = launched.context;
    const { page, status } = await openReady(context, `${site.url}/?backend=${name}`);
    const { backend } = loadedOf(status);
    await measure({
      key: name,
      browser: version,
      model: 'Storyteller',
      adapter: `${backend.name} ${backend.precision} (${backend.adapter})`,
      isSoftware: backend.isSoftwareAdapter ?? false,
      note: 'The profile is on disk.',
      groups: rowsGroups(page, isShort),
    });
  },
};

function rowsGroups(page: Page, isShort: boolean): readonly Group[] {
  const numRows = isShort ? 24 : 400;
  const rows = Array.from({ length: numRows }, (_, index) => ({
    number: String(index),
    thing: ['fox', 'very old and tired dragon', 'girl'][index % 3] ?? '',
  }));
  const short: RowsPlan = { template: SHORT, rows, maxNewTokens: 32, prefixCaching: true };
  const long: RowsPlan = { ...short, template: LONG, rows: rows.slice(0, Math.ceil(numRows / 4)) };
  const job = (label: string, plan: RowsPlan): Subject => ({
    labels: [label],
    measure: () => page.evaluate(runJob, plan),
  });
  const numPrompts = isShort ? 3 : 20;
  return [
    {
      caption: `${numRows} rows, or a quarter of them with a long beginning`,
      labels: [''],
      columns: [RATE, { name: 'tasks of the page over 50 ms', digits: 0, shows: 'max' }],
      ratio: { header: 'over the loop', column: RATE.name },
      subjects: [
        {
          labels: ['closed loop of as many requests as slots'],
          warmUp: () => page.evaluate(runJob, short),
          measure: async () => ({ [RATE.name]: await page.evaluate(runClosedLoop, short) }),
        },
        job('job', short),
        job('job whose rows share 200 tokens', long),
        job('the same without prefix caching', { ...long, prefixCaching: false }),
      ],
    },
    {
      caption: 'Prompts that someone types',
      labels: [''],
      columns: [
        { name: 'TTFT in the worker', unit: 'ms', digits: 1, shows: 'p50 / p95' },
        { name: 'TTFT in the page', unit: 'ms', digits: 1, shows: 'p50 / p95' },
        { name: 'a step meanwhile', unit: 'ms', digits: 1, shows: 'p50 / p95' },
      ],
      subjects: [undefined, SHORT].map((template) => ({
        labels: [template === undefined ? 'idle' : 'during a job that fills all slots'],
        measure: () => page.evaluate(timeFirstTokens, [numPrompts, template] as const),
      })),
    },
  ];
}
