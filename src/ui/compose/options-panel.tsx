import { CheckField } from '../check-field.tsx';
import { Disclosure } from '../disclosure.tsx';
import { InputField } from '../input-field.tsx';
import { NumberField } from '../number-field.tsx';
import { useServeView } from '../state/serve-context.ts';
import { useComposer, useComposerView } from './composer-context.ts';
import { ECHO, GENERATION_FIELDS } from './generation-fields.ts';
import type { NumberOption } from './generation-fields.ts';

/** The options of the next request; the model's own defaults stand in the empty fields. */
export function OptionsPanel() {
  const composer = useComposer();
  const texts = useComposerView((view) => view.texts);
  const errors = useComposerView((view) => view.optionErrors);
  const defaults = useServeView((view) => view.status.model?.generationDefaults);
  const defaultNumbers: Partial<Record<NumberOption, number>> = defaults ?? {};
  const isDefault = Object.values(texts).every((text) => text === '');
  const judge = (): void => composer.checkOptions();
  return (
    <section className="panel options" aria-label="Generation options">
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
              onChange={(event) => composer.changeOption(name, event.target.value)}
              onBlur={judge}
            />
          ))}
          <InputField
            name="stop"
            label="Stop"
            hint="Ends before this text; \n = line break."
            error={errors.stop}
            value={texts.stop}
            placeholder={defaults && defaults.stop.length > 0 ? defaults.stop.join(' or ') : 'none'}
            onChange={(event) => composer.changeOption('stop', event.target.value)}
            onBlur={judge}
          />
          <InputField
            name="logitBias"
            label="Logit bias"
            hint="Makes tokens likelier or not, by id: -100 bans, 100 forces."
            error={errors.logitBias}
            value={texts.logitBias}
            placeholder="none"
            onChange={(event) => composer.changeOption('logitBias', event.target.value)}
            onBlur={judge}
          />
          <CheckField
            name="echo"
            label="Echo"
            hint="The stream that code reads begins with the prompt; the page shows it in any case."
            error={errors.echo}
            isChecked={texts.echo === ECHO}
            onChange={(isChecked) => composer.changeOption('echo', isChecked ? ECHO : '')}
          />
        </div>
        <div className="actions">
          <button
            type="button"
            className="button-quiet"
            disabled={isDefault}
            onClick={() => composer.resetOptions()}
          >
            All at their defaults
          </button>
        </div>
      </Disclosure>
    </section>
  );
}
