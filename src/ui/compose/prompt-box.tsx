import { useId } from 'react';
import type { KeyboardEvent, RefObject } from 'react';

interface PromptBoxProps {
  readonly ref: RefObject<HTMLTextAreaElement | null>;
  readonly prompt: string;
  readonly errorId: string | undefined;
  readonly isInvalid: boolean;
  readonly onChange: (prompt: string) => void;
  readonly onSend: () => void;
}

export function PromptBox({ ref, prompt, errorId, isInvalid, onChange, onSend }: PromptBoxProps) {
  const keysId = useId();
  const sendOnEnter = (event: KeyboardEvent): void => {
    // While an input method composes, Enter accepts its suggestion.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  return (
    <>
      <textarea
        ref={ref}
        name="prompt"
        aria-label="Prompt"
        aria-describedby={errorId === undefined ? keysId : `${errorId} ${keysId}`}
        aria-invalid={isInvalid}
        rows={3}
        spellCheck={false}
        value={prompt}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={sendOnEnter}
      />
      <p className="field-hint" id={keysId}>
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> starts a new line.
      </p>
    </>
  );
}
