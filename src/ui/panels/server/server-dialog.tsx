import { ErrorLine } from '../../parts/error-line.tsx';
import { Modal } from '../../parts/modal.tsx';
import { DiskUse } from './disk-use.tsx';
import { HourCharts } from './hour-charts.tsx';
import { LoadedModels } from './loaded-models.tsx';
import { LoggedRequests } from './logged-requests.tsx';
import './server-dialog.css';
import { useEffect, useState } from 'react';
import type { WireError, WorkerLog } from '../../../client/index.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useServe } from '../../state/serve-context.ts';
import { mergeLogs } from './merge-logs.ts';

/** Shows what the worker has done for whom, and the memory and the disk that it takes. It asks for that only while it is open. */
export function ServerDialog({ onClose }: { readonly onClose: () => void }) {
  const { log, refusal } = useWorkerLog();
  return (
    <Modal className="server" title="Requests, memory and disk" onClose={onClose}>
      {refusal && <ErrorLine error={refusal} />}
      {log && (
        <>
          <HourCharts log={log} />
          <LoggedRequests log={log} />
        </>
      )}
      <LoadedModels />
      <DiskUse />
    </Modal>
  );
}

/** Each answer has only what came since the one before. */
const INTERVAL_MS = 2000;

/** Follows the worker's log while it is shown. */
function useWorkerLog(): {
  readonly log: WorkerLog | undefined;
  readonly refusal: WireError | undefined;
} {
  const { serve } = useServe();
  const [log, setLog] = useState<WorkerLog>();
  const { refusal, attempt } = useAttempt();
  useEffect(() => {
    let known: WorkerLog | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ending = new AbortController();
    const read = async (): Promise<void> => {
      if (document.visibilityState === 'visible')
        await attempt(async () => {
          known = mergeLogs(known, await serve.workerLog(known?.cursor));
          if (!ending.signal.aborted) setLog(known);
        });
      if (!ending.signal.aborted) timer = setTimeout(() => void read(), INTERVAL_MS);
    };
    void read();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [serve, attempt]);
  return { log, refusal };
}
