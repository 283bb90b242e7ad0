import type { WireError } from '../worker/protocol/wire.ts';

export function ErrorLine({ error }: { readonly error: WireError }) {
  return (
    <p className="error-line">
      <code>{error.code}</code> {error.message}
    </p>
  );
}
