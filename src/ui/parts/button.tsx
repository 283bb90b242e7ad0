import type { ComponentProps } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: 'primary' | 'quiet' | 'small';
}

export function Button({ variant, ...props }: ButtonProps) {
  return <button type="button" className={variant && `button-${variant}`} {...props} />;
}
