import type { ReactNode } from 'react';

interface FieldNotesProps {
  /** The field's own. */
  readonly id: string;
  readonly error: string | undefined;
  /** The hint. */
  readonly children: ReactNode;
}

/** The refusal of a field and its hint; the field names both by `aria-describedby={describedBy(id, error)}`. */
export function FieldNotes({ id, error, children }: FieldNotesProps) {
  return (
    <>
      {error !== undefined && (
        <p className="error-line" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      <p className="field-hint" id={`${id}-hint`}>
        {children}
      </p>
    </>
  );
}

export function describedBy(id: string, error: string | undefined): string {
  return error === undefined ? `${id}-hint` : `${id}-error ${id}-hint`;
}
