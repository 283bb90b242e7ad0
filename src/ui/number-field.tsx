import type { ComponentProps } from 'react';

import { InputField } from './input-field.tsx';

/** A text input on purpose: the number type hides what was typed wrong, and cannot hold Infinity. */
export function NumberField(props: ComponentProps<typeof InputField>) {
  return <InputField {...props} inputMode="decimal" />;
}
