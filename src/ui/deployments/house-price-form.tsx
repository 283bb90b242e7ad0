import { useState } from 'react';

import { NumberField } from '../number-field.tsx';
import { useServe } from '../state/serve-context.ts';
import {
  DEFAULT_HOUSE_TEXTS,
  describeRange,
  HOUSE_FEATURES,
  parseHouse,
  varyHouse,
} from './house-features.ts';
import type { HouseErrors } from './house-features.ts';
import { QueryForm } from './query-form.tsx';

export function HousePriceForm() {
  const { serve } = useServe();
  const [texts, setTexts] = useState(DEFAULT_HOUSE_TEXTS);
  const [errors, setErrors] = useState<HouseErrors>({});

  const send = (numHouses: number): void => {
    const { house, errors: found } = parseHouse(texts);
    setErrors(found ?? {});
    if (!house) return;
    const handle = serve.getHandle('house-price');
    // Each request's row shows its answer or error.
    for (const variation of varyHouse(house, numHouses)) void handle.remote(variation);
  };

  // A field is checked when it is left, not while it is being typed in.
  const change = (name: string, text: string): void => {
    setTexts((previous) => ({ ...previous, [name]: text }));
    setErrors(({ [name]: _fixed, ...others }) => others);
  };

  return (
    <QueryForm
      title="House"
      onSend={send}
      counts={[9, 100]}
      hint="Several queries are this house and variations of it, the same ones every time, all in one tick."
    >
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
    </QueryForm>
  );
}
