import { Activity, useEffect, useId, useRef, useState, type ReactNode } from 'react';

import { Button } from './button.tsx';
import './popover.css';

interface PopoverProps {
  /** The name of the box, and of the button unless `buttonLabel` is given. */
  readonly label: string;
  /** The name of the button. It contains the text that `face` draws. */
  readonly buttonLabel?: string;
  /** Drawn in the button instead of its name. */
  readonly face?: ReactNode;
  readonly className?: string;
  /** For code that opens the box from elsewhere. */
  readonly buttonId?: string;
  readonly children: ReactNode;
}

/**
 * A button that opens a box below itself. Escape, a press elsewhere, or focus elsewhere closes the box. A file chooser or a drag from
 * another window only blurs the window, so the box stays open. The box is mounted at its first opening and keeps its input.
 */
export function Popover(props: PopoverProps) {
  const { label, buttonLabel = label, face, className = '', buttonId, children } = props;
  const [isOpen, setIsOpen] = useState(false);
  const [isUsed, setIsUsed] = useState(false);
  const boxId = useId();
  const { hostRef, buttonRef } = useClosing(isOpen, setIsOpen);

  return (
    <div className={`ground ${className}`} ref={hostRef}>
      <Button
        ref={buttonRef}
        id={buttonId}
        className="popover-button button-quiet"
        aria-expanded={isOpen}
        {...(isOpen && { 'aria-controls': boxId })}
        {...(face !== undefined && { 'aria-label': buttonLabel })}
        onClick={() => {
          setIsOpen(!isOpen);
          setIsUsed(true);
        }}
      >
        {face ?? label}
      </Button>
      {isUsed && (
        <Activity mode={isOpen ? 'visible' : 'hidden'}>
          <section className="popover" id={boxId} aria-label={label}>
            {children}
          </section>
        </Activity>
      )}
    </div>
  );
}

function useClosing(isOpen: boolean, setIsOpen: (isOpen: boolean) => void) {
  const hostRef = useRef<HTMLDivElement>(null);
  const buttonRef = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const closeFromOutside = ({ target }: Event): void => {
      if (target instanceof Node && !hostRef.current?.contains(target)) setIsOpen(false);
    };
    const closeByKey = (event: KeyboardEvent): void => {
      // Escape in a dialog that the box has opened closes the dialog alone.
      if (event.key !== 'Escape' || hostRef.current?.querySelector('dialog[open]')) return;
      event.stopPropagation();
      setIsOpen(false);
      buttonRef.current?.focus();
    };
    const listening = new AbortController();
    const options = { signal: listening.signal };
    document.addEventListener('pointerdown', closeFromOutside, options);
    document.addEventListener('focusin', closeFromOutside, options);
    // On the document, because a press on plain text in the box leaves the focus on the body.
    document.addEventListener('keydown', closeByKey, { ...options, capture: true });
    return () => listening.abort();
  }, [isOpen, setIsOpen]);
  return { hostRef, buttonRef };
}
