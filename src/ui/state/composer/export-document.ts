import type { ServeView } from '../serve-store.ts';
import type { ComposerView } from './composer.ts';
import { parseGeneration } from '../typed-options.ts';

/** The document with everything known about how it was made, as plain data. */
export function exportDocument({ document, followed, texts }: ComposerView, { requests, status }: ServeView) {
  const request = followed && requests.get(followed.id);
  return {
    text: document.text,
    segments: document.segments,
    // The options of the shown continuation: the form may have others by now.
    options: parseGeneration(followed?.texts ?? texts).options,
    model: status.model?.id,
    backend: status.backend,
    ...(request && {
      continuation: {
        prompt: request.prompt,
        generatedTexts: request.generatedTexts,
        status: request.status,
        finishReason: request.finishReason,
        seed: request.seed,
        numOutputTokens: request.numOutputTokens,
        queueWaitMs: request.queueWaitMs,
        ttftMs: request.ttftMs,
        tokensPerSecond: request.tokensPerSecond,
      },
    }),
  };
}
