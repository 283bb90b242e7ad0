import { useId, useState } from 'react';

import { TextAreaField } from '../../parts/field.tsx';
import { Segments } from '../../parts/segments.tsx';
import type { Choices } from '../../parts/select.tsx';
import { readShape, writeShape } from '../../state/typed-shape.ts';
import { useIsServer } from '../../state/serve-context.ts';

const KINDS: Choices<string> = [
  ['', 'Any text'],
  ['choice', 'One of'],
  ['json_object', 'JSON'],
  ['json_schema', 'Schema'],
];

const BODIES: Readonly<
  Record<string, { readonly label: string; readonly hint: string; readonly example: string }>
> = {
  choice: {
    label: 'Choices',
    hint: 'One on each line. The answer is one of them.',
    example: 'positive\nnegative',
  },
  json_schema: {
    label: 'JSON Schema',
    hint: 'The answer is JSON that fits it. A keyword that can’t be enforced is refused by name.',
    example:
      '{\n  "type": "object",\n  "properties": { "name": { "type": "string" } },\n  "required": ["name"]\n}',
  },
};

interface ShapeFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string | undefined;
  /** As `writeShape` writes it. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur: () => void;
}

/** The shape of every answer. */
export function ShapeField({ label, hint, error, value, onChange, onBlur }: ShapeFieldProps) {
  const id = useId();
  /** By kind, so that text typed for another kind comes back with it. */
  const [bodies, setBodies] = useState<Readonly<Record<string, string>>>({});
  const { kind, body } = readShape(value);
  const text = BODIES[kind];
  const isServer = useIsServer();

  const choose = (next: string): void => {
    setBodies({ ...bodies, [kind]: body });
    onChange(writeShape({ kind: next, body: bodies[next] ?? '' }));
  };

  return (
    <div className="shape-field whole stack">
      <p className="shape-label">{label}</p>
      <Segments legend={label} name={id} value={kind} choices={KINDS} onChange={choose} />
      {text ? (
        <TextAreaField
          label={text.label}
          hint={
            kind === 'choice' && !isServer ? `${text.hint} The page shows how likely each is.` : text.hint
          }
          error={error}
          rows={kind === 'choice' ? 3 : 6}
          placeholder={text.example}
          value={body}
          onChange={({ target }) => onChange(writeShape({ kind, body: target.value }))}
          onBlur={onBlur}
        />
      ) : (
        <>
          {error !== undefined && (
            <p className="error-line" role="alert">
              {error}
            </p>
          )}
          <p className="field-hint">{kind === '' ? hint : 'The answer is a JSON object.'}</p>
        </>
      )}
    </div>
  );
}
