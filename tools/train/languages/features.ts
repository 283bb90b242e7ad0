import { createInterface } from 'node:readline';

import { featuresOf } from '../../../examples/classify-list/src/features.ts';
import { LANGUAGES } from '../../../examples/classify-list/src/languages.ts';

// Prints the app's languages in the order of the model's outputs, then for each line of standard input the indices and values of
// the features that are not zero. So training has the features that the app computes.

console.log(JSON.stringify(LANGUAGES));
for await (const text of createInterface({ input: process.stdin })) {
  const found = Array.from(featuresOf(text).entries()).filter(([, value]) => value !== 0);
  console.log(JSON.stringify([found.map(([index]) => index), found.map(([, value]) => value)]));
}
