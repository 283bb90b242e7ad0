import type { Page } from 'playwright';

import { decoderCheckpoint } from '../../hub-server/checkpoints/decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from '../../hub-server/checkpoints/generated-checkpoint.ts';
import type { TabserveStatus } from '../../../src/protocol/status.ts';

/** The embedded model's depth and width. */
const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  bos_token_id: 2047,
  eos_token_id: 2047,
  hidden_act: 'silu',
  hidden_size: 128,
  intermediate_size: 384,
  max_position_embeddings: 512,
  num_attention_heads: 4,
  num_hidden_layers: 4,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
  vocab_size: 2048,
} as const;

/** A checkpoint of Llama's shape with random weights. */
export function llamaStandIn(): GeneratedCheckpoint {
  return decoderCheckpoint({
    config: CONFIG,
    generationConfig: { eos_token_id: CONFIG.eos_token_id },
    tokenizerClass: 'PreTrainedTokenizerFast',
    seed: 1,
  });
}

/** Opens a generated checkpoint in the page, as if its user had picked the folder. */
export async function loadStandIn(
  page: Page,
  name: string,
  checkpoint: GeneratedCheckpoint,
): Promise<TabserveStatus> {
  const folder = `**/${name}/*`;
  await page.route(folder, async (route) => {
    const file = checkpoint.get(new URL(route.request().url()).pathname.split('/').at(-1) ?? '');
    if (!file) return route.fulfill({ status: 404 });
    return route.fulfill({ body: Buffer.from(file.read(0, file.size)) });
  });
  const status = await page.evaluate(openFolder, { name, fileNames: [...checkpoint.keys()] });
  await page.unroute(folder);
  return status;
}

/** Runs in the page. */
async function openFolder({
  name,
  fileNames,
}: {
  readonly name: string;
  readonly fileNames: readonly string[];
}): Promise<TabserveStatus> {
  const files = await Promise.all(
    fileNames.map(async (fileName) => {
      const response = await fetch(`/${name}/${fileName}`);
      const file = new File([await response.blob()], fileName);
      // A picked folder sets this path. The model is named after the folder.
      return Object.defineProperty(file, 'webkitRelativePath', { value: `${name}/${fileName}` });
    }),
  );
  return window.tabserve.loadModel(files);
}
