import { ModelFileCorruptError } from '../../protocol/errors/model.ts';
import type { CheckpointFiles } from './checkpoint-files.ts';

/**
 * @returns `undefined` where there is no such file.
 * @throws ModelFileCorruptError where it is not JSON.
 */
export async function readJson(files: CheckpointFiles, name: string): Promise<unknown> {
  const file = await files.open(name);
  if (!file) return undefined;
  const bytes = await file.read(0, file.size);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch (cause) {
    throw ModelFileCorruptError.of(name, 'it is not JSON', cause);
  }
}
