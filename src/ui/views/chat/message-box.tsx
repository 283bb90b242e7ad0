import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';

import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form.tsx';

interface MessageBoxProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
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
  /** Beside the buttons. */
  readonly children?: ReactNode;
}

/** Enter sends, Shift+Enter starts a new line, Escape stops. */
export function MessageBox(props: MessageBoxProps) {
  const { label, placeholder, text, onChange, isFocused, sendLabel, isPrimary, canSend } = props;
  const { onSend, onStop, stopLabel = 'Stop', onCancel, children } = props;
  const areaRef = useRef<HTMLTextAreaElement>(null);

  useEffect(() => {
    if (!isFocused) return;
    areaRef.current?.focus();
    areaRef.current?.setSelectionRange(areaRef.current.value.length, areaRef.current.value.length);
  }, [isFocused]);

  const send = (): void => {
    if (!canSend) return;
    if (onSend(text.trim())) onChange('');
    else areaRef.current?.focus();
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
      <div className="message-box ground stack tight">
        <textarea
          ref={areaRef}
          aria-label={label}
          placeholder={placeholder}
          value={text}
          rows={1}
          onChange={({ target: { value } }) => onChange(value)}
          onKeyDown={actOnKey}
        />
        <div className="cluster tight">
          {(!onStop || text.trim() !== '' || isPrimary) && (
            <Button
              className={`message-button ${isPrimary ? 'button-primary' : ''}`}
              type="submit"
              disabled={!canSend}
            >
              {sendLabel}
            </Button>
          )}
          {onStop && (
            <Button className="message-button" onClick={onStop}>
              {stopLabel}
            </Button>
          )}
          {children}
        </div>
      </div>
    </Form>
  );
}
