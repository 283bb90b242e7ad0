import { useState } from 'react';
import type { FormEvent } from 'react';

import { NumberField } from '../number-field.tsx';
import { Panel } from '../panel.tsx';
import { useServe } from '../state/serve-context.ts';
import {
  DEFAULT_HOUSE_TEXTS,
  describeRange,
  HOUSE_FEATURES,
  parseHouse,
  varyHouse,
} from './house-features.ts';
import type { HouseErrors } from './house-features.ts';

const SEND_COUNTS: readonly number[] = [9, 100];

export function HousePriceForm() {
  const { serve } = useServe();
  const [texts, setTexts] = useState(DEFAULT_HOUSE_TEXTS);
  const [errors, setErrors] = useState<HouseErrors>({});

  const send = (numHouses: number): void => {
    const { house, errors: found } = parseHouse(texts);
    setErrors(found ?? {});
    if (!house) return;
    const handle = serve.getHandle('house-price');
    // The store follows every request; what goes wrong shows in its row.
    for (const variation of varyHouse(house, numHouses)) void handle.remote(variation);
  };

  const sendOne = (event: FormEvent): void => {
    event.preventDefault();
    send(1);
  };

  // A value half typed is no mistake: it is judged when its field is left.
  const change = (name: string, text: string): void => {
    setTexts((previous) => ({ ...previous, [name]: text }));
    setErrors(({ [name]: _fixed, ...others }) => others);
  };

  return (
    <Panel title="House" className="house-form">
      <form onSubmit={sendOne} noValidate>
        <div className="house-fields">
          {HOUSE_FEATURES.map((feature) => (
            <NumberField
              key={feature.name}
              name={feature.name}
              label={feature.label}
              {...(feature.unit && { unit: feature.unit })}
              hint={describeRange(feature)}
              error={errors[feature.name]}
              value={texts[feature.name] ?? ''}
              onChange={(event) => change(feature.name, event.target.value)}
              onBlur={() => setErrors(parseHouse(texts).errors ?? {})}
            />
          ))}
        </div>
        <div className="actions">
          <button type="submit" className="button-primary">
            Send
          </button>
          {SEND_COUNTS.map((count) => (
            <button key={count} type="button" onClick={() => send(count)}>
              Send {count} queries
            </button>
          ))}
        </div>
        <p className="field-hint">
          Several queries are this house and variations of it, the same ones every time, all in one tick.
        </p>
      </form>
    </Panel>
  );
}
