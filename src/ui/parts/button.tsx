import { useRef, type ComponentProps } from 'react';

import { useFocusKept } from './use-focus-kept.ts';

interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: 'primary' | 'quiet' | 'small' | undefined;
}

/** Who gives a ref sees to the button’s focus. */
export function Button({ variant, ref, ...props }: ButtonProps) {
  const ownRef = useRef<HTMLButtonElement>(null);
  useFocusKept(ownRef, props.disabled);
  return <button type="button" ref={ref ?? ownRef} className={variant && `button-${variant}`} {...props} />;
}
