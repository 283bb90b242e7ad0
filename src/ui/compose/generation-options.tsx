import { Disclosure } from '../disclosure.tsx';
import { InputField } from '../input-field.tsx';
import { NumberField } from '../number-field.tsx';
import { useServeView } from '../state/serve-context.ts';
import { GENERATION_FIELDS } from './generation-fields.ts';
import type {
  GenerationErrors,
  GenerationField,
  GenerationTexts,
  NumberOption,
} from './generation-fields.ts';

interface GenerationOptionsProps {
  readonly texts: GenerationTexts;
  readonly errors: GenerationErrors;
  readonly onChange: (field: GenerationField, text: string) => void;
  readonly onLeave: () => void;
}

/** The options of the next request; the model's own defaults stand in the empty fields. */
export function GenerationOptions({ texts, errors, onChange, onLeave }: GenerationOptionsProps) {
  const defaults = useServeView((view) => view.status.model?.generationDefaults);
  const defaultNumbers: Partial<Record<NumberOption, number>> = defaults ?? {};
  return (
    <Disclosure title="Generation options">
      <div className="generation-options">
        {GENERATION_FIELDS.map(({ name, label, hint, whenEmpty }) => (
          <NumberField
            key={name}
            name={name}
            label={label}
            hint={hint}
            error={errors[name]}
            value={texts[name]}
            placeholder={whenEmpty ?? String(defaultNumbers[name] ?? 'default')}
            onChange={(event) => onChange(name, event.target.value)}
            onBlur={onLeave}
          />
        ))}
        <InputField
          name="stop"
          label="Stop"
          hint="ends before this text; \n = line break"
          error={errors.stop}
          value={texts.stop}
          placeholder={defaults && defaults.stop.length > 0 ? defaults.stop.join(' or ') : 'none'}
          onChange={(event) => onChange('stop', event.target.value)}
          onBlur={onLeave}
        />
      </div>
    </Disclosure>
  );
}
