/** The theme changes by the system's choice or by the reader's, which stands on the root element; returns the release. */
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
