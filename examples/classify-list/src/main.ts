import { connect } from 'tabserve';

import type { deployments } from './deployments.ts';
import './style.css';

const serve = await connect<typeof deployments>({
  name: 'classify-list',
  worker: () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }),
  // This app generates no text.
  model: null,
});
const detector = serve.getHandle('language');

const form = find('form', HTMLFormElement);
const list = find('textarea', HTMLTextAreaElement);
const rows = find('tbody', HTMLTableSectionElement);
const summary = find('output', HTMLOutputElement);

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void classifyAll(list.value.split('\n').filter((line) => line.trim() !== ''));
});
serve.subscribe('status', ({ error }) => {
  if (error) summary.textContent = error.message;
});

/** Each text is a request of its own. The worker gathers them into batches, with those of other tabs. */
async function classifyAll(texts: readonly string[]): Promise<void> {
  const sizes: number[] = [];
  const unsubscribe = serve.subscribe('batch', ({ batchSize }) => sizes.push(batchSize));
  const start = performance.now();
  rows.replaceChildren();
  await Promise.all(texts.map((text) => classify(text, rows.insertRow())));
  const ms = performance.now() - start;
  unsubscribe();
  summary.textContent = `${texts.length} texts in ${ms.toFixed(0)} ms, in batches of ${sizes.join(' + ')}.`;
}

async function classify(text: string, row: HTMLTableRowElement): Promise<void> {
  row.insertCell().textContent = text;
  const answer = row.insertCell();
  try {
    const { language, probability } = await detector.remote(text);
    answer.textContent = language;
    const meter = document.createElement('meter');
    meter.value = probability;
    meter.title = `${(100 * probability).toFixed(0)}%`;
    row.insertCell().append(meter);
  } catch (error) {
    answer.colSpan = 2;
    answer.className = 'error';
    answer.textContent = error instanceof Error ? error.message : String(error);
  }
}

function find<Kind extends Element>(selector: string, Class: new () => Kind): Kind {
  const element = document.querySelector(selector);
  if (element instanceof Class) return element;
  throw new Error(`The page has no ${selector}.`);
}
