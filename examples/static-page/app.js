import { connect } from 'tabserve';

const form = document.querySelector('form');
const status = document.querySelector('[role=status]');
const stories = document.querySelector('ol');

const serve = await connect({
  name: 'static-page',
  worker: () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }),
});

let largestBatch = 0;
serve.subscribe('status', show);
serve.subscribe('stats', ({ steps }) => {
  largestBatch = Math.max(largestBatch, ...steps.map(({ batchSize }) => batchSize));
  show(serve.status());
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void write(new FormData(form).get('prompt'));
});

function show({ error, state, backend }) {
  if (error) status.textContent = error.message;
  else if (state !== 'ready') status.textContent = 'Loading the model…';
  else status.textContent = `Ready on ${backend.name}. Stories written together so far: ${largestBatch}.`;
}

/** A request that comes before the model is ready waits for it. */
async function write(prompt) {
  const story = document.createElement('li');
  stories.prepend(story);
  try {
    const options = { echo: true, maxNewTokens: 60, temperature: 0.8 };
    for await (const { text, isRestart } of serve.generate(prompt, options)) {
      // Another model has taken over and begins anew.
      if (isRestart) story.replaceChildren();
      story.append(text);
    }
  } catch (error) {
    story.append(error.message);
  }
}
