import type { WireError } from '../worker/protocol/wire.ts';

interface ErrorLineProps {
  readonly error: WireError;
  readonly id?: string;
}

export function ErrorLine({ error, id }: ErrorLineProps) {
  return (
    <p className="error-line" id={id}>
      <code>{error.code}</code> {error.message}
    </p>
  );
}
