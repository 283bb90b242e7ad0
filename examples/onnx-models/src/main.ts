import { connect } from 'tabserve';

import { pixelsOf } from './pixels.ts';
import type { deployments } from './worker.ts';

const serve = await connect<typeof deployments>({
  name: 'onnx-models',
  worker: () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }),
  // This app generates no text.
  model: null,
});
// For the console: await serve.getHandle('digits').remote(pixelsOf(document.querySelector('canvas')))
Object.assign(globalThis, { serve, pixelsOf });

const canvas = find('canvas', HTMLCanvasElement);
const output = find('output', HTMLOutputElement);
const context = canvas.getContext('2d', { willReadFrequently: true });

canvas.addEventListener('pointermove', ({ buttons, offsetX, offsetY }) => {
  if (!context || buttons === 0) return;
  context.fillStyle = 'white';
  context.beginPath();
  context.arc(offsetX, offsetY, canvas.width / 14, 0, 2 * Math.PI);
  context.fill();
});
canvas.addEventListener('pointerdown', () => context?.clearRect(0, 0, canvas.width, canvas.height));
canvas.addEventListener('pointerup', () => void read());
serve.subscribe('status', ({ error }) => {
  if (error) output.textContent = error.message;
});

async function read(): Promise<void> {
  const { digit, probabilities } = await serve.getHandle('digits').remote(pixelsOf(canvas));
  output.textContent = `${digit}, ${(100 * (probabilities[digit] ?? 0)).toFixed(0)}%`;
}

function find<Kind extends Element>(selector: string, Class: new () => Kind): Kind {
  const element = document.querySelector(selector);
  if (element instanceof Class) return element;
  throw new Error(`The page has no ${selector}.`);
}
