import { lazy, Suspense, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { withPermalink } from '../../state/permalink.ts';
import { saveJson } from '../../browser/save-file.ts';
import { reachOfLink } from '../../parts/reach-of-link.ts';
import { useCopy } from '../../parts/use-copy.ts';
import { useServe } from '../../state/serve-context.ts';
import { useComposer } from '../../state/composer/composer-context.ts';
import { exportDocument } from '../../state/composer/export-document.ts';

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
    const { requests, status } = store.getState();
    const prompt = (followed?.base ?? document).text;
    // With the seed that it had, the text comes out the same.
    const seed = String((followed && requests.get(followed.id)?.seed) ?? '');
    const shared = { prompt, texts: { ...texts, seed: texts.seed || seed }, model: status.model?.id };
    const link = withPermalink(location.href, shared);
    // The address gets the link too, so a reload restores the text.
    history.replaceState(null, '', link);
    void copy(link, `Link copied. It brings back prompt, options, seed and model.${reachOfLink()}`);
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
    <div className="document-actions">
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
