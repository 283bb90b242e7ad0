import { useEffect, useRef } from 'react';

import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { DiskUse } from './disk-use.tsx';
import { HourCharts } from './hour-charts.tsx';
import { LoadedModel } from './loaded-model.tsx';
import { LoggedRequests } from './logged-requests.tsx';
import { useWorkerLog } from './use-worker-log.ts';
import './server-dialog.css';

/** Shows what the worker has done for whom, and the memory and the disk that it takes. It asks for that only while it is open. */
export function ServerDialog({ onClose }: { readonly onClose: () => void }) {
  const dialogRef = useRef<HTMLDialogElement>(null);
  useEffect(() => dialogRef.current?.showModal(), []);
  const { log, refusal } = useWorkerLog();
  return (
    <dialog className="server" ref={dialogRef} aria-labelledby="server-title" onClose={onClose}>
      <div className="panel-head">
        <h2 id="server-title">Requests, memory and disk</h2>
        <form method="dialog">
          <Button type="submit">Close</Button>
        </form>
      </div>
      {refusal && <ErrorLine error={refusal} />}
      {log && (
        <>
          <HourCharts log={log} />
          <LoggedRequests log={log} />
        </>
      )}
      <LoadedModel />
      <DiskUse />
    </dialog>
  );
}
