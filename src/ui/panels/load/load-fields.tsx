import { useStore } from 'zustand';

import { TEXT_GENERATOR } from '../../../client/index.ts';
import { InputField } from '../../parts/field.tsx';
import { countOf } from '../../parts/format.ts';
import { Select } from '../../parts/select.tsx';
import type { Choices } from '../../parts/select.tsx';
import { useServeView } from '../../state/serve-context.ts';
import { ARRIVALS, defaultUsers, LENGTH_TYPES, ruleOf, shownFields } from './load-form.ts';
import type { NumberFieldName } from './load-form.ts';
import type { LoadSession } from './load-session.ts';

export interface SessionProps {
  readonly session: LoadSession;
}

interface Choice {
  readonly field: 'arrivals' | 'promptLengths' | 'outputLengths';
  readonly label: string;
  readonly choices: Choices<string>;
}

/** The groups of fields, and the choice that each begins with. */
const GROUPS: readonly (readonly [title: string, choice?: Choice])[] = [
  ['Arrivals', { field: 'arrivals', label: 'Kind', choices: ARRIVALS }],
  ['Prompt length', { field: 'promptLengths', label: 'Spread', choices: LENGTH_TYPES }],
  ['Output length', { field: 'outputLengths', label: 'Spread', choices: LENGTH_TYPES }],
  ['Measure'],
];

export function LoadFields({ session }: SessionProps) {
  const form = useStore(session.store, (view) => view.form);
  const isReplay = form.arrivals === 'replay';
  return (
    <div className="load-fields stack">
      {GROUPS.map(([title, choice]) => {
        const names = shownFields(form, session.target.deployment === TEXT_GENERATOR).filter(
          (name) => ruleOf(name).group === title,
        );
        if (names.length === 0 && choice?.field !== 'arrivals') return null;
        return (
          <fieldset key={title} className="load-group top stack tight">
            <legend>{title}</legend>
            {choice && (
              <Select
                label={choice.label}
                className="stacked"
                value={form[choice.field]}
                choices={choice.choices}
                onChange={(chosen) => session.change({ [choice.field]: chosen })}
              />
            )}
            {names.map((name) => (
              <LoadNumber key={name} session={session} name={name} />
            ))}
            {isReplay && choice?.field === 'arrivals' && <TraceFile session={session} />}
          </fieldset>
        );
      })}
    </div>
  );
}

function LoadNumber({ session, name }: SessionProps & { readonly name: NumberFieldName }) {
  const value = useStore(session.store, (view) => view.form[name]);
  const error = useStore(session.store, (view) => view.errors[name]);
  const maxBatchSize = useServeView(() => session.target.knobs().maxBatchSize);
  const { label, unit = '', hint } = ruleOf(name);
  return (
    <InputField
      name={name}
      label={label}
      unit={unit}
      hint={hint}
      inputMode="decimal"
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
    <label className="stacked">
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
          ? `${loaded.name}: ${countOf(loaded.trace.requests.length, 'request')}`
          : 'An export of a load test.'}
      </span>
    </label>
  );
}
