import { useState } from 'react';

import type { RequestId } from '../../client/index.ts';
import { useServe } from '../state/serve-context.ts';
import type { FieldErrors, FieldTexts } from './house-features.ts';
import { queryKindOf, type QueryKind } from './query-kinds.tsx';

/** Queries that were sent together. */
export interface SentQueries {
  readonly sentAtMs: number;
  readonly numQueries: number;
  /** Fewer than `numQueries` while they are sent one after another. */
  readonly ids: readonly RequestId[];
}

export interface Queries {
  readonly kind: QueryKind;
  readonly texts: FieldTexts;
  readonly errors: FieldErrors;
  /** Undefined until the first are sent. */
  readonly sent: SentQueries | undefined;
  readonly change: (name: string, text: string) => void;
  readonly check: () => void;
  readonly send: (numQueries: number, spacingMs?: number) => void;
}

/** The form of a deployment, and the queries that were last sent with it. */
export function useQueries(deployment: string): Queries {
  const { serve } = useServe();
  const kind = queryKindOf(deployment);
  const [texts, setTexts] = useState<FieldTexts>(() =>
    Object.fromEntries(kind.fields.map(({ name, initialText }) => [name, initialText])),
  );
  const [errors, setErrors] = useState<FieldErrors>({});
  const [sent, setSent] = useState<SentQueries>();

  // The request's row shows its answer or error.
  const submit = (input: unknown): RequestId =>
    serve.getHandle<unknown, unknown>(deployment).remote(input).requestId;

  const send = (numQueries: number, spacingMs?: number): void => {
    const { inputs = [], errors: found = {} } = kind.parse(texts, numQueries);
    setErrors(found);
    if (inputs.length === 0) return;
    const group = { sentAtMs: performance.now(), numQueries };
    if (spacingMs === undefined) {
      setSent({ ...group, ids: inputs.map(submit) });
      return;
    }
    setSent({ ...group, ids: [] });
    for (const [index, input] of inputs.entries()) {
      setTimeout(() => {
        const id = submit(input);
        setSent((latest) =>
          latest?.sentAtMs === group.sentAtMs ? { ...latest, ids: [...latest.ids, id] } : latest,
        );
      }, index * spacingMs);
    }
  };

  return {
    kind,
    texts,
    errors,
    sent,
    change: (name, text) => {
      setTexts((previous) => ({ ...previous, [name]: text }));
      setErrors(({ [name]: _fixed, ...others }) => others);
    },
    check: () => setErrors(kind.parse(texts, 1).errors ?? {}),
    send,
  };
}
