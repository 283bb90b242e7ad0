/** More requests than a tab keeps, and more steps. */
export const LISTS = {
  numRequests: 4500,
  maxNewTokens: 5,
  prompt: 'Once upon a time, there was a little dog',
} as const;

/**
 * Runs in the page, sent there as text. Fills the lists of all tabs to their limits: what a tab keeps grows until then. One request
 * comes after the other, so that each has steps of its own.
 */
export async function fillLists({ numRequests, maxNewTokens, prompt }: typeof LISTS): Promise<void> {
  for (let index = 0; index < numRequests; index += 1)
    await window.tabserve.generate(prompt, { maxNewTokens, ignoreEos: true }).result();
}
