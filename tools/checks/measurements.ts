import { machineText } from '../bench/conditions.ts';
import { markdownTable } from '../bench/markdown-table.ts';
import { readRecords, type BenchRecord } from '../bench/record.ts';
import { reportOf } from '../bench/report.ts';
import { updateParts } from './marked-part.ts';

// The tables of docs/measurements.md and its parts, and the headline figures of the README are those of bench/*.json. `--write` brings them
// up to date.

/** The cases with a place in a document: a record has the part `CASE KEY`. */
const CASES = {
  'docs/measurements.md': ['engine', 'peers'],
  'docs/measurements/gpu.md': ['gpu'],
  'docs/measurements/encoders.md': ['encoder'],
  'docs/measurements/tabs.md': ['tabs', 'load'],
  'docs/measurements/cpu-kernels.md': ['cpu', 'state', 'lookup'],
};

/** How the libraries are named in the README, and who runs each: the best of them counts. */
const COMPARED: readonly (readonly [label: string, pattern: RegExp])[] = [
  ['Tabserve, fp32', /^Tabserve, fp32$/],
  ['Tabserve, q8', /^Tabserve, q8$/],
  ['transformers.js, fp32', /^transformers\.js, fp32/],
  ['transformers.js, q8', /^transformers\.js, q8/],
  ['wllama', /^wllama/],
];

for (const [path, cases] of Object.entries(CASES)) {
  const parts = cases.flatMap((name) =>
    readRecords(name).map((record) => [`${name} ${record.key}`, `\n\n${reportOf(record)}\n\n`] as const),
  );
  await updateParts(path, Object.fromEntries(parts));
}
const policies = recordOf('engine', 'storyteller wasm').groups[0];
const ofEight = policies?.rows.find(({ labels }) => labels.includes('continuous') && labels.includes('8'));
const ratio = ofEight?.ratio?.p50;
if (ratio === undefined) throw new Error('No ratio is recorded: run `npm run bench -- engine`.');
await updateParts('README.md', {
  ratio: ratio.toFixed(1),
  headline: `\n\n${headlineOf(recordOf('peers', 'smollm2 wasm'))}\n\n`,
});

function recordOf(name: string, key: string): BenchRecord {
  const record = readRecords(name).find((each) => each.key === key);
  if (record) return record;
  throw new Error(`“${key}” isn't recorded: run \`npm run bench -- ${name}\`.`);
}

/** Tokens per second of the real model, of each library with what suits it best. */
function headlineOf(record: BenchRecord): string {
  const [alone, eight] = record.groups;
  const rows = COMPARED.map(([label, pattern]) => {
    const best = [alone, eight].map((group) => bestOf(group, pattern));
    // The types of wllama: the best one may depend on the number of requests.
    const types = new Set(best.flatMap(({ name }) => /^wllama.*, (\S+)$/.exec(name)?.[1] ?? []));
    return [[label, ...types].join(' '), ...best.map(({ rate }) => rate.toFixed(1))];
  });
  return [
    ...markdownTable(['tokens per second', '1 request', '8 at once'], rows),
    '',
    `SmolLM2-135M-Instruct on the CPU, one thread; ${eight?.caption}. ${record.browser}; ${machineText(record)}.`,
  ].join('\n');
}

function bestOf(group: BenchRecord['groups'][number] | undefined, pattern: RegExp) {
  const [best] = (group?.rows ?? [])
    .flatMap(({ labels: [name = ''], figures }) => {
      const rate = figures['tokens/s']?.p50;
      return rate !== undefined && pattern.test(name) ? [{ name, rate }] : [];
    })
    .toSorted((a, b) => b.rate - a.rate);
  if (best) return best;
  throw new Error(`No row is ${pattern}: run \`npm run bench -- peers --model smollm2\`.`);
}
