import { lazy, Suspense, type ReactNode } from 'react';
import { useStore } from 'zustand';
import { DEFAULT_POLICY, type BatchingPolicy } from '../../../client/index.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { keysOf } from '../../parts/keys-of.ts';
import { basePolicyOf } from '../../state/serve-store.ts';
import { useIsServer, useServeView } from '../../state/serve-context.ts';
import type { AdvancedFieldsProps } from './advanced-fields.tsx';
import type { GenerationTexts } from '../../state/generation-fields.ts';

const AdvancedFields = lazy(async () => ({
  default: (await import('./advanced-fields.tsx')).AdvancedFields,
}));

/** Everything that has a good default, and how much of it was changed. */
export function AdvancedPanel({
  children,
  ...props
}: AdvancedFieldsProps & {
  /** Above the fields. */
  readonly children?: ReactNode;
}) {
  const isServer = useIsServer();
  const numOptions = useStore(props.form.store, ({ texts }) => countSet(texts));
  const numKnobs = useServeView(({ status }) => countChanged(basePolicyOf(status)));
  const numChanged = numOptions + (isServer ? 0 : numKnobs);
  return (
    <Disclosure title="Advanced" note={numChanged > 0 ? `${numChanged} changed` : undefined}>
      {children}
      <Suspense>
        <AdvancedFields {...props} />
      </Suspense>
    </Disclosure>
  );
}

function countSet(texts: GenerationTexts): number {
  return Object.values(texts).filter((text) => text !== '').length;
}

function countChanged(policy: BatchingPolicy): number {
  return keysOf(DEFAULT_POLICY).filter((name) => name !== 'policy' && policy[name] !== DEFAULT_POLICY[name])
    .length;
}
