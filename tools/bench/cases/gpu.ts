import type { BackendName, BenchCase } from '../bench-case.ts';
import { buildLibraries } from '../libraries/build-libraries.ts';
import type { ContenderSpec } from '../libraries/contender.ts';
import { describeLibraries } from '../libraries/describe-libraries.ts';
import { withLibraries } from '../libraries/with-libraries.ts';
import { MODEL_WRITERS, writeStorytellerGguf } from '../libraries/write-models.ts';
import type { Dtype } from '../../../src/protocol/models.ts';
import type { Column } from '../record.ts';
import { smollm2Prompts } from '../smollm2.ts';
import { atOnce, groupOf, wrongRows, type Requests } from './library-groups.ts';
import { SMOLLM2_GGUF, SMOLLM2_ONNX, STORYTELLER } from './peers.ts';
import { realPrompts, shortPrompts } from './reference.ts';

/** llama.cpp's types, and transformers.js' names. On a GPU, its q4 computes in fp16. */
const GGUF_TYPES = { fp32: 'F16', fp16: 'F16', q8: 'Q8_0', q4: 'Q4_1' } as const;
const ONNX_DTYPES = { fp32: 'fp32', fp16: 'fp16', q8: 'q8', q4: 'q4f16' } as const;

/**
 * On a GPU, the least share of tokens before an answer's first difference from PyTorch's in fp32. Rounding chooses another token sooner
 * or later; a wrong kernel at once, and onnxruntime's q8 on a CPU too.
 */
const LEAST_SAME: Readonly<Record<Dtype, number>> = { fp32: 0.9, fp16: 0.4, q8: 0.05, q4: 0.05 };

const OF_STORYTELLER = STORYTELLER.filter(({ library }) => library !== 'pipeline');
const NUM_NEW_TOKENS = 64;
const ROWS = { webgpu: [1, 8, 32], wasm: [1, 8] } as const;
/** Tokens of a prompt. Those of more than 400 are joined from prompts of 400. */
const LENGTHS = [40, 400, 2000, 4000, 8000];
/** Of all prompts together. transformers.js needs two minutes for one of 2,000 on a CPU. */
const MOST_TOKENS = { webgpu: 64_000, wasm: 3200 } as const;

const COLUMNS: readonly Column[] = [
  { name: 'decode tokens/s', digits: 1, shows: 'p50' },
  { name: 'tokens/s', digits: 1, shows: 'p50' },
  { name: 'between tokens', unit: 'ms', digits: 1, shows: 'p50 / p95' },
  { name: 'TTFT', unit: 'ms', digits: 0, shows: 'p50 / p95' },
  { name: 'tokens as PyTorch', unit: '%', digits: 0, shows: 'mean' },
];

export const bench: BenchCase = {
  summary: 'rates over the number of requests and the length of prompts, beside transformers.js and wllama',
  rounds: 3,
  choices: { backend: ['webgpu', 'wasm'], precision: ['fp16', 'fp32', 'q8', 'q4'] },
  async run(chosen, measure) {
    const { backend, isShort } = chosen;
    const precision = isShort ? 'fp32' : chosen.precision;
    await buildLibraries();
    // A short run needs no Python, which exports what transformers.js reads.
    await (isShort ? writeStorytellerGguf() : MODEL_WRITERS.smollm2());
    const rows = isShort ? [1, 8] : ROWS[backend];
    await withLibraries(
      chosen,
      isShort ? OF_STORYTELLER : specsOf(backend, precision),
      Math.max(...rows),
      (entrants, browser) => {
        const own = entrants.find(({ spec }) => spec.library === 'tabserve')?.runsOn ?? '';
        const cases = rows.flatMap((count) =>
          isShort
            ? [requestsOf('short prompts', shortPrompts, count)]
            : LENGTHS.filter((length) => count * length <= MOST_TOKENS[backend]).map((length) =>
                requestsOf(`prompts of ${length} tokens`, promptsOf(length), count),
              ),
        );
        return measure({
          key: `smollm2 ${backend === 'wasm' ? 'wasm ' : ''}${precision}`,
          browser,
          model: isShort ? 'Storyteller' : 'SmolLM2-135M-Instruct',
          adapter: `${backend}, ${own}`,
          versions: describeLibraries(),
          note: `${NUM_NEW_TOKENS} new tokens each. Decoding counts the tokens that come while all requests decode.`,
          isSoftware: own.includes('(software)'),
          groups: cases.map((each) => groupOf(each, entrants, COLUMNS, chosen)),
          check: (groups) => wrongRows(groups, backend === 'webgpu' ? LEAST_SAME[precision] : 0),
        });
      },
    );
  },
};

function specsOf(backend: BackendName, precision: Dtype): readonly ContenderSpec[] {
  const [gguf, dtype] = [GGUF_TYPES[precision], ONNX_DTYPES[precision]];
  const specs: readonly ContenderSpec[] = [
    { label: 'Tabserve', ...SMOLLM2_GGUF, dtype: precision },
    { label: 'transformers.js, lists', ...SMOLLM2_ONNX, dtype, listSize: 32 },
    { label: `wllama, ${gguf}`, library: 'wllama', model: `smollm2/model.${gguf}.gguf`, dtype: 'fp32' },
  ];
  // wllama reads fifteen tokens a second on a CPU.
  return backend === 'wasm' ? specs.slice(0, 2) : specs;
}

type Prompts = readonly { readonly prompt: string }[];

function promptsOf(length: number): Prompts {
  if (length === 40) return realPrompts;
  const texts = smollm2Prompts(400, 16).map(({ prompt }) => prompt);
  return texts.map((_, at) => ({
    prompt: Array.from({ length: length / 400 }, (__, part) => texts[(at + part) % texts.length]).join(' '),
  }));
}

/** Prompts come again if there are too few. */
function requestsOf(caption: string, prompts: Prompts, count: number): Requests {
  const repeated = Array.from({ length: count }, () => prompts).flat();
  const requests = atOnce(repeated.slice(0, count), NUM_NEW_TOKENS);
  return { caption: `${count} at once, ${caption}`, requests };
}
