import type { BenchCase } from '../bench-case.ts';
import { buildLibraries } from '../libraries/build-libraries.ts';
import type { ContenderSpec } from '../libraries/contender.ts';
import { describeLibraries } from '../libraries/describe-libraries.ts';
import { withLibraries } from '../libraries/with-libraries.ts';
import { MODEL_WRITERS, writeStorytellerGguf } from '../libraries/write-models.ts';
import type { Column } from '../record.ts';
import { smollm2Prompts } from '../smollm2.ts';
import { atOnce, groupOf, wrongRows, type Requests } from './library-groups.ts';
import { realPrompts, shortPrompts } from './reference.ts';

type Precision = 'fp32' | 'fp16' | 'q4';

/** llama.cpp's types, and transformers.js' names. On a GPU, its q4 computes in fp16. */
const GGUF_TYPES = { fp32: 'F16', fp16: 'F16', q4: 'Q4_1' } as const;
const ONNX_DTYPES = { fp32: 'fp32', fp16: 'fp16', q4: 'q4f16' } as const;

/**
 * The least share of tokens before an answer's first difference from PyTorch's in fp32. Rounding chooses another token sooner or
 * later; a wrong kernel at once.
 */
const LEAST_SAME: Readonly<Record<Precision, number>> = { fp32: 0.9, fp16: 0.4, q4: 0.05 };

const ALONE = { dtype: 'fp32', listSize: 1 } as const;
const NUM_NEW_TOKENS = 64;
const ROWS = [1, 8, 32];

const COLUMNS: readonly Column[] = [
  { name: 'decode tokens/s', digits: 1, shows: 'p50' },
  { name: 'between tokens', unit: 'ms', digits: 1, shows: 'p50 / p95' },
  { name: 'TTFT', unit: 'ms', digits: 0, shows: 'p50 / p95' },
  { name: 'until all have begun', unit: 'ms', digits: 0, shows: 'p50' },
  { name: 'tokens as PyTorch', unit: '%', digits: 0, shows: 'mean' },
];

export const bench: BenchCase = {
  summary: 'tokens per second over the number of requests on a GPU, beside transformers.js and wllama',
  rounds: 3,
  choices: { backend: ['webgpu'], precision: ['fp16', 'fp32', 'q4'] },
  async run(chosen, measure) {
    const { isShort } = chosen;
    const precision = chosen.precision === 'q8' || isShort ? 'fp32' : chosen.precision;
    await buildLibraries();
    // A short run needs no Python, which exports what transformers.js reads.
    await (isShort ? writeStorytellerGguf() : MODEL_WRITERS.smollm2());
    const rows = isShort ? [1, 4] : ROWS;
    await withLibraries(
      chosen,
      isShort ? shortSpecs() : specsOf(precision),
      Math.max(...rows),
      (entrants, browser) => {
        const own = entrants.find(({ spec }) => spec.library === 'tabserve')?.runsOn ?? '';
        const cases = rows.flatMap((count) =>
          isShort
            ? [requestsOf('short prompts', shortPrompts, count)]
            : [
                requestsOf('prompts of 40 tokens', realPrompts, count),
                requestsOf('prompts of 400 tokens', smollm2Prompts(400, 16), count),
              ],
        );
        return measure({
          key: `smollm2 ${precision}`,
          browser,
          model: isShort ? 'Storyteller' : 'SmolLM2-135M-Instruct',
          adapter: `webgpu, ${own}`,
          versions: describeLibraries(),
          note: `${NUM_NEW_TOKENS} new tokens each. Decoding counts the tokens that come while all requests decode.`,
          isSoftware: own.includes('(software)'),
          groups: cases.map((each) => groupOf(each, entrants, COLUMNS, chosen)),
          check: (groups) => wrongRows(groups, LEAST_SAME[precision]),
        });
      },
    );
  },
};

function specsOf(precision: Precision): readonly ContenderSpec[] {
  const gguf = GGUF_TYPES[precision];
  const onnx = {
    library: 'pipeline',
    model: 'smollm2/onnx-model',
    dtype: ONNX_DTYPES[precision],
  } as const;
  const model = 'smollm2/model.Q4_1.gguf';
  return [
    { label: 'Tabserve', library: 'tabserve', model, dtype: precision, listSize: 1 },
    { label: 'transformers.js, lists', ...onnx, listSize: Math.max(...ROWS) },
    { label: `wllama, ${gguf}`, library: 'wllama', model: `smollm2/model.${gguf}.gguf`, ...ALONE },
  ];
}

function shortSpecs(): readonly ContenderSpec[] {
  return [
    { label: 'Tabserve', library: 'tabserve', model: '', ...ALONE },
    { label: 'wllama, F32', library: 'wllama', model: 'storyteller/model.F32.gguf', ...ALONE },
  ];
}

/** Prompts come again if there are too few. */
function requestsOf(
  caption: string,
  prompts: readonly { readonly prompt: string }[],
  count: number,
): Requests {
  const repeated = Array.from({ length: count }, () => prompts).flat();
  return {
    caption: `${count} at once, ${caption}`,
    requests: atOnce(repeated.slice(0, count), NUM_NEW_TOKENS),
  };
}
