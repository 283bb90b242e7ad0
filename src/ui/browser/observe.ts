/** Calls back with each new size of the element and once at the start; returns the release. */
export function observeSize(element: Element, onChange: () => void): () => void {
  const observer = new ResizeObserver(onChange);
  observer.observe(element);
  return () => observer.disconnect();
}

/** Calls back when the element comes into view or leaves it and once at the start; returns the release. */
export function observeVisibility(element: Element, onChange: (isVisible: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) =>
    onChange(entries.some(({ isIntersecting }) => isIntersecting)),
  );
  observer.observe(element);
  return () => observer.disconnect();
}
