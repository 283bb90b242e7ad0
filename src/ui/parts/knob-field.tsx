import { useState, type KeyboardEvent, type ReactNode } from 'react';

import { InputField } from './field.tsx';
import { parseNumber } from './format.ts';
import { keysOf } from './keys-of.ts';
import { useAttempt } from './use-attempt.ts';

interface KnobText {
  readonly label: string;
  readonly unit: string;
  readonly hint: string;
  /** Where the knob is in bytes and its field isn't. */
  readonly bytesPerUnit?: number;
}

const UNLIMITED = 'unlimited';

/** As the field shows a value. */
export function knobText(value: KnobValue | undefined, bytesPerUnit = 1): string {
  if (value === Infinity) return UNLIMITED;
  return typeof value === 'number' ? String(Number((value / bytesPerUnit).toFixed(2))) : (value ?? '');
}

/** The value that is typed; NaN where it is none, which the worker refuses. */
export function knobValue(text: string, bytesPerUnit = 1): KnobValue {
  const typed = text.trim();
  if (typed === UNLIMITED) return Infinity;
  if (typed === 'auto') return 'auto';
  const value = parseNumber(typed) * bytesPerUnit;
  return bytesPerUnit === 1 ? value : Math.round(value);
}

/** The worker's refusal in the words of the field: with the text that was typed, and in its unit. */
export function knobRefusal(message: string, typed: string, bytesPerUnit = 1): string {
  const [, expected] = /^Expected `\w+` to be (.+), got `/.exec(message) ?? [];
  if (expected === undefined) return message;
  const range = bytesPerUnit === 1 ? expected : 'a number > 0 or Infinity';
  return `Expected ${range.replace('Infinity', UNLIMITED)}, got “${typed.trim()}”.`;
}

/** The worker refuses `auto` for a knob that has none. */
type KnobValue = number | 'auto';

/** In the order of their fields. */
export type KnobTexts<Name extends string> = Readonly<Record<Name, KnobText>>;

interface KnobsProps<Name extends string> {
  readonly knobs: KnobTexts<Name>;
  /** Undefined until the worker has sent them. A knob that has no value then is not shown. */
  readonly values: { readonly [Knob in Name]?: KnobValue } | undefined;
  /** Resolves when the worker uses the value; rejects with its refusal. */
  readonly onApply: (name: Name, value: KnobValue) => Promise<void>;
  readonly children?: ReactNode;
}

export function Knobs<Name extends string>({ knobs, values, onApply, children }: KnobsProps<Name>) {
  const shown = keysOf(knobs).filter((name) => !values || values[name] !== undefined);
  return (
    <div className="knobs stack loose">
      {shown.map((name) => (
        <KnobField
          key={name}
          knob={{ name, ...knobs[name] }}
          valueInForce={values?.[name]}
          onApply={(value) => onApply(name, value)}
        />
      ))}
      {children}
    </div>
  );
}

interface KnobFieldProps {
  readonly knob: KnobText & { readonly name: string };
  readonly valueInForce: KnobValue | undefined;
  readonly onApply: (value: KnobValue) => Promise<void>;
}

/** Applies on Enter and on leaving the field. The worker checks the value, and its refusal stays at the field. */
function KnobField({ knob, valueInForce, onApply }: KnobFieldProps) {
  const { bytesPerUnit, ...field } = knob;
  const [draft, setDraft] = useState<string>();
  const { refusal, attempt, clearRefusal } = useAttempt();

  const apply = async (): Promise<void> => {
    if (draft === undefined || !(await attempt(() => onApply(knobValue(draft, bytesPerUnit))))) return;
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
      {...field}
      inputMode="decimal"
      error={refusal && knobRefusal(refusal.message, draft ?? '', bytesPerUnit)}
      value={draft ?? knobText(valueInForce, bytesPerUnit)}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void apply()}
      onKeyDown={handleKeyDown}
    />
  );
}
