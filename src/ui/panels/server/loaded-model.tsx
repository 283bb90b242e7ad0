import { useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatBytes } from '../../parts/format.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useIsServer, useServe, useServeView } from '../../state/serve-context.ts';

/** The model that generates, and a way to free its memory. */
export function LoadedModel() {
  const { serve } = useServe();
  const { model, isEjected, load, state } = useServeView(({ status }) => status);
  const isJobRunning = useServeView(({ requests }) =>
    [...requests.values()].some(
      ({ sender, status }) => sender === 'Jobs' && (status === 'running' || status === 'waiting'),
    ),
  );
  const isServer = useIsServer();
  const [isEjecting, setIsEjecting] = useState(false);
  const { refusal, attempt } = useAttempt();
  if (!model || isServer) return null;
  const eject = async (): Promise<void> => {
    setIsEjecting(true);
    await attempt(() => serve.ejectModel());
    setIsEjecting(false);
  };
  const canEject = state === 'ready' && !isEjected && !load && !isEjecting && !isJobRunning;
  return (
    <section className="ruled-off" aria-labelledby="loaded-title">
      <h3 id="loaded-title">Memory</h3>
      <div className="row">
        <output className="stored-name wrap grow">
          {model.id}{' '}
          <small className="muted">
            {describe({
              isEjected: isEjected === true,
              isEjecting,
              isJobRunning,
              isLoading: load !== undefined,
              memoryBytes: model.memoryBytes,
            })}
          </small>
        </output>
        <Button disabled={!canEject} onClick={() => void eject()}>
          Eject
        </Button>
      </div>
      {refusal && <ErrorLine error={refusal} />}
    </section>
  );
}

interface MemoryState {
  readonly isEjected: boolean;
  readonly isEjecting: boolean;
  readonly isJobRunning: boolean;
  readonly isLoading: boolean;
  readonly memoryBytes: number | undefined;
}

function describe({ isEjected, isEjecting, isJobRunning, isLoading, memoryBytes }: MemoryState): string {
  if (isEjecting) return 'Goes when the texts that run have ended.';
  if (isEjected) return isLoading ? 'Loads again.' : 'Ejected. The next request of any tab loads it again.';
  const size = memoryBytes === undefined ? '' : `: ${formatBytes(memoryBytes)} with one text of full length`;
  if (isJobRunning) return `In memory${size}. A job is running: pause it to eject the model.`;
  return `In memory for all tabs${size}. Eject frees that; the next request loads the model again.`;
}
