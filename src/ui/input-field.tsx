import { useId } from 'react';
import type { ComponentProps } from 'react';

interface InputFieldProps extends Omit<ComponentProps<'input'>, 'id' | 'type' | 'className'> {
  readonly label: string;
  readonly unit?: string;
  readonly hint: string;
  readonly error: string | undefined;
}

/** A labelled line of text with its unit, explanation and refusal. */
export function InputField({ label, unit, hint, error, ...input }: InputFieldProps) {
  const id = useId();
  const describedBy = error === undefined ? `${id}-hint` : `${id}-error ${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="field-box">
        <input
          {...input}
          id={id}
          type="text"
          autoComplete="off"
          aria-describedby={describedBy}
          aria-invalid={error !== undefined}
        />
        {unit !== undefined && <span className="field-unit">{unit}</span>}
      </div>
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
