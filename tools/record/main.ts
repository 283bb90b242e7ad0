import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { build } from 'vite';

import { startServer } from '../../bridge/server.ts';
import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { QUIET_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { createChatModel } from './chat-model.ts';
import { recordRun } from './record-run.ts';
import { SCHEMES, SIZES, takePictures } from './take-pictures.ts';

// What a reader of the README sees of the page: ten seconds of a run as a film, and every state of the page at every size. `film` or
// `pictures` makes the one or the other, `pictures 360x780` those of one size.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILM = `${ROOT}/.github/run.webm`;
const PICTURES = `${ROOT}/.github/screens`;
const MAX_FILM_BYTES = 2_000_000;

await build({ root: ROOT, logLevel: 'warn' });
const found = await findBrowser();
const server = await startServer({ host: 'localhost', port: 0, root: `${ROOT}/dist` });
const browser = await chromium.launch({ executablePath: found.path, args: [...QUIET_ARGUMENTS] });
try {
  const [only, onlySize] = process.argv.slice(2);
  if (only !== 'pictures') {
    const film = await recordRun(browser, server.url);
    await writeFile(FILM, film);
    console.log(`${FILM}: ${(film.length / 1e6).toFixed(2)} MB`);
    if (film.length > MAX_FILM_BYTES) throw new Error('The film is over 2 MB: lower its bit rate.');
  }
  if (only !== 'film') {
    await mkdir(PICTURES, { recursive: true });
    const chatModel = await createChatModel();
    for (const size of SIZES.filter((one) => onlySize === undefined || one === onlySize))
      for (const scheme of SCHEMES)
        await takePictures(browser, server.url, { size, scheme, folder: PICTURES, chatModel });
  }
} finally {
  await browser.close();
  await server.close();
}
