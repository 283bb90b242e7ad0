import type { GenerationResponse, TabserveClient } from '../../../../src/client/index.ts';
import type { Contender } from '../contender.ts';

/** Tabserve with default knobs, but without prefix caching: the same prompts come in each round and must be prefilled again. */
export async function contendWith(serve: TabserveClient): Promise<Contender> {
  const { backend: info } = await serve.ready();
  await serve.configure('text-generator', { prefixCaching: false });
  const generator = serve.getHandle('text-generator');
  return {
    runsOn: `${info?.adapter}, ${info?.precision}`,
    async generate({ prompt, maxNewTokens }, onToken) {
      const response = generator.remote(prompt, { temperature: 0, maxNewTokens });
      void firstChunk(response).then(onToken);
      const { tokenIds } = await response.result();
      return { tokenIds };
    },
  };
}

async function firstChunk(response: GenerationResponse): Promise<void> {
  for await (const _ of response) return;
}
