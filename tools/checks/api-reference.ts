import { existsSync, readFileSync } from 'node:fs';

import { REFERENCE, stampOfSources } from '../package/api-reference/stamp.ts';

// docs/api has been written from the declarations that the package has now. It needs no typedoc.

const index = `${REFERENCE}/README.md`;
if (existsSync(index) && readFileSync(index, 'utf8').includes(stampOfSources())) {
  console.log(`${REFERENCE} is current.`);
} else {
  console.error(
    `${REFERENCE} is out of date: the package's declarations have changed. Run \`npm run write -- api\`.`,
  );
  process.exitCode = 1;
}
