import { useStore } from 'zustand';

import { NumberField } from '../number-field.tsx';
import { formatCount } from '../format.ts';
import { useServeView } from '../state/serve-context.ts';
import { ARRIVALS, defaultUsers, LENGTH_TYPES, NUMBER_FIELDS, NUMBER_RULES } from './load-form.ts';
import type { LoadForm, NumberFieldName } from './load-form.ts';
import type { LoadSession } from './load-session.ts';

interface LoadFieldsProps {
  readonly session: LoadSession;
}

const ARRIVAL_TITLES: Readonly<Record<LoadForm['arrivals'], string>> = {
  poisson: 'Poisson',
  'closed-loop': 'Closed loop',
  burst: 'Bursts',
  ramp: 'Ramp',
  replay: 'Replay of a trace',
};

const LENGTH_TITLES: Readonly<Record<LoadForm['promptLengths'], string>> = {
  uniform: 'uniform',
  'long-tail': 'long-tailed',
  fixed: 'all alike',
};

export function LoadFields({ session }: LoadFieldsProps) {
  const form = useStore(session.store, (view) => view.form);
  const ofArrivals = NUMBER_FIELDS.filter((name) => NUMBER_RULES[name].arrivals === form.arrivals);
  return (
    <div className="load-fields">
      <fieldset className="load-group">
        <legend>Arrivals</legend>
        <label className="load-select">
          Kind
          <select
            value={form.arrivals}
            onChange={(event) =>
              session.change({ arrivals: ARRIVALS.find((type) => type === event.target.value) ?? 'poisson' })
            }
          >
            {ARRIVALS.map((type) => (
              <option key={type} value={type}>
                {ARRIVAL_TITLES[type]}
              </option>
            ))}
          </select>
        </label>
        {ofArrivals.map((name) => (
          <LoadNumber key={name} session={session} name={name} />
        ))}
        {form.arrivals === 'replay' ? (
          <TraceFile session={session} />
        ) : (
          <LoadNumber session={session} name="durationSeconds" />
        )}
      </fieldset>
      {form.arrivals !== 'replay' && (
        <>
          <LengthsGroup session={session} title="Prompt length" kind="prompt" />
          <LengthsGroup session={session} title="Output length" kind="output" />
        </>
      )}
      <fieldset className="load-group">
        <legend>Measure</legend>
        <LoadNumber session={session} name="latencyLimitMs" />
        <LoadNumber session={session} name="seed" />
      </fieldset>
    </div>
  );
}

interface LengthsGroupProps extends LoadFieldsProps {
  readonly title: string;
  readonly kind: 'prompt' | 'output';
}

function LengthsGroup({ session, title, kind }: LengthsGroupProps) {
  const field = `${kind}Lengths` as const;
  const type = useStore(session.store, (view) => view.form[field]);
  return (
    <fieldset className="load-group">
      <legend>{title}</legend>
      <label className="load-select">
        Spread
        <select
          value={type}
          onChange={(event) => {
            const chosen = LENGTH_TYPES.find((known) => known === event.target.value) ?? 'uniform';
            session.change({ [field]: chosen });
          }}
        >
          {LENGTH_TYPES.map((known) => (
            <option key={known} value={known}>
              {LENGTH_TITLES[known]}
            </option>
          ))}
        </select>
      </label>
      {type !== 'fixed' && <LoadNumber session={session} name={`${kind}Min`} />}
      <LoadNumber session={session} name={`${kind}Max`} />
    </fieldset>
  );
}

interface LoadNumberProps extends LoadFieldsProps {
  readonly name: NumberFieldName;
}

function LoadNumber({ session, name }: LoadNumberProps) {
  const value = useStore(session.store, (view) => view.form[name]);
  const error = useStore(session.store, (view) => view.errors[name]);
  const maxBatchSize = useServeView(({ status }) => status.policy.maxBatchSize);
  const { label, unit, hint } = NUMBER_RULES[name];
  return (
    <NumberField
      name={name}
      label={label}
      unit={unit}
      hint={hint}
      error={error}
      value={value}
      placeholder={name === 'numUsers' ? String(defaultUsers(maxBatchSize)) : undefined}
      onChange={(event) => session.change({ [name]: event.target.value })}
      onBlur={() => session.check()}
    />
  );
}

function TraceFile({ session }: LoadFieldsProps) {
  const loaded = useStore(session.store, (view) => view.loadedTrace);
  return (
    <label className="load-select">
      Trace
      <input
        type="file"
        accept="application/json,.json"
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) void session.loadTraceFile(file);
        }}
      />
      <span className="field-hint">
        {loaded
          ? `${loaded.name}: ${formatCount(loaded.trace.requests.length)} requests`
          : 'An export of a load test.'}
      </span>
    </label>
  );
}
