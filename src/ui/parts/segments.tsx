import type { ReactNode } from 'react';

import type { Choices } from './select.tsx';
import './segments.css';

interface SegmentsProps<Value extends string> {
  readonly legend: string;
  readonly name: string;
  readonly value: Value;
  readonly choices: Choices<Value>;
  readonly onChange: (value: Value) => void;
  readonly children?: ReactNode;
}

/** Radio buttons in one bar, with what explains the choice below them. */
export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { legend, name, value, choices, onChange, children } = props;
  return (
    <fieldset>
      <legend className="visually-hidden">{legend}</legend>
      <div className="segments">
        {choices.map(([choice, title]) => (
          <label key={choice}>
            <input
              type="radio"
              name={name}
              value={choice}
              checked={choice === value}
              onChange={() => onChange(choice)}
            />
            <span>{title}</span>
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  );
}
