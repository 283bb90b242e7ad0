import { useEffect, useState } from 'react';

import { afterPaint } from '../../browser/after-paint.ts';
import { useComposerView } from '../../state/composer/composer-context.ts';
import { readPermalink } from '../../state/permalink.ts';
import { latestRun } from '../../state/run.ts';
import { useServeView } from '../../state/serve-context.ts';
import type { ShownRecording } from './recording.ts';

/** What a run looks like, until something runs here. Loaded once the page could run it. Not beside the prompt of a link. */
export function useRecording(): ShownRecording | undefined {
  const isLinked = readPermalink(useComposerView((view) => view.linkHash)).prompt !== undefined;
  const hasNoRun = useServeView(
    ({ status, runs }) =>
      status.state === 'ready' && status.backend?.name !== 'server' && latestRun(runs) === undefined,
  );
  const isIdle = hasNoRun && !isLinked;
  const [recording, setRecording] = useState<ShownRecording>();
  useEffect(() => {
    if (!isIdle) return undefined;
    const end = new AbortController();
    const show = async (): Promise<void> => {
      await afterPaint();
      const { readRecording, playRecording } = await import('./play-recording.ts');
      const { RecordedRun } = await import('./recorded-run.tsx');
      if (end.signal.aborted) return;
      const read = readRecording();
      setRecording({ ...read, Texts: RecordedRun });
      playRecording(read, end.signal);
    };
    // The page runs prompts without it.
    show().catch(() => undefined);
    return () => end.abort();
  }, [isIdle]);
  return isIdle ? recording : undefined;
}
