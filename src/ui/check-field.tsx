import { useId } from 'react';

interface CheckFieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly error?: string | undefined;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** A labelled yes or no with its explanation and refusal. */
export function CheckField({ name, label, hint, error, isChecked, onChange }: CheckFieldProps) {
  const id = useId();
  return (
    <div className="field check-field">
      <label>
        <input
          type="checkbox"
          name={name}
          checked={isChecked}
          aria-describedby={error === undefined ? `${id}-hint` : `${id}-error ${id}-hint`}
          onChange={(event) => onChange(event.target.checked)}
        />{' '}
        {label}
      </label>
      {error !== undefined && (
        <p className="error-line" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      <p className="field-hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}
