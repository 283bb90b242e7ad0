import type { WireError } from '../../client/index.ts';

/** Words first; the code is for searching. */
export function ErrorLine({ error }: { readonly error: WireError }) {
  return (
    <p className="error-line">
      {error.message} <code>{error.code}</code>
    </p>
  );
}
