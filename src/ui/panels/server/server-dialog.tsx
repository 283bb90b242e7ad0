import { ErrorLine } from '../../parts/error-line.tsx';
import { Modal } from '../../parts/modal.tsx';
import { DiskUse } from './disk-use.tsx';
import { HourCharts } from './hour-charts.tsx';
import { LoadedModel } from './loaded-model.tsx';
import { LoggedRequests } from './logged-requests.tsx';
import { useWorkerLog } from './use-worker-log.ts';
import './server-dialog.css';

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
      <LoadedModel />
      <DiskUse />
    </Modal>
  );
}
