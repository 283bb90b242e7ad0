import { useState } from 'react';

import { Select } from '../select.tsx';
import { applyTheme, readTheme, THEMES } from './theme.ts';
import type { Theme } from './theme.ts';

const TITLES: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  const choose = (chosen: Theme): void => {
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <Select
      label="Theme"
      className="theme-switch note"
      value={theme}
      choices={THEMES.map((known) => [known, TITLES[known]] as const)}
      onChange={choose}
    />
  );
}
