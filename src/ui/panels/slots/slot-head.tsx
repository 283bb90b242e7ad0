import { lazy, Suspense, useEffect, useRef } from 'react';
import { useStore } from 'zustand';

import { Term } from '../../parts/term.tsx';
import { watchSettings } from '../watch/watch-settings.ts';
import { useServeView } from '../../state/serve-context.ts';
import { nameOfSender, type Sender } from '../../state/sender.ts';
import { tabColor } from './tab-colors.ts';
import { TimeControls } from './time-controls.tsx';

const ReplayControls = lazy(async () => ({
  default: (await import('./replay-controls.tsx')).ReplayControls,
}));

interface SlotHeadProps {
  readonly titleId: string;
  readonly senders: readonly (Sender | undefined)[];
  readonly isRecording: boolean;
}

/** One line: whose bars these are, and which time is shown. */
export function SlotHead({ titleId, senders, isRecording }: SlotHeadProps) {
  const isReplay = useStore(watchSettings, ({ replay }) => replay !== undefined && !replay.isUnattended);
  const tabs = useServeView(({ status }) => status.tabs);
  const replayRef = useRef<HTMLButtonElement>(null);
  const wasReplay = useRef(false);

  useEffect(() => {
    // The focus was on a control of the replay, which is gone.
    if (wasReplay.current && !isReplay && document.activeElement === document.body)
      replayRef.current?.focus();
    wasReplay.current = isReplay;
  }, [isReplay]);

  return (
    <div className="slots-head cluster">
      <h2 id={titleId}>
        <Term name="slot">K/V slots</Term>
      </h2>
      <ul className="slots-senders note" aria-label="Senders">
        {senders.map((sender) => (
          <li key={sender ?? 'own'}>
            <span className="slots-chip" style={{ background: `var(${tabColor(sender)})` }} />
            {isRecording ? 'Recording' : nameOfSender(sender, tabs)}
          </li>
        ))}
      </ul>
      {isReplay ? (
        <Suspense>
          <ReplayControls />
        </Suspense>
      ) : (
        <TimeControls replayRef={replayRef} isRecording={isRecording} />
      )}
    </div>
  );
}
