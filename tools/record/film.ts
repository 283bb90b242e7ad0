import type { Page } from 'playwright';

/** A picture of a tab, and when it was drawn, s. A closed tab has none. */
interface Frame {
  /** Of the tab, from left to right. */
  readonly place: number;
  readonly jpeg: string | undefined;
  readonly atSeconds: number;
}

/** How to encode the pictures of `numPlaces` tabs, side by side. */
interface Format {
  readonly numPlaces: number;
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly bitsPerSecond: number;
}

/** A part that is shown faster than it was. Times are those of the clock, s. */
interface FastPart {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** How long it lasts in the film. */
  readonly lasts: number;
  /** Said meanwhile, followed by the factor. */
  readonly caption: string;
}

/** Collects the pictures that the browser draws of these tabs; the returned function ends it. */
export async function film(pages: readonly Page[]): Promise<() => readonly Frame[]> {
  const frames: Frame[] = [];
  let isOver = false;
  const add = (frame: Frame): unknown => isOver || frames.push(frame);
  for (const [place, page] of pages.entries()) {
    const session = await page.context().newCDPSession(page);
    session.on('Page.screencastFrame', ({ data, sessionId, metadata }) => {
      add({ place, jpeg: data, atSeconds: metadata.timestamp ?? Date.now() / 1000 });
      session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
    });
    page.on('close', () => add({ place, jpeg: undefined, atSeconds: Date.now() / 1000 }));
    await session.send('Page.startScreencast', { format: 'jpeg', quality: 82, everyNthFrame: 2 });
  }
  return () => {
    isOver = true;
    return frames;
  };
}

/** Returns a WebM. The encoder of the browser writes it, in real time. */
export async function encode(
  page: Page,
  frames: readonly Frame[],
  fast: FastPart,
  format: Format,
): Promise<Buffer> {
  // A canvas gives pictures only where it is drawn.
  await page.bringToFront();
  const base64 = await page.evaluate(encodeInPage, { frames, fast, ...format });
  return Buffer.from(base64, 'base64');
}

interface Film extends Format {
  readonly frames: readonly Frame[];
  readonly fast: FastPart;
}

/** Runs in the page. */
async function encodeInPage({ frames, fast, ...format }: Film): Promise<string> {
  const { numPlaces, width, height, seconds, bitsPerSecond } = format;
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  if (!context || frames.length === 0) throw new Error('There is nothing to encode.');
  const startSeconds = Math.min(...frames.map(({ atSeconds }) => atSeconds));
  const pictures = await Promise.all(
    frames.map(async ({ place, jpeg = '', atSeconds }) => {
      const bytes = Uint8Array.from(atob(jpeg), (character) => character.codePointAt(0) ?? 0);
      const bitmap = jpeg && (await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' })));
      return { place, bitmap, atSeconds: atSeconds - startSeconds };
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
  const [fastFrom, fastTo] = [fast.fromSeconds - startSeconds, fast.toSeconds - startSeconds];
  const factor = Math.max(1, (fastTo - fastFrom) / fast.lasts);
  const fastEnd = fastFrom + (fastTo - fastFrom) / factor;
  const startMs = performance.now();
  for (let shownFor = 0; shownFor < seconds; shownFor = (performance.now() - startMs) / 1000) {
    const isFast = shownFor > fastFrom && shownFor < fastEnd;
    const elapsed = isFast
      ? fastFrom + (shownFor - fastFrom) * factor
      : shownFor + (shownFor > fastFrom ? fastTo - fastEnd : 0);
    for (let place = 0; place < numPlaces; place += 1) {
      const ofPlace = pictures.filter((picture) => picture.place === place);
      const shown = ofPlace.findLast(({ atSeconds }) => atSeconds <= elapsed) ?? ofPlace[0];
      const [x, tabWidth] = [(place * width) / numPlaces, width / numPlaces];
      if (shown?.bitmap) context.drawImage(shown.bitmap, x, 0, tabWidth, height);
      else context.fillRect(x, 0, tabWidth, height);
    }
    if (isFast && factor > 1) {
      context.save();
      Object.assign(context, {
        fillStyle: 'white',
        font: `${height / 30}px sans-serif`,
        textAlign: 'center',
      });
      context.fillText(`${fast.caption}: ${factor.toFixed(0)} × as fast`, width / numPlaces / 2, height / 2);
      context.restore();
    }
    await new Promise(requestAnimationFrame);
  }
  recorder.stop();
  await stopped;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCodePoint(byte);
  return btoa(binary);
}
