import { useStore } from 'zustand';

import { NumberField } from '../number-field.tsx';
import { formatCount } from '../format.ts';
import { Select } from '../select.tsx';
import type { Choices } from '../select.tsx';
import { useServeView } from '../state/serve-context.ts';
import { defaultUsers, NUMBER_FIELDS, NUMBER_RULES } from './load-form.ts';
import type { LoadForm, NumberFieldName } from './load-form.ts';
import type { LoadSession } from './load-session.ts';

interface SessionProps {
  readonly session: LoadSession;
}

const ARRIVAL_CHOICES = [
  ['poisson', 'Poisson'],
  ['closed-loop', 'Closed loop'],
  ['burst', 'Bursts'],
  ['ramp', 'Ramp'],
  ['replay', 'Replay of a trace'],
] as const satisfies Choices<LoadForm['arrivals']>;

const LENGTH_CHOICES = [
  ['uniform', 'uniform'],
  ['long-tail', 'long-tailed'],
  ['fixed', 'all alike'],
] as const satisfies Choices<LoadForm['promptLengths']>;

export function LoadFields({ session }: SessionProps) {
  const form = useStore(session.store, (view) => view.form);
  const ofArrivals = NUMBER_FIELDS.filter((name) => NUMBER_RULES[name].arrivals === form.arrivals);
  return (
    <div className="load-fields">
      <fieldset className="load-group">
        <legend>Arrivals</legend>
        <Select
          label="Kind"
          className="load-select"
          value={form.arrivals}
          choices={ARRIVAL_CHOICES}
          onChange={(arrivals) => session.change({ arrivals })}
        />
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

interface LengthsGroupProps extends SessionProps {
  readonly title: string;
  readonly kind: 'prompt' | 'output';
}

function LengthsGroup({ session, title, kind }: LengthsGroupProps) {
  const field = `${kind}Lengths` as const;
  const type = useStore(session.store, (view) => view.form[field]);
  return (
    <fieldset className="load-group">
      <legend>{title}</legend>
      <Select
        label="Spread"
        className="load-select"
        value={type}
        choices={LENGTH_CHOICES}
        onChange={(chosen) => session.change({ [field]: chosen })}
      />
      {type !== 'fixed' && <LoadNumber session={session} name={`${kind}Min`} />}
      <LoadNumber session={session} name={`${kind}Max`} />
    </fieldset>
  );
}

interface LoadNumberProps extends SessionProps {
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

function TraceFile({ session }: SessionProps) {
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
