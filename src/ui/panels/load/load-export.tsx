import { useStore } from 'zustand';

import { TEXT_GENERATOR } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { useComposer } from '../../state/composer/composer-context.ts';
import { Popover } from '../../parts/popover.tsx';
import { withPermalink } from '../../state/permalink.ts';
import { saveCsv, saveJson } from '../../browser/save-file.ts';
import { useCopy } from '../../parts/use-copy.ts';
import { loadCsv } from './load-csv.ts';
import { writeLoadForm } from './load-form.ts';
import { saveLoadPicture } from './load-picture.ts';
import { exportLoad, type LoadResults, type LoadSession } from './load-session.ts';
import type { LoadTarget } from './load-target.ts';

const EXPORTS: readonly (readonly [
  title: string,
  save: (results: LoadResults, target: LoadTarget) => void,
])[] = [
  ['Results as JSON', (results, target) => saveJson('tabserve-load.json', exportLoad(results, target))],
  ['Results as CSV', (results) => saveCsv('tabserve-load.csv', loadCsv(results))],
  ['Picture as PNG', (results) => void saveLoadPicture(results)],
];

export function LoadExport({ session }: { readonly session: LoadSession }) {
  const results = useStore(session.store, (view) => view.results);
  return (
    <Popover label="Export" className="lab-export">
      <div className="lab-exports stack">
        {EXPORTS.map(([title, save]) => (
          <Button
            key={title}
            variant="small"
            disabled={!results?.trials.length}
            onClick={() => results && save(results, session.target)}
          >
            {title}
          </Button>
        ))}
        {session.target.deployment === TEXT_GENERATOR && <LinkButton session={session} />}
      </div>
    </Popover>
  );
}

function LinkButton({ session }: { readonly session: LoadSession }) {
  const composer = useComposer();
  const { said, copy } = useCopy('The browser blocked copying. Copy the address instead.');
  const copyLink = (): void => {
    const { document, followed, texts } = composer.store.getState();
    const load = writeLoadForm(session.store.getState().form);
    const prompt = (followed?.base ?? document).text;
    const link = withPermalink(location.href, { prompt, texts, load });
    history.replaceState(null, '', link);
    void copy(link, 'Copied. The link opens this test.');
  };
  return (
    <>
      <Button variant="small" onClick={copyLink}>
        Copy link to scenario
      </Button>
      <output className="note">{said}</output>
    </>
  );
}
