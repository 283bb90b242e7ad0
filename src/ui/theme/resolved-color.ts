import { onThemeChange } from './on-theme-change.ts';

const resolved = new Map<string, string>();

// Before anybody who draws: whoever redraws for the new theme reads the new colours.
onThemeChange(() => resolved.clear());

/**
 * A colour of tokens.css as a canvas takes it. Registered there as `<color>`, else `light-dark(…)` would come back unresolved.
 * Read once in a theme: each reading may cost a calculation of all styles.
 */
export function resolvedColor(name: `--${string}`): string {
  const known = resolved.get(name) ?? getComputedStyle(document.documentElement).getPropertyValue(name);
  resolved.set(name, known);
  return known;
}
