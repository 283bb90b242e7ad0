import { useState, type ReactNode } from 'react';

interface DisclosureProps {
  readonly title: string;
  /** Beside the title, also while it is closed. */
  readonly note?: string | undefined;
  /** On a wide screen; on a phone it always starts closed. */
  readonly startsOpen?: boolean;
  /** Whether its content stays mounted once it was open: by default it does, with all that was typed into it. */
  readonly isKept?: boolean;
  readonly children: ReactNode;
}

/** Its content is mounted at its first opening. */
export function Disclosure({ title, note, startsOpen = false, isKept = true, children }: DisclosureProps) {
  const [isOpen, setIsOpen] = useState(() => startsOpen && matchMedia('(min-width: 60rem)').matches);
  const [isUsed, setIsUsed] = useState(isOpen);
  return (
    <details
      className="disclosure"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        setIsOpen(open);
        setIsUsed((wasUsed) => wasUsed || open);
      }}
    >
      <summary>
        {title} {note !== undefined && <span className="note">{note}</span>}
      </summary>
      {(isKept ? isUsed : isOpen) && children}
    </details>
  );
}
