import type { ComponentProps } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: 'primary' | 'quiet' | 'small';
}

export function Button({ look, ...props }: ButtonProps) {
  return <button type="button" className={look && `button-${look}`} {...props} />;
}
