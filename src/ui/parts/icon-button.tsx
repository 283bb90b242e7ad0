import type { ComponentProps } from 'react';

import { Button } from './button.tsx';

interface IconButtonProps extends Omit<ComponentProps<typeof Button>, 'className' | 'variant'> {
  readonly label: string;
  readonly hint: string;
  /** In a box of 16 × 16. */
  readonly path: string;
}

export function IconButton({ label, hint, path, ...props }: IconButtonProps) {
  return (
    <Button className="button-quiet icon-button" aria-label={label} title={hint} {...props}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d={path} />
      </svg>
    </Button>
  );
}
