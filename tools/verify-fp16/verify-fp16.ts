import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import reference from '../../e2e/fixtures/storyteller-reference.json' with { type: 'json' };
import { readModel } from '../../src/worker/models/families.ts';
import { memoryFile } from '../../src/worker/models/checkpoint/checkpoint-files.ts';
import { packInMemory } from '../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../src/worker/models/checkpoint/open-checkpoint.ts';
import type { Precision } from '../../src/worker/models/checkpoint/packed-weights.ts';
import { limitsOf } from '../../src/worker/runtime/create-backend.ts';
import { requestGpuDevice } from '../../src/worker/runtime/webgpu/gpu-device.ts';
import { WebGpuBackend } from '../../src/worker/runtime/webgpu/webgpu-backend.ts';
import { ReferenceRun, type ReferencePrompt } from './reference-run.ts';

interface CheckResult {
  readonly claim: string;
  readonly figure: string;
  readonly isPass: boolean;
}

const MODEL_FOLDER = new URL('../../public/models/storyteller/', import.meta.url);
const WEIGHTS = new Uint8Array(readFileSync(new URL('model.safetensors', MODEL_FOLDER)));
const MODEL = readModel(JSON.parse(readFileSync(new URL('config.json', MODEL_FOLDER), 'utf8')), undefined);

/** Largest relative error of logits: float16 keeps 11 bits, float32 is what the WASM tests ask for. */
const TOLERANCE: Readonly<Record<Precision, number>> = { float32: 1e-3, float16: 5e-3 };
const NUM_GREEDY_TOKENS = 32;
/** Attention switches kernels at 32 tokens and at the first token over a past. */
const CHUNK_LENGTHS = [70, 1, 79];

refuseOtherWeights();
const precisions = (['float32', 'float16'] as const).filter((name) => (process.argv[2] ?? name) === name);
let isPass = precisions.length > 0;
for (const precision of precisions) {
  isPass = (await verify(precision)) && isPass;
}
// Dawn keeps Node alive.
process.exit(isPass ? 0 : 1);

function refuseOtherWeights(): void {
  const sha256 = createHash('sha256').update(WEIGHTS).digest('hex');
  if (sha256 !== reference.weightsSha256) {
    throw new Error('The fixture was made with other weights: run tools/train-storyteller first.');
  }
}

async function verify(precision: Precision): Promise<boolean> {
  const backend = await createBackend(precision);
  let areAllPasses = true;
  for await (const { claim, figure, isPass: passes } of check(backend, TOLERANCE[precision])) {
    console.log(`${passes ? 'ok  ' : 'FAIL'} ${precision} ${figure.padStart(9)}  ${claim}`);
    areAllPasses &&= passes;
  }
  await backend.release();
  return areAllPasses;
}

async function createBackend(precision: Precision): Promise<WebGpuBackend> {
  const gpu = await requestGpuDevice('fp16');
  const { device, adapterName, hasShaderF16 } = gpu;
  const { subgroupMinSize, subgroupMaxSize } = device.adapterInfo;
  console.log(`${adapterName}: subgroups of ${subgroupMinSize} to ${subgroupMaxSize}`);
  console.log(`features: ${[...device.features].toSorted().join(', ')}`);
  if (!hasShaderF16) throw new Error('Expected an adapter with `shader-f16`: choose one as README.md says.');
  const checkpoint = await openCheckpoint({
    open: (name) => Promise.resolve(memoryFile(name, readFileSync(new URL(name, MODEL_FOLDER)))),
  });
  const plan = planModel(
    checkpoint,
    precision === 'float16' ? 'fp16' : 'fp32',
    limitsOf({ gpu, rung: 'webgpu-fp16', fallbackReason: '' }),
  );
  return WebGpuBackend.create({ gpu, model: MODEL, ...(await packInMemory(checkpoint, plan)) });
}

async function* check(backend: WebGpuBackend, tolerance: number): AsyncGenerator<CheckResult> {
  const run = new ReferenceRun(backend, MODEL.config.vocabSize);
  const asResult = (claim: string, error: number): CheckResult => ({
    claim,
    figure: error.toExponential(2),
    isPass: error <= tolerance,
  });
  const { prompts, longPrompt } = reference;
  for (const prompt of [...prompts, longPrompt]) {
    const claim = `logits after ${prompt.promptTokenIds.length} tokens: “${prompt.prompt.slice(0, 40)}”`;
    yield asResult(claim, await run.prefillError(prompt));
  }
  const error = await run.prefillError(longPrompt, CHUNK_LENGTHS);
  yield asResult(`logits of the long prompt in chunks of ${CHUNK_LENGTHS.join(', ')}`, error);
  const [, second] = prompts;
  if (!second) throw new Error('The fixture has fewer than two prompts.');
  const pair = [second, longPrompt] as const;
  const pairTokens = await run.greedyPair(pair, NUM_GREEDY_TOKENS);
  yield compareTokens('two rows, one moved, cache grown', pair, pairTokens, tolerance);
  const all = [...prompts, longPrompt];
  const allTokens = await run.greedyAll(all, NUM_GREEDY_TOKENS);
  yield compareTokens('all rows in one batch', all, allTokens, tolerance);
}

/** A row may differ only where PyTorch's own choice was closer than twice the error that is allowed to a logit. */
function compareTokens(
  claim: string,
  prompts: readonly ReferencePrompt[],
  generated: readonly (readonly number[])[],
  tolerance: number,
): CheckResult {
  const isEqual = prompts.map(({ greedyTokenIds }, i) => greedyTokenIds.join() === generated[i]?.join());
  const isClose = prompts.map(
    ({ minGreedyMargin, top20 }) => minGreedyMargin < 2 * tolerance * Math.max(...top20.logits.map(Math.abs)),
  );
  return {
    claim: `rows with PyTorch's ${NUM_GREEDY_TOKENS} greedy tokens: ${claim}`,
    figure: `${isEqual.filter(Boolean).length}/${prompts.length}`,
    isPass: prompts.every((_, i) => isEqual[i] || isClose[i]),
  };
}
