/** `system` follows the system's own scheme, as it is and as it changes. */
export type Theme = 'system' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

const KEY = 'tabserve-theme';

/** What the reader chose here before; index.html applies it before anything is drawn. */
export function readTheme(): Theme {
  const theme = document.documentElement.dataset['theme'];
  return THEMES.find((known) => known === theme) ?? 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}
