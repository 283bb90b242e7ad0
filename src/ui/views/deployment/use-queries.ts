import { useState } from 'react';

import type { RequestId } from '../../../client/index.ts';
import { useServe } from '../../state/serve-context.ts';
import type { FieldErrors, FieldTexts } from './house-features.ts';
import { queryKindOf } from './query-kinds.tsx';

/** Queries that were sent together. */
export interface SentQueries {
  readonly sentAtMs: number;
  readonly numQueries: number;
  /** Fewer than `numQueries` while they are sent one after another. */
  readonly ids: readonly RequestId[];
}

export type Queries = ReturnType<typeof useQueries>;

/** The form of a deployment, and the queries that were last sent with it. */
export function useQueries(deployment: string) {
  const { serve } = useServe();
  const kind = queryKindOf(deployment);
  const [texts, setTexts] = useState<FieldTexts>(() =>
    Object.fromEntries(kind.fields.map(({ name, initialText }) => [name, initialText])),
  );
  const [errors, setErrors] = useState<FieldErrors>({});
  /** Undefined until the first are sent. */
  const [sent, setSent] = useState<SentQueries>();

  // The request's row shows its answer or error.
  const submit = (input: unknown): RequestId =>
    serve.getHandle<unknown, unknown>(deployment).remote(input).requestId;

  const send = (numQueries: number, spacingMs?: number): void => {
    const { inputs = [], errors: found = {} } = kind.parse(texts, numQueries);
    setErrors(found);
    if (inputs.length === 0) {
      // The last answer isn't to what is typed.
      setSent(undefined);
      return;
    }
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
    change: (name: string, text: string) => {
      setTexts((previous) => ({ ...previous, [name]: text }));
      setErrors(({ [name]: _fixed, ...others }) => others);
    },
    check: () => setErrors(kind.parse(texts, 1).errors ?? {}),
    send,
  };
}
