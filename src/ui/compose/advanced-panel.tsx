import { DEFAULT_POLICY, type BatchingPolicy } from '../../worker/protocol/status.ts';
import { Button } from '../button.tsx';
import { Disclosure } from '../disclosure.tsx';
import { CheckField, InputField } from '../field.tsx';
import { PolicyKnobs } from '../policy/policy-knobs.tsx';
import { KNOBS } from '../policy/policy-texts.ts';
import { basePolicyOf } from '../state/base-policy.ts';
import { useIsUpstream, useServeView } from '../state/serve-context.ts';
import './advanced-panel.css';
import { useComposer, useComposerView } from './composer-context.ts';
import { GENERATION_FIELDS, placeholderOf } from './generation-fields.ts';
import type { GenerationField, GenerationTexts } from './generation-fields.ts';

/** Everything that has a good default: the options of the next request, and the batcher’s knobs. */
export function AdvancedPanel() {
  const isUpstream = useIsUpstream();
  const numOptions = useComposerView(({ texts }) => countSet(texts));
  const numKnobs = useServeView(({ status }) => countChanged(basePolicyOf(status)));
  const numChanged = numOptions + (isUpstream ? 0 : numKnobs);
  return (
    <Disclosure title="Advanced" note={numChanged > 0 ? `${numChanged} changed` : undefined}>
      <div className="advanced">
        <section aria-labelledby="options-title">
          <h3 id="options-title">Generation options</h3>
          <Options isDefault={numOptions === 0} />
        </section>
        {!isUpstream && (
          <section aria-labelledby="knobs-title">
            <h3 id="knobs-title">Batching knobs</h3>
            <PolicyKnobs />
          </section>
        )}
      </div>
    </Disclosure>
  );
}

function countSet(texts: GenerationTexts): number {
  return Object.values(texts).filter((text) => text !== '').length;
}

function countChanged(policy: BatchingPolicy): number {
  const names = [...KNOBS.map(({ name }) => name), 'prefixCaching'] as const;
  return names.filter((name) => policy[name] !== DEFAULT_POLICY[name]).length;
}

/** The model's own defaults stand in the empty fields. */
function Options({ isDefault }: { readonly isDefault: boolean }) {
  const composer = useComposer();
  return (
    <>
      <div className="generation-options">
        {GENERATION_FIELDS.map((field) => (
          <OptionField key={field.name} field={field} />
        ))}
      </div>
      <div className="actions">
        <Button variant="quiet" disabled={isDefault} onClick={() => composer.resetOptions()}>
          Reset all
        </Button>
      </div>
    </>
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
