/** What the offscreen document and the popup have in common. */
export const app = {
  name: 'stories',
  worker: () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }),
};
