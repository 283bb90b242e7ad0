import { useState } from 'react';
import type { ChangeEvent } from 'react';

import { Button } from '../button.tsx';
import { InputField, TextAreaField } from '../field.tsx';
import { Form } from '../form.tsx';
import { Panel } from '../panel.tsx';
import { useServe } from '../state/serve-context.ts';
import type { FieldErrors, FieldTexts } from './house-features.ts';
import { queryKindOf } from './query-kinds.tsx';

/** Sends one query with Enter, and several by a button. */
export function QueryForm({ deployment }: { readonly deployment: string }) {
  const { serve } = useServe();
  const { title, hint, fields, isJson, isCheckedWhenLeft, buttons, parse } = queryKindOf(deployment);
  const [texts, setTexts] = useState<FieldTexts>(() =>
    Object.fromEntries(fields.map(({ name, initialText }) => [name, initialText])),
  );
  const [errors, setErrors] = useState<FieldErrors>({});

  const Field = isJson ? TextAreaField : InputField;

  const send = (numQueries: number, spacingMs?: number): void => {
    const { inputs = [], errors: found = {} } = parse(texts, numQueries);
    setErrors(found);
    const handle = serve.getHandle<unknown, unknown>(deployment);
    for (const [index, input] of inputs.entries()) {
      // The request's row shows its answer or error.
      if (spacingMs === undefined) void handle.remote(input);
      else setTimeout(() => void handle.remote(input), index * spacingMs);
    }
  };

  const change = (name: string, text: string): void => {
    setTexts((previous) => ({ ...previous, [name]: text }));
    setErrors(({ [name]: _fixed, ...others }) => others);
  };

  return (
    <Panel title={title}>
      <Form onSubmit={() => send(1)}>
        <div className={fields.length > 1 ? 'field-grid' : undefined}>
          {fields.map(({ name, label, unit, hint: fieldHint }) => (
            <Field
              key={name}
              name={name}
              label={label}
              {...(unit && { unit })}
              hint={fieldHint}
              inputMode={isJson ? 'text' : 'decimal'}
              error={errors[name]}
              value={texts[name] ?? ''}
              onChange={(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
                change(name, event.target.value)
              }
              onBlur={() => isCheckedWhenLeft && setErrors(parse(texts, 1).errors ?? {})}
            />
          ))}
        </div>
        <div className="actions">
          <Button type="submit" variant="primary">
            Send
          </Button>
          {buttons.map(({ title: buttonTitle, numQueries, spacingMs }) => (
            <Button key={buttonTitle} onClick={() => send(numQueries, spacingMs)}>
              {buttonTitle}
            </Button>
          ))}
        </div>
        {hint !== undefined && <p className="field-hint">{hint}</p>}
      </Form>
    </Panel>
  );
}
