import type { ReactNode } from 'react';

import type { BackendInfo, ModelInfo, OpenTab } from '../../../client/index.ts';
import { formatCount, formatParameters, NO_VALUE } from '../../parts/format.ts';
import type { Handover } from '../../state/handover.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { useServeView } from '../../state/serve-context.ts';
import { OpenTabs } from '../tabs/open-tabs.tsx';
import { useSeconds } from './use-seconds.ts';
import { describeHandover } from './describe-handover.ts';
import { describeDetail, describeRecovery, describeTabs } from './describe-facts.ts';
import { BACKENDS, describeState } from './describe-state.ts';

/** The state, the model, where it runs and why there, the tabs, and the last recovery. */
export function StateFacts() {
  const status = useServeView((view) => view.status);
  const handover = useServeView((view) => view.handover);
  const { model, backend, numTabs } = status;
  return (
    <dl className="facts stack">
      <Fact name="State" detail={describeDetail(status)}>
        {describeState(status)}
      </Fact>
      <Fact name="Model" detail={model && describeModel(model)}>
        {model?.id ?? NO_VALUE}
      </Fact>
      <Fact name="Backend" detail={backend && describeChoice(backend)}>
        {backend ? describeBackend(backend) : NO_VALUE}
      </Fact>
      {backend?.name === 'wasm' ? (
        <Fact name="Threads">{describeThreads()}</Fact>
      ) : (
        <Fact
          name={backend ? BACKENDS[backend.name].place : 'Adapter'}
          detail={
            backend && (
              <AdapterKind kind={BACKENDS[backend.name].kind} isSoftware={backend.isSoftwareAdapter} />
            )
          }
        >
          {backend?.adapter ?? NO_VALUE}
        </Fact>
      )}
      <Fact name="Tabs" detail={describeTabs(status)}>
        <span data-testid="num-tabs">{numTabs === 0 ? NO_VALUE : formatCount(numTabs)}</span>
        {canGenerate(status.state) && backend?.name !== 'server' && <OpenTabs />}
      </Fact>
      <Fact name="Last recovery">
        {!status.recovery && handover ? (
          <LastHandover handover={handover} tabs={status.tabs} />
        ) : (
          describeRecovery(status)
        )}
      </Fact>
    </dl>
  );
}

interface LastHandoverProps {
  readonly handover: Handover;
  readonly tabs: readonly OpenTab[];
}

function LastHandover({ handover, tabs }: LastHandoverProps) {
  return describeHandover(handover, tabs, useSeconds());
}

interface FactProps {
  readonly name: string;
  readonly detail?: ReactNode;
  readonly children: ReactNode;
}

function Fact({ name, detail, children }: FactProps) {
  return (
    <div className="fact">
      <dt className="muted">{name}</dt>
      <dd>{children}</dd>
      {detail && <dd className="note">{detail}</dd>}
    </div>
  );
}

function AdapterKind({
  kind,
  isSoftware,
}: {
  readonly kind: string;
  readonly isSoftware: boolean | undefined;
}) {
  if (!isSoftware) return kind;
  return <strong className="warn strong">Software adapter: WebGPU computed on the CPU, slow</strong>;
}

/** The runtime takes half of the cores, as hyper-threads share one. */
function describeThreads(): string {
  if (!crossOriginIsolated) return 'One thread, because this page isn’t cross-origin isolated';
  if (!('SharedArrayBuffer' in globalThis))
    return 'One thread, because this browser has no SharedArrayBuffer';
  return `Half of the ${navigator.hardwareConcurrency} cores that the browser reports, at most 4 threads`;
}

function describeModel({ numParameters, contextLength }: ModelInfo): string {
  // A server may send neither.
  const facts = [
    numParameters > 0 && formatParameters(numParameters),
    contextLength > 0 && `context of ${formatCount(contextLength)} tokens`,
  ];
  return facts.filter(Boolean).join(', ');
}

function describeChoice({ name, fallbackReason }: BackendInfo): string {
  if (name === 'server') return 'Set by the bridge, which forwards prompts to it';
  return fallbackReason || 'Best available';
}

/** The CPU names itself with its precision. */
function describeBackend({ name, precision, adapter }: BackendInfo): string {
  const { title } = BACKENDS[name];
  if (name === 'wasm') return adapter;
  return name === 'server' ? title : `${title} · ${precision}`;
}
