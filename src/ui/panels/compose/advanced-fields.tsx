import { lazy, Suspense, useId } from 'react';
import { useStore } from 'zustand';

import { Button } from '../../parts/button.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { InputField } from '../../parts/field.tsx';
import { PolicyKnobs } from '../policy/policy-knobs.tsx';
import { useIsServer, useServeView } from '../../state/serve-context.ts';
import './advanced-fields.css';
import { GENERATION_FIELDS, isUntouched } from '../../state/generation-fields.ts';
import { placeholderOf } from '../../state/typed-options.ts';
import type { GenerationField, GenerationTexts, OptionsForm } from '../../state/generation-fields.ts';

const ShapeField = lazy(async () => ({ default: (await import('../shapes/shape-field.tsx')).ShapeField }));

export interface AdvancedFieldsProps {
  readonly form: OptionsForm;
  readonly fields?: readonly GenerationField[];
  /** The value in force while a field is empty, where it isn’t the model’s. */
  readonly defaults?: GenerationTexts;
}

/** How requests wait, not what they write: few are in need of these. */
const OF_QUEUE: ReadonlySet<string> = new Set(['priority', 'timeoutMs']);

/** The options of the next request, and the batcher’s knobs. */
export function AdvancedFields({ form, fields = GENERATION_FIELDS, defaults = {} }: AdvancedFieldsProps) {
  const optionsId = useId();
  const knobsId = useId();
  const isServer = useIsServer();
  const numOfQueue = useStore(form.store, ({ texts }) =>
    fields.reduce((sum, { name }) => sum + Number(OF_QUEUE.has(name) && Boolean(texts[name])), 0),
  );
  const isReset = useStore(form.store, ({ texts }) => isUntouched(texts));
  return (
    <div className="advanced stack roomy">
      <section aria-labelledby={optionsId}>
        <h3 className="spaced-below" id={optionsId}>
          Generation options
        </h3>
        <OptionFields
          form={form}
          defaults={defaults}
          fields={fields.filter(({ name }) => !OF_QUEUE.has(name))}
        />
        <Disclosure title="Priority and timeout" note={numOfQueue > 0 ? `${numOfQueue} changed` : undefined}>
          <OptionFields
            form={form}
            defaults={defaults}
            fields={fields.filter(({ name }) => OF_QUEUE.has(name))}
          />
        </Disclosure>
        <div className="actions">
          <Button variant="quiet" disabled={isReset} onClick={() => form.resetOptions()}>
            Reset all
          </Button>
        </div>
      </section>
      {!isServer && (
        <section aria-labelledby={knobsId}>
          <h3 className="spaced-below" id={knobsId}>
            Batching knobs
          </h3>
          <PolicyKnobs />
        </section>
      )}
    </div>
  );
}

function OptionFields({ form, fields, defaults }: Required<AdvancedFieldsProps>) {
  return (
    <div className="generation-options stack loose">
      {fields.map((field) => (
        <OptionField key={field.name} form={form} field={field} ownDefault={defaults[field.name]} />
      ))}
    </div>
  );
}

interface OptionFieldProps {
  readonly form: OptionsForm;
  readonly field: GenerationField;
  readonly ownDefault: string | undefined;
}

/** The default stands in the empty field. */
function OptionField({ form, field, ownDefault }: OptionFieldProps) {
  const { name, label, hint, option } = field;
  const text = useStore(form.store, (view) => view.texts[name] ?? '');
  const error = useStore(form.store, (view) => view.optionErrors[name]);
  const defaults = useServeView((view) => view.status.model?.generationDefaults);
  const texts = { name, label, hint, error };
  if (option.type === 'response-format') {
    return (
      <Suspense>
        <ShapeField
          {...texts}
          value={text}
          onChange={(value) => form.changeOption(name, value)}
          onBlur={() => form.checkOptions()}
        />
      </Suspense>
    );
  }
  return (
    <InputField
      {...texts}
      inputMode={option.type === 'integer' || option.type === 'number' ? 'decimal' : 'text'}
      value={text}
      placeholder={ownDefault ?? placeholderOf(field, defaults)}
      onChange={(event) => form.changeOption(name, event.target.value)}
      onBlur={() => form.checkOptions()}
    />
  );
}
