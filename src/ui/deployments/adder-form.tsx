import { useState } from 'react';
import type { FormEvent } from 'react';

import { NumberField } from '../number-field.tsx';
import { Panel } from '../panel.tsx';
import { useServe } from '../state/serve-context.ts';

/** The queries of the tutorial that the adder comes from. */
const NINE_NUMBERS: readonly number[] = Array.from({ length: 9 }, (_, index) => index);

const SPACING_MS = 5;

export function AdderForm() {
  const { serve } = useServe();
  const [text, setText] = useState('3');
  const [error, setError] = useState<string>();

  const add = (number: number): void => {
    // The store follows every request; what goes wrong shows in its row.
    void serve.getHandle('adder').remote(number);
  };

  const send = (event: FormEvent): void => {
    event.preventDefault();
    const number = text.trim() === '' ? Number.NaN : Number(text);
    const isValid = Number.isFinite(number);
    setError(isValid ? undefined : `Expected a finite number, got “${text}”.`);
    if (isValid) add(number);
  };

  const sendSpaced = (): void => {
    for (const number of NINE_NUMBERS) setTimeout(() => add(number), number * SPACING_MS);
  };

  return (
    <Panel title="Add one" className="adder-form">
      <form onSubmit={send} noValidate>
        <NumberField
          name="number"
          label="Number"
          hint="Answered with one more, after 200 ms of simulated work per batch, whatever its size."
          error={error}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setError(undefined);
          }}
        />
        <div className="actions">
          <button type="submit" className="button-primary">
            Send
          </button>
          <button type="button" onClick={() => NINE_NUMBERS.forEach(add)}>
            Send 9 queries
          </button>
          <button type="button" onClick={sendSpaced}>
            Send 9, {SPACING_MS} ms apart
          </button>
        </div>
        <p className="field-hint">The nine are 0 to 8: at once in one tick, or one every {SPACING_MS} ms.</p>
      </form>
    </Panel>
  );
}
