import { lazy, Suspense, useId } from 'react';
import { useStore } from 'zustand';

import type { OptionName } from '../../../client/index.ts';
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

/** What an option does, in the words of the form. */
const HINTS: Readonly<Partial<Record<OptionName, string>>> = {
  maxNewTokens: 'The longest continuation; it may end earlier.',
  temperature: '0 always takes the likeliest token; more is more varied.',
  topK: 'Draws from the k likeliest tokens; 0 = all.',
  topP: 'Draws from the likeliest tokens that reach this share; 1 = all.',
  minP: 'Drops tokens less likely than this fraction of the likeliest; 0 = off.',
  repetitionPenalty: 'Above 1, penalizes tokens that the text has already; 1 = off.',
  presencePenalty: 'Penalizes tokens that have been generated; -2 to 2, 0 = off.',
  frequencyPenalty: 'Penalizes a token each time it has been generated; -2 to 2, 0 = off.',
  logitBias: 'Makes tokens more or less likely, by id: -100 bans, 100 forces.',
  seed: 'Same seed, prompt and options: same text.',
  logprobs: 'Shows how likely each token was, beside this many alternatives; up to 20.',
  stop: 'Ends before this text; \\n = line break.',
  n: 'Different ones of the same prompt, side by side.',
  priority: 'Waiting requests with a lower number start first; -100 to 100.',
  timeoutMs: 'Give up after this many milliseconds.',
};

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
  const { name, label, option } = field;
  const text = useStore(form.store, (view) => view.texts[name] ?? '');
  const error = useStore(form.store, (view) => view.optionErrors[name]);
  const defaults = useServeView((view) => view.status.model?.generationDefaults);
  const texts = { name, label, error };
  if (option.type === 'response-format') {
    return (
      <Suspense>
        <ShapeField
          {...texts}
          hint="Every answer then has this shape."
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
      hint={HINTS[name]}
      inputMode={option.type === 'integer' || option.type === 'number' ? 'decimal' : 'text'}
      value={text}
      placeholder={ownDefault ?? placeholderOf(field, defaults)}
      onChange={(event) => form.changeOption(name, event.target.value)}
      onBlur={() => form.checkOptions()}
    />
  );
}
