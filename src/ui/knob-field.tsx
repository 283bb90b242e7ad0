import { useState } from 'react';
import type { KeyboardEvent } from 'react';

import { NumberField } from './number-field.tsx';
import { toWireError } from './state/to-wire-error.ts';

export interface KnobText<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly unit: string;
  readonly hint: string;
}

interface KnobFieldProps {
  readonly knob: KnobText<string>;
  /** Undefined until the worker has said it. */
  readonly valueInForce: number | undefined;
  /** Resolves when the worker has the value in force; rejects with its refusal. */
  readonly onApply: (value: number) => Promise<void>;
}

/** Applies on Enter and on leaving the field; the worker judges the value, and its refusal stays at the field. */
export function KnobField({ knob, valueInForce, onApply }: KnobFieldProps) {
  const [draft, setDraft] = useState<string>();
  const [refusal, setRefusal] = useState<string>();

  const apply = async (): Promise<void> => {
    if (draft === undefined) return;
    try {
      await onApply(parseKnob(draft));
      // What was typed meanwhile stays.
      setDraft((current) => (current === draft ? undefined : current));
      setRefusal(undefined);
    } catch (caught) {
      setRefusal(toWireError(caught).message);
    }
  };

  const handleKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') void apply();
    if (event.key === 'Escape') {
      setDraft(undefined);
      setRefusal(undefined);
    }
  };

  return (
    <NumberField
      {...knob}
      error={refusal}
      value={draft ?? String(valueInForce ?? '')}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void apply()}
      onKeyDown={handleKeyDown}
    />
  );
}

/** An empty field is no number; `Number('')` would say 0. */
function parseKnob(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
