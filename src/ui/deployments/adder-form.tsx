import { useState } from 'react';

import { Button } from '../button.tsx';
import { parseNumber } from '../format.ts';
import { NumberField } from '../number-field.tsx';
import { useServe } from '../state/serve-context.ts';
import { QueryForm } from './query-form.tsx';

/** The queries of the tutorial that the adder comes from. */
const NINE_NUMBERS: readonly number[] = Array.from({ length: 9 }, (_, index) => index);

const SPACING_MS = 5;

export function AdderForm() {
  const { serve } = useServe();
  const [text, setText] = useState('3');
  const [error, setError] = useState<string>();

  const add = (number: number): void => {
    // The request's row shows its answer or error.
    void serve.getHandle('adder').remote(number);
  };

  const send = (numQueries: number): void => {
    if (numQueries > 1) {
      NINE_NUMBERS.forEach(add);
      return;
    }
    const number = parseNumber(text);
    const isValid = Number.isFinite(number);
    setError(isValid ? undefined : `Expected a finite number, got “${text}”.`);
    if (isValid) add(number);
  };

  const sendSpaced = (): void => {
    for (const number of NINE_NUMBERS) setTimeout(() => add(number), number * SPACING_MS);
  };

  return (
    <QueryForm
      title="Add one"
      onSend={send}
      counts={[NINE_NUMBERS.length]}
      actions={<Button onClick={sendSpaced}>Send 9, {SPACING_MS} ms apart</Button>}
      hint={`The nine are 0 to 8: at once in one tick, or one every ${SPACING_MS} ms.`}
    >
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
    </QueryForm>
  );
}
