import { Wllama } from '@wllama/wllama/esm/index.js';
import wasmUrl from '@wllama/wllama/esm/wasm/wllama.wasm?url';

import type { BackendName } from '../../bench-case.ts';
import { describeCpu, type Contender, type ContenderSpec } from '../contender.ts';

/**
 * wllama with a GGUF file and as many slots as there are requests. It shares its context out among them; a cache of its own for
 * each slot, of Storyteller's whole context, is the faster of its two layouts.
 */
export async function loadWllama(
  { model }: ContenderSpec,
  backend: BackendName,
  numSlots: number,
): Promise<Contender> {
  const log: string[] = [];
  const keep = (...parts: readonly unknown[]): void => void log.push(parts.map(String).join(' '));
  const wllama = new Wllama(
    { default: wasmUrl },
    { logger: { debug: keep, log: keep, warn: keep, error: keep } },
  );
  const file = await fetch(`models/bench/${model}`);
  await wllama.loadModel([await file.blob()], {
    n_parallel: numSlots,
    n_ctx: numSlots * 512,
    kv_unified: false,
    ...(backend === 'wasm' && { n_gpu_layers: 0 }),
  });
  return {
    runsOn: await describeDevices(log, wllama.getNumThreads(), backend),
    async generate({ prompt, maxNewTokens }, onToken) {
      const request = {
        prompt,
        max_tokens: maxNewTokens,
        temperature: 0,
        stream: true,
        // The same prompts come in each round and must be prefilled again.
        cache_prompt: false,
      } as const;
      let text = '';
      let numTokens = 0;
      for await (const { choices, usage } of await wllama.createCompletion(request)) {
        const piece = choices[0]?.text ?? '';
        if (piece !== '') onToken();
        text += piece;
        numTokens = usage?.completion_tokens ?? numTokens;
      }
      return { text, numTokens };
    },
  };
}

/** Only its log shows whether a GPU holds the weights: without `shader-f16` it takes the CPU and reports no error. */
async function describeDevices(
  log: readonly string[],
  numThreads: number,
  backend: BackendName,
): Promise<string> {
  const devices = log.flatMap((line) => /load_tensors:\s+(\S+) model buffer size/.exec(line)?.[1] ?? []);
  // The embeddings are on the CPU wherever the layers are.
  const gpus = devices.filter((device) => device !== 'CPU');
  if (gpus.length > 0) return gpus.join(' and ');
  const cpu = describeCpu(numThreads);
  if (backend === 'wasm') return cpu;
  const adapter = await navigator.gpu.requestAdapter();
  const reason = adapter?.features.has('shader-f16') ? 'it took no GPU' : 'the adapter has no shader-f16';
  return `${cpu}: ${reason}`;
}
