import { useEffect, useState, type ComponentType } from 'react';

import { latestRun } from '../../state/run.ts';
import { useServeView } from '../../state/serve-context.ts';
import './figures-row.css';

/** Before the first run, what the page is. @param isRecording Whether what is below was recorded. */
export function FiguresRow({ isRecording = false }: { readonly isRecording?: boolean }) {
  const hasRun = useServeView(({ runs }) => latestRun(runs) !== undefined);
  const server = useServeView(({ status: { backend } }) => backend?.name === 'server' && backend.adapter);
  const [FiguresPanel, setPanel] = useState<ComponentType>();
  // At once, though it is shown later: a run may begin offline, and its figures stand in the place of the words without a wait.
  useEffect(() => {
    import('./figures-panel.tsx').then(
      (loaded) => setPanel(() => loaded.FiguresPanel),
      () => {},
    );
  }, []);
  const intro = (
    <p className="figures-intro large wrap">
      A language model runs{' '}
      {server
        ? `at ${server}. This tab sends it your prompts.`
        : 'inside this browser. Every tab you open shares it, and their prompts run together.'}{' '}
      <span className="note" style={{ visibility: isRecording ? 'visible' : 'hidden' }}>
        Until you press Run, this is a recording.
      </span>
    </p>
  );
  return hasRun && FiguresPanel ? <FiguresPanel /> : intro;
}
