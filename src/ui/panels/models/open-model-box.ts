export const MODEL_BOX_BUTTON = 'model-box-button';
export const MODEL_FIELD = 'model-field';

let isWanted = false;

/** Opens the box with the choice of a model, and moves the focus to its field. */
export function openModelBox(): void {
  const button = document.querySelector<HTMLElement>(`#${MODEL_BOX_BUTTON}`);
  if (button?.getAttribute('aria-expanded') === 'true') {
    document.querySelector<HTMLElement>(`#${MODEL_FIELD}`)?.focus();
    return;
  }
  isWanted = true;
  button?.focus();
  button?.click();
}

/** Whether the field, which comes with a script of its own, takes the focus. Asked once. */
export function isModelFieldWanted(): boolean {
  const was = isWanted;
  isWanted = false;
  return was;
}
