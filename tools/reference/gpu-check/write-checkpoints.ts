import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES } from './cases.ts';
import { checkpointOf } from './checkpoint.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected a folder to write the checkpoints to.');
for (const { modelTypes, config, seed } of CASES) {
  const target = join(folder, config.model_type);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'case.json'), JSON.stringify({ modelTypes, config, seed }));
  writeFileSync(join(target, 'config.json'), JSON.stringify(config));
  writeFileSync(join(target, 'model.safetensors'), await checkpointOf(config, seed));
}
