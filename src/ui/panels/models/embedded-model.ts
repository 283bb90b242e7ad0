/** The model that comes with the page. */
export const EMBEDDED = 'storyteller';
