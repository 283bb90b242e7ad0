export const MODEL_BOX_BUTTON = 'model-box-button';

/** Opens the box with the choice of a model, and moves the focus there. */
export function openModelBox(): void {
  const button = document.querySelector<HTMLElement>(`#${MODEL_BOX_BUTTON}`);
  button?.focus();
  if (button?.getAttribute('aria-expanded') === 'false') button.click();
}
