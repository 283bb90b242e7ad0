import { lazy, Suspense, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { withPermalink } from '../../state/permalink.ts';
import { saveJson } from '../../browser/save-file.ts';
import { useCopy } from '../../parts/use-copy.ts';
import { useServe } from '../../state/serve-context.ts';
import type { ServeView } from '../../state/serve-store.ts';
import { useComposer } from '../../state/composer/composer-context.ts';
import type { ComposerView } from '../../state/composer/composer.ts';
import { parseGeneration } from '../../state/generation-fields.ts';

const HistoryDialog = lazy(async () => ({
  default: (await import('./history-dialog.tsx')).HistoryDialog,
}));

export function DocumentActions() {
  const composer = useComposer();
  const { store } = useServe();
  const { said, copy } = useCopy();
  const [isHistoryOpen, setIsHistoryOpen] = useState(false);

  const copyLink = (): void => {
    const { document, followed, texts } = composer.store.getState();
    const prompt = (followed?.base ?? document).text;
    const link = withPermalink(location.href, { prompt, texts });
    // The address gets the link too, so a reload restores the text.
    history.replaceState(null, '', link);
    void copy(link, 'Link copied. It brings back prompt and options.');
  };

  const exportJson = (): void =>
    saveJson('tabserve-text.json', exportDocument(composer.store.getState(), store.getState()));
  const actions = [
    ['Copy text', () => void copy(composer.store.getState().document.text, 'Text copied.')],
    ['Copy link', copyLink],
    ['Export JSON', exportJson],
    ['History', () => setIsHistoryOpen(true)],
  ] as const;

  return (
    <div className="actions document-actions">
      {actions.map(([title, act]) => (
        <Button key={title} variant="quiet" onClick={act}>
          {title}
        </Button>
      ))}
      <output className="note">{said}</output>
      {isHistoryOpen && (
        <Suspense>
          <HistoryDialog onClose={() => setIsHistoryOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** The document with everything known about how it was made, as plain data. */
function exportDocument({ document, followed, texts }: ComposerView, { requests, status }: ServeView) {
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
