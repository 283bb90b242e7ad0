import type { WireError } from '../../client/index.ts';

const CONTEXT_FIELD = 'In this page it is Max context length, under Advanced.';

/** Words first; the code is for searching. */
export function ErrorLine({ error }: { readonly error: WireError }) {
  return (
    <p className="error-line">
      {error.message} {error.message.includes('maxContextLength') && CONTEXT_FIELD} <code>{error.code}</code>
    </p>
  );
}
