import { connect } from 'tabserve';

import { app } from './connection.js';

const button = document.querySelector('button');
const story = document.querySelector('p');

await chrome.runtime.sendMessage('open the offscreen document');
// A popup closes with the next click elsewhere: it must not run the model.
const serve = await connect({ ...app, canLead: false });
button.disabled = false;

button.addEventListener('click', () => void write());

async function write() {
  button.disabled = true;
  story.textContent = 'Once upon a time,';
  try {
    for await (const { text } of serve.generate(story.textContent, { maxNewTokens: 300, seed: 7 }))
      story.append(text);
  } catch (error) {
    story.append(` ${error.message}`);
  } finally {
    button.disabled = false;
  }
}
