import { useId } from 'react';

import { describedBy, FieldNotes } from './field-notes.tsx';

interface CheckFieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly error?: string | undefined;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckField({ name, label, hint, error, isChecked, onChange }: CheckFieldProps) {
  const id = useId();
  return (
    <div className="field check-field">
      <label>
        <input
          type="checkbox"
          name={name}
          checked={isChecked}
          aria-describedby={describedBy(id, error)}
          onChange={(event) => onChange(event.target.checked)}
        />{' '}
        {label}
      </label>
      <FieldNotes id={id} error={error}>
        {hint}
      </FieldNotes>
    </div>
  );
}
