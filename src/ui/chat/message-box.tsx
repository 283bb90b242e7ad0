import { useEffect, useRef, type KeyboardEvent } from 'react';

import { Button } from '../parts/button.tsx';
import { Form } from '../parts/form.tsx';

interface MessageBoxProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly initialText?: string;
  /** Takes the focus when it appears. */
  readonly isFocused?: boolean;
  readonly sendLabel: string;
  readonly isPrimary?: boolean;
  readonly canSend: boolean;
  /** Sends, and returns whether it did: then the box is empty again. */
  readonly onSend: (text: string) => boolean;
  /** Left out while nothing runs that could be stopped. */
  readonly onStop?: (() => void) | undefined;
  readonly stopLabel?: string;
  /** Escape while nothing runs. */
  readonly onCancel?: () => void;
}

/** Enter sends, Shift+Enter starts a new line, Escape stops. */
export function MessageBox(props: MessageBoxProps) {
  const { label, placeholder, initialText, isFocused, sendLabel, isPrimary, canSend } = props;
  const { onSend, onStop, stopLabel = 'Stop', onCancel } = props;
  const areaRef = useRef<HTMLTextAreaElement>(null);

  useEffect(() => {
    if (!isFocused) return;
    areaRef.current?.focus();
    areaRef.current?.setSelectionRange(areaRef.current.value.length, areaRef.current.value.length);
  }, [isFocused]);

  const send = (): void => {
    const area = areaRef.current;
    if (!area || onStop || !canSend) return;
    if (onSend(area.value.trim())) area.value = '';
    else area.focus();
  };

  const actOnKey = (event: KeyboardEvent): void => {
    // While an input method composes, Enter accepts its suggestion.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'Escape') {
      if (onStop) onStop();
      else onCancel?.();
    }
  };

  return (
    <Form onSubmit={send}>
      <div className="message-box">
        <textarea
          ref={areaRef}
          aria-label={label}
          placeholder={placeholder}
          defaultValue={initialText}
          rows={1}
          onKeyDown={actOnKey}
        />
        {onStop ? (
          <Button className="message-button" onClick={onStop}>
            {stopLabel}
          </Button>
        ) : (
          <Button
            className={`message-button ${isPrimary ? 'button-primary' : ''}`}
            type="submit"
            disabled={!canSend}
          >
            {sendLabel}
          </Button>
        )}
      </div>
    </Form>
  );
}
