import { rm } from 'node:fs/promises';

import { buildForBrowsers } from './browser-build.ts';
import { writeDeclarations } from './declarations.ts';
import { buildForNode } from './node-build.ts';
import { pack } from './pack.ts';
import { OUTPUT } from './paths.ts';

// The package's entries, in dist-package/, and the package itself, in tabserve.tgz: with the built page of dist/.

await rm(OUTPUT, { recursive: true, force: true });
await Promise.all([buildForBrowsers(), buildForNode(), writeDeclarations()]);
await pack();
