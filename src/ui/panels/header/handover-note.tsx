import { useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { useServeView } from '../../state/serve-context.ts';
import type { Handover } from '../../state/handover.ts';
import { describeHandover } from './describe-handover.ts';
import { useSeconds } from './use-seconds.ts';

const SHOWN_MS = 20_000;

/** Shown over the page for a while, or until it is closed. The chip's box keeps it. */
export function HandoverNote({ handover }: { readonly handover: Handover }) {
  const [closed, setClosed] = useState<Handover>();
  const nowMs = useSeconds();
  const failure = useServeView(({ status }) => status.loadFailure?.error);
  if (closed === handover || nowMs - handover.startedAtMs > SHOWN_MS) return null;
  return (
    <aside className="floating-note row" aria-label="Handover">
      <span>
        {describeHandover(handover, nowMs)} {failure?.code === 'MODEL_DELETED' && failure.message}
      </span>
      <Button variant="quiet" onClick={() => setClosed(handover)}>
        Close
      </Button>
    </aside>
  );
}
