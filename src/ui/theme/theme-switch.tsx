import { useState } from 'react';

import { Select } from '../select.tsx';
import { applyTheme, readTheme, THEMES } from './theme.ts';

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <Select
      label="Theme"
      className="theme-switch note"
      value={theme}
      choices={THEMES}
      onChange={(chosen) => {
        applyTheme(chosen);
        setTheme(chosen);
      }}
    />
  );
}
