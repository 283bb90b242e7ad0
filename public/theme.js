// Before anything is drawn, so that no other theme flashes up. A file of its own: the page's policy allows no inline script.
try {
  const theme = localStorage.getItem('tabserve-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the system's theme it is.
}
