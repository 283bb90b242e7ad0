import { Button } from '../button.tsx';
import { Disclosure } from '../disclosure.tsx';
import { CheckField, InputField } from '../field.tsx';
import { useServeView } from '../state/serve-context.ts';
import { useComposer, useComposerView } from './composer-context.ts';
import { GENERATION_FIELDS, placeholderOf } from './generation-fields.ts';
import type { GenerationField } from './generation-fields.ts';

/** The options of the next request; the model's own defaults stand in the empty fields. */
export function OptionsPanel() {
  const composer = useComposer();
  const texts = useComposerView((view) => view.texts);
  return (
    <section className="panel options" aria-label="Generation options">
      <Disclosure title="Generation options">
        <div className="generation-options">
          {GENERATION_FIELDS.map((field) => (
            <OptionField key={field.name} field={field} />
          ))}
        </div>
        <div className="actions">
          <Button
            variant="quiet"
            disabled={Object.values(texts).every((text) => text === '')}
            onClick={() => composer.resetOptions()}
          >
            All at their defaults
          </Button>
        </div>
      </Disclosure>
    </section>
  );
}

function OptionField({ field }: { readonly field: GenerationField }) {
  const { name, label, hint, option } = field;
  const composer = useComposer();
  const text = useComposerView((view) => view.texts[name] ?? '');
  const error = useComposerView((view) => view.optionErrors[name]);
  const defaults = useServeView((view) => view.status.model?.generationDefaults);
  const texts = { name, label, hint, error };
  if (option.type === 'boolean') {
    return (
      <CheckField
        {...texts}
        checked={text === 'true'}
        onChange={(event) => composer.changeOption(name, event.target.checked ? 'true' : '')}
      />
    );
  }
  return (
    <InputField
      {...texts}
      inputMode={option.type === 'integer' || option.type === 'number' ? 'decimal' : 'text'}
      value={text}
      placeholder={placeholderOf(field, defaults)}
      onChange={(event) => composer.changeOption(name, event.target.value)}
      onBlur={() => composer.checkOptions()}
    />
  );
}
