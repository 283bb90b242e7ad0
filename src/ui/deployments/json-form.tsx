import { useId, useState } from 'react';

import { describedBy, FieldNotes } from '../field-notes.tsx';
import { useServe } from '../state/serve-context.ts';
import { toWireError } from '../state/to-wire-error.ts';
import { QueryForm } from './query-form.tsx';

/** For a deployment that the page doesn't know. Its own check judges the input. */
export function JsonForm({ deployment }: { readonly deployment: string }) {
  const { serve } = useServe();
  const id = useId();
  const [text, setText] = useState('1');
  const [refusal, setRefusal] = useState<string>();

  const send = (numQueries: number): void => {
    const parsed = parseJson(text);
    setRefusal(parsed.refusal);
    if (parsed.refusal !== undefined) return;
    const handle = serve.getHandle<unknown, unknown>(deployment);
    for (let query = 0; query < numQueries; query += 1) void handle.remote(parsed.input);
  };

  return (
    <QueryForm title="Input" className="json-form" onSend={send} counts={[9]}>
      <label htmlFor={id}>Input as JSON</label>
      <textarea
        id={id}
        name="input"
        rows={4}
        spellCheck={false}
        aria-describedby={describedBy(id, refusal)}
        aria-invalid={refusal !== undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setRefusal(undefined);
        }}
      />
      <FieldNotes id={id} error={refusal}>
        A number, a “text” in quotes, a list or an object, as <code>checkInput</code> of {deployment} takes
        it.
      </FieldNotes>
    </QueryForm>
  );
}

type ParsedJson = { readonly input: unknown; readonly refusal?: never } | { readonly refusal: string };

function parseJson(text: string): ParsedJson {
  try {
    return { input: JSON.parse(text) };
  } catch (caught) {
    return {
      refusal: `This is no JSON (${toWireError(caught).message}): correct it, or put text in quotes.`,
    };
  }
}
