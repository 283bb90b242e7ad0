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
          name={backend ? BACKENDS[backend.name].place : 'Adapter'}
          detail={backend && <AdapterKind backend={backend} />}
        >
          {backend?.adapter ?? NO_VALUE}
        </Fact>
      </dl>
      <LoadBar status={status} />
    </>
  );
}

/** Lies over the header's edge, so that nothing moves when the load ends. */
function LoadBar({ status: { state, progress } }: { readonly status: ServeStatus }) {
  if (!isLoading(state)) return null;
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

const BACKENDS = {
  webgpu: { title: 'WebGPU', place: 'Adapter', kind: 'hardware adapter' },
  wasm: { title: 'WASM', place: 'Processor', kind: 'runs on the CPU' },
  upstream: { title: 'Upstream', place: 'Server', kind: 'batches as it is set up to' },
} as const satisfies Record<BackendInfo['name'], object>;

function AdapterKind({ backend: { name, isSoftwareAdapter } }: { readonly backend: BackendInfo }) {
  if (!isSoftwareAdapter) return BACKENDS[name].kind;
  return <strong className="software-adapter">software adapter: WebGPU on the CPU, slow</strong>;
}

function describeModel({ numParameters, contextLength }: ModelInfo): string {
  // An upstream may send neither.
  const facts = [
    numParameters > 0 && formatParameters(numParameters),
    contextLength > 0 && `context of ${formatCount(contextLength)} tokens`,
  ];
  return facts.filter(Boolean).join(', ');
}

function describeChoice({ name, fallbackReason }: BackendInfo): string {
  if (name === 'upstream') return 'the bridge forwards to it';
  return fallbackReason || 'the best that this browser has';
}

function describeBackend({ name, precision }: BackendInfo): string {
  const { title } = BACKENDS[name];
  return name === 'upstream' ? title : `${title} · ${precision}`;
}
