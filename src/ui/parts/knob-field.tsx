import { useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';

import { InputField } from './field.tsx';
import { parseNumber } from './format.ts';
import { useAttempt } from './use-attempt.ts';

export interface KnobText<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly unit: string;
  readonly hint: string;
}

interface KnobsProps<Name extends string> {
  readonly knobs: readonly KnobText<Name>[];
  /** Undefined until the worker has sent them. */
  readonly values: Readonly<Record<Name, number>> | undefined;
  /** Resolves when the worker uses the value; rejects with its refusal. */
  readonly onApply: (name: Name, value: number) => Promise<void>;
  readonly children?: ReactNode;
}

export function Knobs<Name extends string>({ knobs, values, onApply, children }: KnobsProps<Name>) {
  return (
    <div className="knobs">
      {knobs.map((knob) => (
        <KnobField
          key={knob.name}
          knob={knob}
          valueInForce={values?.[knob.name]}
          onApply={(value) => onApply(knob.name, value)}
        />
      ))}
      {children}
    </div>
  );
}

interface KnobFieldProps {
  readonly knob: KnobText<string>;
  readonly valueInForce: number | undefined;
  readonly onApply: (value: number) => Promise<void>;
}

/** Applies on Enter and on leaving the field. The worker judges the value, and its refusal stays at the field. */
function KnobField({ knob, valueInForce, onApply }: KnobFieldProps) {
  const [draft, setDraft] = useState<string>();
  const { refusal, attempt, clearRefusal } = useAttempt();

  const apply = async (): Promise<void> => {
    if (draft === undefined || !(await attempt(() => onApply(parseNumber(draft))))) return;
    // Text typed in the meantime stays.
    setDraft((current) => (current === draft ? undefined : current));
  };

  const handleKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') void apply();
    if (event.key === 'Escape') {
      setDraft(undefined);
      clearRefusal();
    }
  };

  return (
    <InputField
      {...knob}
      inputMode="decimal"
      error={refusal?.message}
      value={draft ?? String(valueInForce ?? '')}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void apply()}
      onKeyDown={handleKeyDown}
    />
  );
}
