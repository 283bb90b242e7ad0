import type { BrowserContext } from 'playwright/test';

import { chatCheckpoint } from '../../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { createRepository } from '../../tools/hub-server/hub-repository.ts';
import { startHubServer } from '../../tools/hub-server/hub-server.ts';

/** A generated model under the name of the one that examples load: no request leaves this machine. */
export async function standInForHub(context: BrowserContext): Promise<() => Promise<void>> {
  const hub = await startHubServer([
    createRepository('HuggingFaceTB/SmolLM2-135M-Instruct', chatCheckpoint()),
  ]);
  await context.route('https://huggingface.co/**', async (route) => {
    const { pathname, search } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: hub.url + pathname + search }) });
  });
  return () => hub.close();
}
