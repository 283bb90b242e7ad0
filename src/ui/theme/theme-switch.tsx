import { useState } from 'react';

import { applyTheme, readTheme, THEMES } from './theme.ts';
import type { Theme } from './theme.ts';

const TITLES: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <label className="theme-switch">
      Theme{' '}
      <select
        value={theme}
        onChange={(event) => {
          const chosen = THEMES.find((known) => known === event.target.value) ?? 'system';
          applyTheme(chosen);
          setTheme(chosen);
        }}
      >
        {THEMES.map((known) => (
          <option key={known} value={known}>
            {TITLES[known]}
          </option>
        ))}
      </select>
    </label>
  );
}
