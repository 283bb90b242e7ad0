import { lazy, Suspense, useEffect, useRef, type RefObject } from 'react';
import { useStore } from 'zustand';
import { Term } from '../../parts/term.tsx';
import { watchSettings } from '../watch/watch-settings.ts';
import { useRecordedView, useServe, useServeView } from '../../state/serve-context.ts';
import { nameOfSender, type Sender } from '../../state/sender.ts';
import { tabColor } from './tab-colors.ts';
import { Button } from '../../parts/button.tsx';
import { Popover } from '../../parts/popover.tsx';
import { recordedView } from '../../state/serve-store.ts';
import { pausedAxisOf } from '../watch/time-span.ts';
import { showAll } from '../watch/zoom.ts';
import { replayableRun } from './replayable-run.ts';

const MomentControls = lazy(async () => ({
  default: (await import('./moment-controls.tsx')).MomentControls,
}));
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

interface TimeControlsProps {
  readonly replayRef: RefObject<HTMLButtonElement | null>;
  /** Only a run of this page can be held. */
  readonly isRecording: boolean;
}

function TimeControls({ replayRef, isRecording }: TimeControlsProps) {
  const { store } = useServe();
  const isPaused = useStore(watchSettings, ({ paused }) => paused !== undefined);
  const isZoomed = useStore(watchSettings, ({ zoom }) => zoom !== undefined);
  const canReplay = useRecordedView((view) => replayableRun(view) !== undefined);

  const pause = (): void => {
    watchSettings.setState({ paused: isPaused ? undefined : pausedAxisOf(recordedView(store)) });
  };
  const replay = async (): Promise<void> => {
    const { startReplay } = await import('./replay.ts');
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    startReplay(recordedView(store), !isCalm);
  };

  return (
    <div className="slots-controls row tight note">
      {isZoomed && (
        <Button variant="quiet" onClick={showAll}>
          Show all
        </Button>
      )}
      <Button variant="quiet" aria-pressed={isPaused} disabled={isRecording} onClick={pause}>
        Pause
      </Button>
      <Button variant="quiet" ref={replayRef} disabled={!canReplay} onClick={() => void replay()}>
        Replay
      </Button>
      <Popover label="More slot controls" face="⋯">
        <Suspense>
          <MomentControls />
        </Suspense>
      </Popover>
    </div>
  );
}
