import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { CHECKPOINTS } from '../../hub-server/checkpoints/checkpoints.ts';
import { DECODERS } from '../../hub-server/checkpoints/decoders.ts';
import { ENCODERS } from '../../hub-server/checkpoints/encoders.ts';
import { writeCheckpoints } from '../../hub-server/checkpoints/write-checkpoints.ts';
import { quantizedDecoderFiles } from '../gguf/decoders.ts';
import { ggufVariantFiles } from '../gguf/variants.ts';
import { checkpointOf } from '../gpu-check/checkpoint.ts';
import checks from '../gpu-check/cases.json' with { type: 'json' };
import { miniLmFolder } from '../encoder/minilm.ts';
import { smollm2File } from '../gguf/smollm2.ts';

// `write-inputs.ts NAME FOLDER` writes what the writers of that fixture in `write.py` read.

const INPUTS: Readonly<Record<string, (folder: string) => void | Promise<void>>> = {
  decoders: (folder) => writeCheckpoints(folder, DECODERS),
  checkpoints: (folder) => writeCheckpoints(folder, CHECKPOINTS),
  async encoders(folder) {
    writeCheckpoints(folder, ENCODERS);
    symlinkSync(await miniLmFolder(), join(folder, 'minilm'));
  },
  async 'gpu-check'(folder) {
    for (const { modelTypes, config, seed } of checks) {
      const file = (name: string): string => join(folder, config.model_type, name);
      write(file('case.json'), JSON.stringify({ modelTypes, config, seed }));
      write(file('config.json'), JSON.stringify(config));
      write(file('model.safetensors'), await checkpointOf(config, seed));
    }
  },
  async gguf(folder) {
    symlinkSync(dirname(await smollm2File()), join(folder, 'models'));
  },
  async 'gguf-decoders'(folder) {
    for await (const [name, bytes] of quantizedDecoderFiles()) write(join(folder, name), bytes);
  },
  async 'gguf-llama'(folder) {
    for (const [name, bytes] of await ggufVariantFiles()) write(join(folder, name), bytes);
  },
};

const [name = '', target = ''] = process.argv.slice(2);
await INPUTS[name]?.(target);

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
