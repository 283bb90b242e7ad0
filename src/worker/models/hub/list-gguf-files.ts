import { systemClock } from '../../../batching/base/clock.ts';
import { InvalidOptionError } from '../../../batching/base/errors.ts';
import type { GgufFile } from '../../../protocol/gguf-file.ts';
import type { DeviceLimits } from '../checkpoint/device-fit.ts';
import { bitsInName, modelsAmong, partsOf } from '../gguf/choose-gguf.ts';
import type { ModelOrigin } from '../store/model-folder.ts';
import { fitOfWeights } from './fit-of-weights.ts';
import { HubClient } from './hub-client.ts';
import { readHubSnapshot } from './hub-snapshot.ts';

/**
 * The GGUF files of a repository, smallest first.
 *
 * @throws InvalidOptionError for an ID that names a file; the errors of the hub's client.
 */
export async function listGgufFiles(
  repository: Omit<ModelOrigin, 'commit'>,
  device: DeviceLimits,
): Promise<readonly GgufFile[]> {
  if (repository.id.includes(':'))
    throw InvalidOptionError.of('id', '`owner/name`, without a file', repository.id);
  const client = new HubClient({
    ...repository,
    clock: systemClock,
    random: Math.random,
    signal: new AbortController().signal,
  });
  const { files } = await readHubSnapshot(client, repository.revision);
  // An ID can't name a file in a folder.
  const names = modelsAmong([...files.keys()]).filter((name) => !name.includes('/'));
  const listed = names.map((name): GgufFile => {
    const numBytes = partsOf(name).reduce((sum, part) => sum + (files.get(part)?.size ?? 0), 0);
    const fit = fitOf(name, numBytes, device);
    return { name, numBytes, ...(fit && { fit }) };
  });
  return listed.toSorted((a, b) => a.numBytes - b.numBytes);
}

function fitOf(name: string, numBytes: number, device: DeviceLimits): GgufFile['fit'] {
  const bits = bitsInName(name);
  return bits === undefined ? undefined : fitOfWeights((8 * numBytes) / bits, device);
}
