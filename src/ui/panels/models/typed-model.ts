import { EMBEDDED } from './embedded-model.ts';

/** An id with a slash behind it, or the address of a model's page on the hub, as the browser's bar has it. */
const PAGE =
  /^(?:(?:https?:\/\/)?(?:www\.)?(?:huggingface|hf)\.co\/)?([\w.-]+\/[\w.-]+)(?:\/tree\/main)?\/?(?:[?#]\S*)?$/;

/** The model that the field names, as `loadModel` takes it; or the words of a search. */
export function typedModel(text: string): string {
  const trimmed = text.trim();
  return PAGE.exec(trimmed)?.[1] ?? trimmed;
}

/** Whether the text names one model: with its owner, or the address of a folder. Any other text is a search. */
export function isFullId(text: string): boolean {
  return /^(?:\.{0,2}\/|https?:|[^\s/]+\/[^\s/]+$)/.test(text) || text === EMBEDDED;
}
