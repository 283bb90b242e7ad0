import type { ComponentProps } from 'react';

import { InputField } from './input-field.tsx';

/** A text input: the number type hides wrong input and can’t hold Infinity. */
export function NumberField(props: ComponentProps<typeof InputField>) {
  return <InputField {...props} inputMode="decimal" />;
}
