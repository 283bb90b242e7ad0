import type { ReactNode } from 'react';

import type { BackendInfo, ModelInfo } from '../../worker/protocol/models.ts';
import type { ServeStatus } from '../../worker/protocol/status.ts';
import { formatCount, formatParameters, NO_VALUE } from '../format.ts';
import { useServeView } from '../state/serve-context.ts';
import { describeDetail, describeState, describeTabs, isLoading } from './describe-state.ts';

/** The model, its backend and the progress of a load. The cells keep their size while a load fills them. */
export function StateFacts() {
  const status = useServeView((view) => view.status);
  const { state, model, backend } = status;
  return (
    <>
      <dl className="facts">
        <Fact name="State" detail={describeDetail(status)}>
          <output className="state-value" data-state={state} data-testid="serve-state">
            {describeState(status)}
          </output>
        </Fact>
        <Fact name="Tabs" detail={describeTabs(status)}>
          <span data-testid="num-tabs">{status.numTabs === 0 ? NO_VALUE : formatCount(status.numTabs)}</span>
        </Fact>
        <Fact name="Model" detail={model && describeModel(model)}>
          {model?.id ?? NO_VALUE}
        </Fact>
        <Fact name="Backend" detail={backend && describeChoice(backend)}>
          {backend ? describeBackend(backend) : NO_VALUE}
        </Fact>
        <Fact
          name={backend ? PLACE_NAMES[backend.name] : 'Adapter'}
          detail={backend && <AdapterKind backend={backend} />}
        >
          {backend?.adapter ?? NO_VALUE}
        </Fact>
      </dl>
      <LoadBar status={status} />
    </>
  );
}

/** Its height is reserved, so that nothing moves when the load ends. */
function LoadBar({ status: { state, progress } }: { readonly status: ServeStatus }) {
  if (!isLoading(state)) return <div className="load-bar" />;
  const hasTotal = progress !== undefined && progress.total > 0;
  return (
    <progress
      className="load-bar"
      aria-label="Loading the model"
      {...(hasTotal && { value: progress.loaded, max: progress.total })}
    />
  );
}

interface FactProps {
  readonly name: string;
  readonly detail: ReactNode;
  readonly children: ReactNode;
}

function Fact({ name, detail, children }: FactProps) {
  return (
    <div className="fact">
      <dt className="note">{name}</dt>
      <dd>{children}</dd>
      <dd className="note">{detail}</dd>
    </div>
  );
}

const PLACE_NAMES: Readonly<Record<BackendInfo['name'], string>> = {
  webgpu: 'Adapter',
  wasm: 'Processor',
  upstream: 'Server',
};

function AdapterKind({ backend }: { readonly backend: BackendInfo }) {
  if (backend.name === 'wasm') return 'runs on the CPU';
  if (backend.name === 'upstream') return 'batches as it is set up to';
  if (!backend.isSoftwareAdapter) return 'hardware adapter';
  return <strong className="software-adapter">software adapter: WebGPU on the CPU, slow</strong>;
}

function describeModel({ numParameters, contextLength }: ModelInfo): string {
  // An upstream may send neither.
  const facts = [
    numParameters > 0 ? formatParameters(numParameters) : [],
    contextLength > 0 ? `context of ${formatCount(contextLength)} tokens` : [],
  ].flat();
  return facts.join(', ');
}

function describeChoice({ name, fallbackReason }: BackendInfo): string {
  if (name === 'upstream') return 'the bridge forwards to it';
  return fallbackReason || 'the best that this browser has';
}

function describeBackend({ name, precision }: BackendInfo): string {
  if (name === 'upstream') return 'Upstream';
  return `${name === 'webgpu' ? 'WebGPU' : 'WASM'} · ${precision}`;
}
