import { connect } from 'tabserve';

const form = document.querySelector('form');
const state = document.querySelector('[role=status]');
const stories = document.querySelector('ol');

const serve = await connect({
  name: 'static-page',
  worker: () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }),
  modelUrl: './node_modules/tabserve/dist/models/storyteller/',
});
const generator = serve.getHandle('text-generator');

serve.subscribe('status', ({ state: now, error, backend }) => {
  if (error) state.textContent = error.message;
  else state.textContent = now === 'ready' ? `Ready on ${backend.type}.` : 'Loading the model…';
});
serve.subscribe('stats', ({ numRunning }) => {
  if (numRunning > 0) state.textContent = `${numRunning} written in one batch.`;
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void write(new FormData(form).get('prompt'));
});

/** A request that comes before the model is ready waits for it. */
async function write(prompt) {
  const story = document.createElement('li');
  stories.prepend(story);
  try {
    for await (const { text } of generator.remote(prompt, { echo: true, maxNewTokens: 60, temperature: 0.8 }))
      story.append(text);
  } catch (error) {
    story.append(error.message);
  }
}
