import type { Browser, Locator, Page } from 'playwright';

import { loadSmollm2 } from '../bench/smollm2.ts';
import reference from '../reference/fixtures/gguf-smollm2-reference.json' with { type: 'json' };

/** A picture of the page, and when it was drawn, s. */
interface Frame {
  readonly jpeg: string;
  readonly atSeconds: number;
}

/** Wide enough for eight chats side by side. */
const VIEWPORT = { width: 2200, height: 1375 };
const SIZE = { width: 1600, height: 1000 };
const SECONDS = 10;
const QUESTIONS = reference.chats.map(({ question }) => question);
const BITS_PER_SECOND = 1_300_000;

/** Films the page for ten seconds: eight chats of SmolLM2, asked at once. Returns a WebM. */
export async function recordRun(browser: Browser, url: string, hub: string): Promise<Buffer> {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme: 'light' });
  try {
    const page = await context.newPage();
    await openChats(page, url, hub);
    const stop = await film(page);
    const end = performance.now() + SECONDS * 1000;
    await page.waitForTimeout(700);
    for (const box of await boxesOf(page).all()) await box.press('Enter');
    await page.waitForTimeout(Math.max(0, end - performance.now()));
    const frames = await stop();
    return await encode(await context.newPage(), frames);
  } finally {
    await context.close();
  }
}

/** A chat for each question, which is typed but not sent. */
async function openChats(page: Page, url: string, hub: string): Promise<void> {
  await page.goto(`${url}/?backend=wasm&view=chat#seed=7`);
  await page.waitForFunction(() => window.tabserve?.status().state === 'ready');
  await loadSmollm2(page, hub, 'fp32');
  while ((await boxesOf(page).count()) < QUESTIONS.length) {
    await page.getByRole('button', { name: 'New chat' }).click();
  }
  for (const [index, question] of QUESTIONS.entries()) await boxesOf(page).nth(index).fill(question);
}

function boxesOf(page: Page): Locator {
  return page.getByRole('textbox', { name: /^Message to Chat \d/ });
}

/** Collects the pictures that the browser draws; the returned function ends it. */
async function film(page: Page): Promise<() => Promise<readonly Frame[]>> {
  const session = await page.context().newCDPSession(page);
  const frames: Frame[] = [];
  session.on('Page.screencastFrame', ({ data, sessionId, metadata }) => {
    frames.push({ jpeg: data, atSeconds: metadata.timestamp ?? performance.now() / 1000 });
    session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
  });
  await session.send('Page.startScreencast', { format: 'jpeg', quality: 92 });
  return async () => {
    await session.send('Page.stopScreencast');
    return frames;
  };
}

/** The browser's own encoder writes the film, in real time. */
async function encode(page: Page, frames: readonly Frame[]): Promise<Buffer> {
  const base64 = await page.evaluate(encodeInPage, {
    frames,
    ...SIZE,
    seconds: SECONDS,
    bitsPerSecond: BITS_PER_SECOND,
  });
  return Buffer.from(base64, 'base64');
}

interface Film {
  readonly frames: readonly Frame[];
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly bitsPerSecond: number;
}

/** Runs in a page. */
async function encodeInPage({ frames, width, height, seconds, bitsPerSecond }: Film): Promise<string> {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  const [first] = frames;
  if (!context || !first) throw new Error('There is nothing to encode.');
  const pictures = await Promise.all(
    frames.map(async ({ jpeg, atSeconds }) => {
      const bytes = Uint8Array.from(atob(jpeg), (character) => character.codePointAt(0) ?? 0);
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
      return { bitmap, atSeconds: atSeconds - first.atSeconds };
    }),
  );
  const recorder = new MediaRecorder(canvas.captureStream(25), {
    mimeType: 'video/webm;codecs=vp9',
    videoBitsPerSecond: bitsPerSecond,
  });
  const parts: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data));
  const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve));
  recorder.start();
  const startMs = performance.now();
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - startMs) / 1000) {
    const shown = pictures.findLast(({ atSeconds }) => atSeconds <= elapsed) ?? pictures[0];
    if (shown) context.drawImage(shown.bitmap, 0, 0, width, height);
    await new Promise(requestAnimationFrame);
  }
  recorder.stop();
  await stopped;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCodePoint(byte);
  return btoa(binary);
}
