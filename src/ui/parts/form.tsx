import type { ReactNode } from 'react';

interface FormProps {
  /** For buttons outside the form. */
  readonly id?: string;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A form that the page handles: the browser neither checks nor sends it. */
export function Form({ id, onSubmit, children }: FormProps) {
  return (
    <form
      id={id}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
