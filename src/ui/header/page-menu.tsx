import { useState } from 'react';

import { Popover } from '../parts/popover.tsx';
import { Segments } from '../parts/segments.tsx';
import { applyTheme, readTheme, THEMES } from '../theme/theme.ts';

const KEYS = [
  ['Enter', 'Send the prompt'],
  ['Shift+Enter', 'Start a new line in the prompt'],
  ['Esc', 'Stop the text that is being written'],
] as const;

export function PageMenu() {
  return (
    <Popover label="Menu" face={<span aria-hidden="true">⋯</span>} className="page-menu">
      <h2>Theme</h2>
      <ThemeChoice />
      <h2>Keyboard</h2>
      <dl className="keys">
        {KEYS.map(([key, act]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{act}</dd>
          </div>
        ))}
      </dl>
    </Popover>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <Segments
      legend="Theme"
      name="theme"
      value={theme}
      choices={THEMES}
      onChange={(chosen) => {
        applyTheme(chosen);
        setTheme(chosen);
      }}
    >
      <p className="field-hint">System follows the theme of your device.</p>
    </Segments>
  );
}
