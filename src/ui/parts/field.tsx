import { useId, type ComponentProps, type ReactNode } from 'react';

type FieldProps<Tag extends 'input' | 'textarea'> = Omit<ComponentProps<Tag>, 'id' | 'className' | 'type'> & {
  readonly label: string;
  readonly hint: ReactNode;
  readonly error?: string | undefined;
};

/** A text input, also for a number: the number type hides wrong input and can’t hold Infinity. */
export function InputField({
  label,
  unit,
  hint,
  error,
  ...input
}: FieldProps<'input'> & { readonly unit?: string }) {
  const { attributes, notes } = useNotes(hint, error);
  return (
    <div className="field">
      <label htmlFor={attributes.id}>{label}</label>
      <div className="field-box">
        <input className="grow" {...input} {...attributes} type="text" autoComplete="off" />
        {unit && <span className="field-unit note">{unit}</span>}
      </div>
      {notes}
    </div>
  );
}

export function TextAreaField({ label, hint, error, ...area }: FieldProps<'textarea'>) {
  const { attributes, notes } = useNotes(hint, error);
  return (
    <div className="field">
      <label htmlFor={attributes.id}>{label}</label>
      <textarea rows={4} spellCheck={false} {...area} {...attributes} />
      {notes}
    </div>
  );
}

export function CheckField({ label, hint, error, ...input }: FieldProps<'input'>) {
  const { attributes, notes } = useNotes(hint, error);
  return (
    <div className="field check-field">
      <label>
        <input {...input} {...attributes} type="checkbox" /> {label}
      </label>
      {notes}
    </div>
  );
}

/** A field's refusal and hint, and the attributes that name both to screen readers. */
function useNotes(hint: ReactNode, error: string | undefined) {
  const id = useId();
  const [errorId, hintId] = [`${id}-error`, `${id}-hint`];
  const hasError = error !== undefined;
  return {
    attributes: {
      id,
      'aria-describedby': hasError ? `${errorId} ${hintId}` : hintId,
      'aria-invalid': hasError,
    },
    notes: (
      <>
        {hasError && (
          <p className="error-line" id={errorId} role="alert">
            {error}
          </p>
        )}
        <p className="field-hint" id={hintId}>
          {hint}
        </p>
      </>
    ),
  };
}
