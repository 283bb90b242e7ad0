import { writeFile } from 'node:fs/promises';

import { QUIET_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { contentSecurityPolicy } from '../../bridge/static/content-security-policy.ts';
import { buildPage } from '../bench/build-page.ts';
import { pathOf } from '../bench/paths.ts';
import { startSmollm2Hub } from '../bench/smollm2.ts';
import { withBrowser } from '../bench/with-browser.ts';
import { recordRun } from './record-run.ts';

// Records the README's film: ten seconds of eight chats with a real model.

const FILM = pathOf('.github/run.webm');
const MAX_FILM_BYTES = 2_000_000;

const hub = await startSmollm2Hub();
const policy = contentSecurityPolicy([hub.url]);
const site = { root: await buildPage(), args: QUIET_ARGUMENTS, policy };
const film = await withBrowser(site, ({ browser, url }) => recordRun(browser, url, hub.url));
await hub.close();
await writeFile(FILM, film);
console.log(`${FILM}: ${(film.length / 1e6).toFixed(2)} MB`);
if (film.length > MAX_FILM_BYTES) throw new Error('The film is over 2 MB: lower its bit rate.');
