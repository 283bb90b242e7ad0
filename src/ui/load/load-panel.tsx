export function LoadPanel() {
  return <p>…</p>;
}
