import { useId } from 'react';
import type { ComponentProps } from 'react';

import { describedBy, FieldNotes } from './field-notes.tsx';

interface InputFieldProps extends Omit<ComponentProps<'input'>, 'id' | 'type' | 'className'> {
  readonly label: string;
  readonly unit?: string;
  readonly hint: string;
  readonly error: string | undefined;
}

export function InputField({ label, unit, hint, error, ...input }: InputFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="field-box">
        <input
          {...input}
          id={id}
          type="text"
          autoComplete="off"
          aria-describedby={describedBy(id, error)}
          aria-invalid={error !== undefined}
        />
        {unit !== undefined && <span className="field-unit">{unit}</span>}
      </div>
      <FieldNotes id={id} error={error}>
        {hint}
      </FieldNotes>
    </div>
  );
}
