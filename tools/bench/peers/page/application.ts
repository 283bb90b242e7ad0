import { offerContenders } from './bench-page.ts';
import { contendWith } from './tabserve.ts';

// Runs in the built application, whose address has chosen the backend: prompts come in through the page's console API.

offerContenders(() => {
  const { tabserve } = window;
  if (!tabserve) throw new Error('The page has no client.');
  return contendWith(tabserve);
});
