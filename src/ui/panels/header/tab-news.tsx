import { useEffect, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { useServeView } from '../../state/serve-context.ts';
import type { Handover } from '../../state/handover.ts';
import { numberOfThis } from '../../state/sender.ts';
import { describeHandover } from './describe-handover.ts';
import { useSeconds } from './use-seconds.ts';

const SHOWN_MS = 20_000;
const TITLE = document.title;

/** The number of this tab in its title, so that the browser's own bar tells the tabs apart, and the last handover. */
export function TabNews() {
  const number = useServeView(({ status }) => numberOfThis(status.tabs));
  useEffect(() => {
    document.title = number !== undefined ? `Tab ${number} · ${TITLE}` : TITLE;
    return () => void (document.title = TITLE);
  }, [number]);
  const handover = useServeView(({ handover: last, status }) => {
    const isNews = last && (last.requestIds.size > 0 || status.loadFailure?.error.code === 'MODEL_DELETED');
    return isNews && status.state === 'ready' ? last : undefined;
  });
  return handover && <HandoverNote handover={handover} />;
}

/** Shown over the page for a while, or until it is closed. The chip's box keeps it. */
function HandoverNote({ handover }: { readonly handover: Handover }) {
  const [closed, setClosed] = useState<Handover>();
  const nowMs = useSeconds();
  const tabs = useServeView(({ status }) => status.tabs);
  const failure = useServeView(({ status }) => status.loadFailure?.error);
  if (closed === handover || nowMs - handover.startedAtMs > SHOWN_MS) return null;
  return (
    <aside className="floating-note row" aria-label="Handover">
      <span>
        {describeHandover(handover, tabs, nowMs)} {failure?.code === 'MODEL_DELETED' && failure.message}
      </span>
      <Button variant="quiet" onClick={() => setClosed(handover)}>
        Close
      </Button>
    </aside>
  );
}
