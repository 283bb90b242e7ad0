import type { Serve } from '../../worker/client/client.ts';
import { readPermalink } from '../share/permalink.ts';
import type { RequestView } from '../state/request-view.ts';
import type { ServeStore } from '../state/serve-store.ts';
import { Composer } from './composer.ts';
import type { GenerationTexts } from './generation-fields.ts';
import { SAMPLE_PROMPTS } from './sample-prompts.ts';

/** The page's composer, with what its address says, and every result of it kept in the history. */
export function createComposer(serve: Serve, store: ServeStore, hash: string): Composer {
  const { prompt = SAMPLE_PROMPTS[0] ?? '', texts } = readPermalink(hash);
  return new Composer(serve, store, { prompt, texts }, (request, sentTexts) => {
    // Without the code for it, as of a version that is gone from the server, the page still generates.
    void remember(request, sentTexts, store).catch(() => {});
  });
}

/** Loaded with the first result: the database is no part of starting. */
async function remember(request: RequestView, texts: GenerationTexts, store: ServeStore): Promise<void> {
  const { addToHistory } = await import('../history/history-store.ts');
  const finishedAt = new Date().toISOString();
  const { id, prompt, generatedTexts, finishReason, seed, numOutputTokens } = request;
  await addToHistory({
    key: `${finishedAt} ${id}`,
    finishedAt,
    model: store.getState().status.model?.id ?? '',
    prompt,
    texts,
    generatedTexts,
    numOutputTokens,
    ...(finishReason && { finishReason }),
    ...(seed !== undefined && { seed }),
  });
}
