import { useId, useLayoutEffect, useRef, type ReactNode, type SyntheticEvent } from 'react';

import { Button } from './button.tsx';

interface ModalProps {
  readonly className?: string;
  readonly title: ReactNode;
  /** Small buttons beside the title. */
  readonly head?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog, open while it is mounted. The focus then returns to where it was. */
export function Modal({ className, title, head, onClose, children }: ModalProps) {
  const dialogRef = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = dialogRef.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  // The browser's `close` may come after the next key. Enter on the button that opens this would find it open still.
  const dismiss = (event: SyntheticEvent): void => {
    if (event.target !== event.currentTarget) return;
    event.preventDefault();
    onClose();
  };
  return (
    <dialog
      className={className}
      ref={dialogRef}
      aria-labelledby={id}
      onCancel={dismiss}
      onClose={({ currentTarget }) => currentTarget.open || onClose()}
    >
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {head}
        <Button variant={head === undefined ? undefined : 'small'} onClick={onClose}>
          Close
        </Button>
      </div>
      {children}
    </dialog>
  );
}
