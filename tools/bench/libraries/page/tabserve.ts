import { connect } from '../../../../src/client/client.ts';
import type { BackendInfo, TabserveClient } from '../../../../src/client/index.ts';
import { createWorker } from '../../../../src/ui/create-worker.ts';
import type { BackendName } from '../../bench-case.ts';
import type { Contender, ContenderSpec } from '../contender.ts';

/** The client of the page that draws, or one alone, with the model of a GGUF file, or its own. */
export async function loadTabserve(
  { model, dtype }: ContenderSpec,
  backend: BackendName,
  numSlots: number,
): Promise<Contender> {
  if (dtype === 'q4f16') throw new Error('Tabserve calls that precision q4.');
  // Tabs of one app share a worker, which has one model.
  const name = `bench-${backend}-${dtype}`;
  const options = { worker: createWorker, backend, name, ...(model !== '' && { model: null }) };
  const serve = window.tabserve ?? (await connect(options));
  if (model !== '') {
    const response = await fetch(`models/bench/${model}`);
    await serve.loadModel([new File([await response.blob()], model.replace(/^.*\//, ''))], { dtype });
  }
  return contendWith(serve, numSlots);
}

/**
 * Default knobs, but no prefix caching: the same prompts come in each round and must be prefilled again. A batch larger than the
 * default has the prompts of all its rows in one step, so that it soon decodes together.
 */
async function contendWith(serve: TabserveClient, numSlots: number): Promise<Contender> {
  const { backend, policy } = await serve.ready();
  const isLarge = numSlots > policy.maxBatchSize;
  await serve.configure('text-generator', {
    prefixCaching: false,
    ...(isLarge && { maxBatchSize: numSlots, maxBatchedTokens: 8192, prefillStallMs: Infinity }),
  });
  const generator = serve.getHandle('text-generator');
  return {
    runsOn: placeOf(backend),
    async generate({ prompt, maxNewTokens }, onToken) {
      const response = generator.remote(prompt, { temperature: 0, maxNewTokens, ignoreEos: true });
      for await (const { tokenIds } of response) for (const _ of tokenIds) onToken();
      const { tokenIds } = await response.result();
      return { tokenIds };
    },
  };
}

/** Where a model of ours runs: on the CPU the words name the precision. */
export function placeOf(backend: BackendInfo | undefined): string {
  if (!backend || backend.name === 'wasm') return backend?.adapter ?? '';
  return `${backend.adapter}${backend.isSoftwareAdapter ? ' (software)' : ''}, ${backend.precision}`;
}
