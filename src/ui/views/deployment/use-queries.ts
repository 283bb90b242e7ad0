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

interface QueryFormState {
  readonly texts: FieldTexts;
  readonly errors: FieldErrors;
  /** Undefined until the first are sent. */
  readonly sent: SentQueries | undefined;
}

export type Queries = ReturnType<typeof useQueries>;

/** The form of a deployment, and the queries that were last sent with it. Those of the others are kept. */
export function useQueries(deployment: string) {
  const { serve } = useServe();
  const kind = queryKindOf(deployment);
  const [forms, setForms] = useState<ReadonlyMap<string, QueryFormState>>(new Map());
  const initial: QueryFormState = {
    texts: Object.fromEntries(kind.fields.map(({ name, initialText }) => [name, initialText])),
    errors: {},
    sent: undefined,
  };
  const { texts, errors, sent } = forms.get(deployment) ?? initial;
  const change = (changeOf: (before: QueryFormState) => Partial<QueryFormState>): void =>
    setForms((all) => {
      const before = all.get(deployment) ?? initial;
      return new Map(all).set(deployment, { ...before, ...changeOf(before) });
    });

  // The request's row shows its answer or error.
  const submit = (input: unknown): RequestId =>
    serve.getHandle<unknown, unknown>(deployment).remote(input).requestId;

  const send = (numQueries: number, spacingMs?: number): void => {
    const { inputs = [], errors: found = {} } = kind.parse(texts, numQueries);
    const group = { sentAtMs: performance.now(), numQueries };
    const ids = spacingMs === undefined ? inputs.map(submit) : [];
    // With an error, the last answer isn't to what is typed.
    change(() => ({ errors: found, sent: inputs.length === 0 ? undefined : { ...group, ids } }));
    if (spacingMs === undefined) return;
    for (const [index, input] of inputs.entries()) {
      setTimeout(() => {
        const id = submit(input);
        change(({ sent: latest }) => ({
          sent: latest?.sentAtMs === group.sentAtMs ? { ...latest, ids: [...latest.ids, id] } : latest,
        }));
      }, index * spacingMs);
    }
  };

  return {
    kind,
    texts,
    errors,
    sent,
    change: (name: string, text: string) =>
      change((before) => {
        const { [name]: _fixed, ...others } = before.errors;
        return { texts: { ...before.texts, [name]: text }, errors: others };
      }),
    check: () => change(() => ({ errors: kind.parse(texts, 1).errors ?? {} })),
    send,
  };
}
