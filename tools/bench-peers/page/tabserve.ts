import { connect, type GenerationResponse } from '../../../src/worker/client/client.ts';
import type { BackendName, Contender } from '../contender.ts';

/** Tabserve as the page uses it: a worker, default knobs. The same prompts come in each round, so their prefill is not spared. */
export async function loadTabserve(backend: BackendName): Promise<Contender> {
  const serve = await connect({ backend });
  const { backend: info } = await serve.ready();
  await serve.configure('text-generator', { prefixCaching: false });
  const generator = serve.getHandle('text-generator');
  return {
    runsOn: `${info?.adapter}, ${info?.precision}`,
    async generate({ prompt, maxNewTokens }, onFirstToken) {
      const response = generator.remote(prompt, { temperature: 0, maxNewTokens });
      void firstChunk(response).then(onFirstToken);
      const { tokenIds } = await response.result();
      return { tokenIds };
    },
  };
}

async function firstChunk(response: GenerationResponse): Promise<void> {
  for await (const _ of response) return;
}
