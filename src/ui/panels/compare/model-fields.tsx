import { ErrorLine } from '../../parts/error-line.tsx';
import { Select } from '../../parts/select.tsx';
import type { ModelPlans } from '../models/use-model-plans.ts';
import { describePlan, type ModelChoice, type ModelSide } from './model-choices.ts';

interface ModelFieldsProps {
  readonly title: string;
  readonly choices: readonly ModelChoice[];
  readonly side: ModelSide;
  readonly plans: ModelPlans | undefined;
  readonly isDisabled: boolean;
  readonly onChange: (choice: ModelChoice) => void;
}

/** The model of a column and its precision, with what it takes here. */
export function ModelFields({ title, choices, side, plans, isDisabled, onChange }: ModelFieldsProps) {
  const all = plans?.plans ?? [];
  const able = all.filter(({ obstacle }) => obstacle === '').map(({ dtype }) => dtype);
  const plan = all.find(({ dtype }) => dtype === side.dtype);
  const refused = all.filter(({ dtype, obstacle }) => obstacle !== '' && dtype !== side.dtype);
  return (
    <fieldset className="model-side" disabled={isDisabled}>
      <legend>{title}</legend>
      <Select
        className="stacked"
        label="Model"
        value={side.id}
        choices={choices.map(({ id }) => [id, id])}
        onChange={(id) => {
          const choice = choices.find((one) => one.id === id);
          if (choice) onChange(choice);
        }}
      />
      <Select
        className="stacked"
        label="Precision"
        value={side.dtype}
        choices={(able.includes(side.dtype) ? able : [side.dtype, ...able]).map((dtype) => [dtype, dtype])}
        onChange={(dtype) => onChange({ ...side, dtype })}
      />
      {plans?.error && <ErrorLine error={plans.error} />}
      {plan && (
        <p className="note" data-fits={plan.obstacle === ''}>
          {plan.obstacle || describePlan(plan)}
        </p>
      )}
      {side.isFixed && (
        <p className="note">As it is loaded: its files were picked, or come from an address of this page.</p>
      )}
      {refused.map(({ dtype, obstacle }) => (
        <p key={dtype} className="note">
          Not in {dtype}: {obstacle}
        </p>
      ))}
    </fieldset>
  );
}
