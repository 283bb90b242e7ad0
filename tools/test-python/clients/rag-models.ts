import { join } from 'node:path';

import { ENCODERS } from '../../hub-server/checkpoints/encoders.ts';
import { writeCheckpoints } from '../../hub-server/checkpoints/write-checkpoints.ts';
import { miniLmFolder } from '../../reference/encoder/minilm.ts';
import { smollm2File } from '../../reference/gguf/smollm2.ts';

// Prints the paths of a model for chats, an embedding model and a cross-encoder. The last one has random weights: no package has others.

const RERANKER = 'generated/cross-encoder';
const [folder = '.'] = process.argv.slice(2);
const generate = ENCODERS.get(RERANKER);
if (!generate) throw new Error(`There is no ${RERANKER}`);
writeCheckpoints(folder, new Map([[RERANKER, generate]]));
console.log([await smollm2File(), await miniLmFolder(), join(folder, RERANKER)].join('\n'));
