import { writeStored } from './stored-text.ts';

/** Each theme with its title. `system` follows the scheme of the operating system. */
export const THEMES = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;
type Theme = (typeof THEMES)[number][0];

const KEY = 'tabserve-theme';

/** The stored choice; index.html applies it before the first paint. */
export function readTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  // Without storage, the choice lasts as long as the page.
  writeStored('localStorage', KEY, theme);
}

/** Calls back when the system's scheme or the reader's choice changes; returns the release. */
export function onThemeChange(redraw: () => void): () => void {
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', redraw);
  const observer = new MutationObserver(redraw);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    scheme.removeEventListener('change', redraw);
    observer.disconnect();
  };
}
