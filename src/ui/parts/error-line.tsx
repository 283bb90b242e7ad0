import type { WireError } from '../../client/index.ts';

/** Words first; the code is there to be searched for. */
export function ErrorLine({ error }: { readonly error: WireError }) {
  return (
    <p className="error-line">
      {error.message} <code>{error.code}</code>
    </p>
  );
}
