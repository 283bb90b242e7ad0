import { useState } from 'react';

import type { EncoderInfo } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatBytes } from '../../parts/format.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useIsServer, useServe, useServeView } from '../../state/serve-context.ts';

/** The models in memory, and a way to free that of each. */
export function LoadedModels() {
  const { model, encoders = [] } = useServeView(({ status }) => status);
  const isServer = useIsServer();
  if (isServer || (!model && encoders.length === 0)) return null;
  return (
    <section className="stack ruled-off" aria-labelledby="loaded-title">
      <h3 id="loaded-title">Memory</h3>
      {model && <GeneratorRow id={model.id} memoryBytes={model.memoryBytes} />}
      {encoders.map((info) => (
        <EncoderRow key={info.deployment} info={info} />
      ))}
    </section>
  );
}

interface GeneratorRowProps {
  readonly id: string;
  readonly memoryBytes: number | undefined;
}

function GeneratorRow({ id, memoryBytes }: GeneratorRowProps) {
  const { isEjected, load, state } = useServeView(({ status }) => status);
  const isJobRunning = useServeView(({ requests }) =>
    [...requests.values()].some(
      ({ sender, status }) => sender === 'Jobs' && (status === 'running' || status === 'waiting'),
    ),
  );
  const isLoading = load !== undefined;
  return (
    <MemoryRow
      id={id}
      deployment="text-generator"
      note={describe({ isEjected: isEjected === true, isJobRunning, isLoading, memoryBytes })}
      canEject={state === 'ready' && !isEjected && !isLoading && !isJobRunning}
    />
  );
}

function EncoderRow({ info }: { readonly info: EncoderInfo }) {
  const { id, deployment, isEjected } = info;
  const isLoading = useServeView(({ status }) => status.load !== undefined);
  return (
    <MemoryRow
      id={id}
      deployment={deployment}
      note={isEjected ? EJECTED : `Serves the ${deployment}, for all tabs.`}
      canEject={!isEjected && !isLoading}
    />
  );
}

interface MemoryRowProps {
  readonly id: string;
  readonly deployment: string;
  readonly note: string;
  readonly canEject: boolean;
}

function MemoryRow({ id, deployment, note, canEject }: MemoryRowProps) {
  const { serve } = useServe();
  const [isEjecting, setIsEjecting] = useState(false);
  const { refusal, attempt } = useAttempt();
  const eject = async (): Promise<void> => {
    setIsEjecting(true);
    await attempt(() => serve.ejectModel(deployment));
    setIsEjecting(false);
  };
  return (
    <>
      <div className="row">
        <output className="stored-name wrap grow">
          {id}{' '}
          <small className="muted">{isEjecting ? 'Goes when the texts that run have ended.' : note}</small>
        </output>
        <Button aria-label={`Eject ${id}`} disabled={!canEject || isEjecting} onClick={() => void eject()}>
          Eject
        </Button>
      </div>
      {refusal && <ErrorLine error={refusal} />}
    </>
  );
}

interface MemoryState {
  readonly isEjected: boolean;
  readonly isJobRunning: boolean;
  readonly isLoading: boolean;
  readonly memoryBytes: number | undefined;
}

const EJECTED = 'Ejected. The next request of any tab loads it again.';

function describe({ isEjected, isJobRunning, isLoading, memoryBytes }: MemoryState): string {
  if (isEjected) return isLoading ? 'Loads again.' : EJECTED;
  const size = memoryBytes === undefined ? '' : `: ${formatBytes(memoryBytes)} with one text of full length`;
  if (isJobRunning) return `In memory${size}. A job is running: pause it to eject the model.`;
  return `In memory for all tabs${size}. Eject frees that; the next request loads the model again.`;
}
