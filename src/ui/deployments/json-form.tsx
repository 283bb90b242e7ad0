import { useId, useState } from 'react';
import type { FormEvent } from 'react';

import { Panel } from '../panel.tsx';
import { useServe } from '../state/serve-context.ts';
import { toWireError } from '../state/to-wire-error.ts';

const NUM_QUERIES = 9;

interface JsonFormProps {
  readonly deployment: string;
}

type ParsedJson = { readonly input: unknown; readonly refusal?: never } | { readonly refusal: string };

/** For a deployment that the page knows nothing about: its own check judges what the JSON means. */
export function JsonForm({ deployment }: JsonFormProps) {
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

  const sendOne = (event: FormEvent): void => {
    event.preventDefault();
    send(1);
  };

  return (
    <Panel title="Input" className="json-form">
      <form onSubmit={sendOne} noValidate>
        <label htmlFor={id}>Input as JSON</label>
        <textarea
          id={id}
          name="input"
          rows={4}
          spellCheck={false}
          aria-describedby={refusal === undefined ? `${id}-hint` : `${id}-error ${id}-hint`}
          aria-invalid={refusal !== undefined}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setRefusal(undefined);
          }}
        />
        {refusal !== undefined && (
          <p className="error-line" id={`${id}-error`} role="alert">
            {refusal}
          </p>
        )}
        <p className="field-hint" id={`${id}-hint`}>
          A number, a “text” in quotes, a list or an object, as <code>checkInput</code> of {deployment} takes
          it.
        </p>
        <div className="actions">
          <button type="submit" className="button-primary">
            Send
          </button>
          <button type="button" onClick={() => send(NUM_QUERIES)}>
            Send {NUM_QUERIES} queries
          </button>
        </div>
      </form>
    </Panel>
  );
}

function parseJson(text: string): ParsedJson {
  try {
    return { input: JSON.parse(text) };
  } catch (caught) {
    return {
      refusal: `This is no JSON (${toWireError(caught).message}): correct it, or put text in quotes.`,
    };
  }
}
