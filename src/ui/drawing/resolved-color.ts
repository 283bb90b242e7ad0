import { onThemeChange } from '../browser/theme.ts';

const resolved = new Map<string, string>();

// Registered before any chart, so that charts redraw with the colors of the new theme.
onThemeChange(() => resolved.clear());

/** Never shown. Its color comes back resolved, while a custom property comes back as the text of its `light-dark(…)`. */
const probe = document.head.appendChild(document.createElement('span'));

/** A color of tokens.css as a canvas takes it. Read once per theme: each reading may recalculate the page's styles. */
export function resolvedColor(name: `--${string}`): string {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  resolved.set(name, color);
  return color;
}
