import { useState } from 'react';

import { Segments } from '../parts/segments.tsx';
import { applyTheme, readTheme, THEMES } from './theme.ts';

export function ThemeChoice() {
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
