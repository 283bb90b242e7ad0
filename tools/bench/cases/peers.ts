import type { BackendName, BenchCase } from '../bench-case.ts';
import { buildLibraries } from '../libraries/build-libraries.ts';
import type { ContenderSpec } from '../libraries/contender.ts';
import { describeLibraries } from '../libraries/describe-libraries.ts';
import { withLibraries } from '../libraries/with-libraries.ts';
import { MODEL_WRITERS } from '../libraries/write-models.ts';
import type { Column } from '../record.ts';
import { SUSTAINED_MS } from './engine-requests.ts';
import { atOnce, groupOf, wrongRows, type Requests } from './library-groups.ts';
import { realPrompts, shortPrompts } from './reference.ts';

/** Of a table. wllama never answers a request beyond its slots. */
const MAX_REQUESTS = 8;

/** Short enough for requests to overlap: one of 64 tokens takes 30 ms on WASM, and seconds on software WebGPU. */
const ARRIVAL_INTERVAL_MS: Readonly<Record<BackendName, number>> = { webgpu: 100, wasm: 5 };
/** Shuffled once; a batch that waits for its longest member must not meet them sorted. */
const MIXED_LENGTHS = [32, 8, 56, 16, 64, 24, 48, 40];

const COLUMNS: readonly Column[] = [
  { name: 'tokens/s', digits: 1, shows: 'p50' },
  { name: 'TTFT', unit: 'ms', digits: 0, shows: 'p50 / p95' },
  { name: 'latency', unit: 'ms', digits: 0, shows: 'p50 / p95' },
  { name: 'answers as PyTorch', unit: '%', digits: 0, shows: 'mean' },
];

export const STORYTELLER: readonly ContenderSpec[] = [
  { label: 'Tabserve', library: 'tabserve', model: '', dtype: 'fp32' },
  { label: 'Tabserve, the page', library: 'tabserve', model: '', dtype: 'fp32', isInPage: true },
  ...pipelines('storyteller/plain', 'plain export'),
  ...pipelines('storyteller/fused', 'fused operators'),
  wllama('storyteller', 'F32'),
];

export const SMOLLM2_GGUF = { library: 'tabserve', model: 'smollm2/model.Q4_1.gguf' } as const;
export const SMOLLM2_ONNX = { library: 'pipeline', model: 'smollm2/onnx-model' } as const;

/** Each library in each precision that suits it. */
const SMOLLM2: readonly ContenderSpec[] = [
  { label: 'Tabserve, fp32', ...SMOLLM2_GGUF, dtype: 'fp32' },
  { label: 'Tabserve, q8', ...SMOLLM2_GGUF, dtype: 'q8' },
  { label: 'Tabserve, q8, the page', ...SMOLLM2_GGUF, dtype: 'q8', isInPage: true },
  { label: 'transformers.js, fp32, one by one', ...SMOLLM2_ONNX, dtype: 'fp32' },
  { label: 'transformers.js, fp32, lists', ...SMOLLM2_ONNX, dtype: 'fp32', listSize: 8 },
  { label: 'transformers.js, q8, lists', ...SMOLLM2_ONNX, dtype: 'q8', listSize: 8 },
  wllama('smollm2', 'Q4_1'),
  wllama('smollm2', 'Q8_0'),
  wllama('smollm2', 'F16'),
];

export const bench: BenchCase = {
  summary: 'the same weights in transformers.js and wllama; a real model with --model smollm2',
  rounds: 5,
  choices: { backend: ['wasm', 'webgpu'], model: ['storyteller', 'smollm2'] },
  async run(chosen, measure) {
    const isReal = chosen.model === 'smollm2';
    await buildLibraries();
    await MODEL_WRITERS[isReal ? 'smollm2' : 'storyteller']();
    const specs = isReal ? SMOLLM2 : STORYTELLER;
    await withLibraries(chosen, specs, MAX_REQUESTS, (entrants, browser) => {
      const cases = isReal ? realCases() : embeddedCases(chosen.backend);
      return measure({
        key: `${chosen.model} ${chosen.backend}`,
        browser,
        model: isReal ? 'SmolLM2-135M-Instruct' : 'Storyteller (1.1 M parameters)',
        adapter: chosen.backend,
        versions: describeLibraries(),
        note: `Greedy, for at least ${SUSTAINED_MS / 1000} s back to back; each library in a tab of its own, in front while it is measured.`,
        groups: cases.map((each) => groupOf(each, entrants, COLUMNS, chosen)),
        check: wrongRows,
      });
    });
  },
};

function realCases(): readonly Requests[] {
  return [
    { caption: '1 request, prompt of 40 tokens, 32 new ones', requests: atOnce(realPrompts.slice(0, 1), 32) },
    { caption: '8 at once, prompts of 40 tokens, 32 new ones each', requests: atOnce(realPrompts, 32) },
  ];
}

function embeddedCases(backend: BackendName): readonly Requests[] {
  const intervalMs = ARRIVAL_INTERVAL_MS[backend];
  const mixed = shortPrompts.map(({ prompt }, index) => ({
    prompt,
    maxNewTokens: MIXED_LENGTHS[index] ?? 0,
    arrivalMs: index * intervalMs,
  }));
  return [
    { caption: '1 request, 64 tokens', requests: atOnce(shortPrompts.slice(0, 1), 64) },
    { caption: '8 at once, 64 tokens each', requests: atOnce(shortPrompts, 64) },
    { caption: `8 arriving ${intervalMs} ms apart, 8 to 64 tokens`, requests: mixed },
  ];
}

function pipelines(model: string, kind: string): readonly ContenderSpec[] {
  const spec = { library: 'pipeline', model, dtype: 'fp32' } as const;
  return [
    { label: `transformers.js, ${kind}, one by one`, ...spec },
    { label: `transformers.js, ${kind}, lists`, ...spec, listSize: 8 },
  ];
}

function wllama(folder: string, type: string): ContenderSpec {
  const model = `${folder}/model.${type}.gguf`;
  return { label: `wllama, 8 slots, ${type}`, library: 'wllama', model, dtype: 'fp32' };
}
