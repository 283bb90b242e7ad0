import { mkdir, writeFile } from 'node:fs/promises';

import { QUIET_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { contentSecurityPolicy } from '../../bridge/static/content-security-policy.ts';
import { buildPage } from '../bench/build-page.ts';
import { pathOf } from '../bench/paths.ts';
import { startSmollm2Hub } from '../bench/smollm2.ts';
import { withBrowser } from '../bench/with-browser.ts';
import { recordFilm } from './record-film.ts';
import type { Stage } from './scene.ts';
import { takePictures } from './take-pictures.ts';

// Records the README's film, or takes the pictures of the documents.

interface Recording {
  /** Where its files go. */
  readonly folder: string;
  readonly record: (stage: Stage) => AsyncIterable<readonly [name: string, file: Buffer]>;
  /** Of all its files. */
  readonly maxBytes: number;
}

const RECORDINGS: Readonly<Record<string, Recording>> = {
  film: { folder: '.github', record: recordFilm, maxBytes: 2_000_000 },
  pictures: { folder: 'docs/pictures', record: takePictures, maxBytes: 1_500_000 },
};

const recording = RECORDINGS[process.argv[2] ?? ''];
if (!recording) throw new Error(`Pass one of ${Object.keys(RECORDINGS).join(', ')}.`);
const { folder, record, maxBytes } = recording;
await mkdir(pathOf(folder), { recursive: true });
const hub = await startSmollm2Hub();
const site = { root: await buildPage(), args: QUIET_ARGUMENTS, policy: contentSecurityPolicy([hub.url]) };
let numBytes = 0;
await withBrowser(site, async ({ browser, url }) => {
  for await (const [name, file] of record({ browser, url, hub: hub.url })) {
    await writeFile(pathOf(`${folder}/${name}`), file);
    console.log(`${folder}/${name}: ${(file.length / 1e6).toFixed(2)} MB`);
    numBytes += file.length;
  }
});
await hub.close();
if (numBytes > maxBytes) throw new Error(`More than ${maxBytes / 1e6} MB: lower the quality.`);
