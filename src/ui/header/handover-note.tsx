import { useEffect, useState } from 'react';

import { Button } from '../parts/button.tsx';
import type { Handover } from '../state/handover.ts';
import { useServe } from '../state/serve-context.ts';
import { describeHandover } from './describe-handover.ts';
import './handover-note.css';
import { useSeconds } from './use-seconds.ts';

/** Shown over the page until it is closed or another run begins. */
export function HandoverNote({ handover }: { readonly handover: Handover }) {
  const { store } = useServe();
  const [closed, setClosed] = useState<Handover>();
  const nowMs = useSeconds();
  useEffect(() => {
    const isOfRun = ({ startedAtMs }: { startedAtMs: number }): boolean => startedAtMs > handover.startedAtMs;
    return store.subscribe(({ runs }) => {
      if (runs.prompts && isOfRun(runs.prompts)) setClosed(handover);
    });
  }, [store, handover]);
  if (closed === handover) return null;
  return (
    <aside className="handover-note row" aria-label="Handover">
      <span>{describeHandover(handover, nowMs)}</span>
      <Button variant="quiet" onClick={() => setClosed(handover)}>
        Close
      </Button>
    </aside>
  );
}
