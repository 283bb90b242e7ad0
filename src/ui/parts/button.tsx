import { useRef, type ComponentProps, useLayoutEffect, type RefObject } from 'react';
import { afterPaint } from '../browser/after-paint.ts';

interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: 'primary' | 'quiet' | 'small' | undefined;
}

/** Who gives a ref sees to the button’s focus. */
export function Button({ variant, ref, ...props }: ButtonProps) {
  const ownRef = useRef<HTMLButtonElement>(null);
  useFocusKept(ownRef, props.disabled);
  return <button type="button" ref={ref ?? ownRef} className={variant && `button-${variant}`} {...props} />;
}

/** What a screen reader names. */
const PLACES = 'li, section, dialog, aside, main';

/** Hands the focus of a button that goes or is disabled to the nearest place around it: it would fall to the page’s beginning. */
function useFocusKept(ref: RefObject<HTMLElement | null>, isDisabled = false): void {
  useLayoutEffect(() => {
    const button = isDisabled ? null : ref.current;
    return () => {
      if (button && button === document.activeElement) void handOn(button);
    };
  }, [ref, isDisabled]);
}

async function handOn(button: HTMLElement): Promise<void> {
  const around = [...document.querySelectorAll<HTMLElement>(PLACES)].filter((place) =>
    place.contains(button),
  );
  // What comes in its place may take the focus by itself.
  await afterPaint();
  for (const place of around.toReversed()) {
    // The browser takes it from a disabled button a little later.
    if (!document.activeElement?.matches('body, :disabled')) return;
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }
}
