import { systemClock } from '../../../batching/clock.ts';
import type { GgufFile } from '../../../protocol/gguf-file.ts';
import { roomForWeights, type DeviceLimits } from '../checkpoint/device-fit.ts';
import { hasFloat16 } from '../checkpoint/model-plan.ts';
import { BLOCK_SIZE, BYTES_PER_VALUE } from '../checkpoint/packed-weights.ts';
import { bitsInName, modelsAmong, partsOf } from '../gguf/choose-gguf.ts';
import type { ModelOrigin } from '../store/model-folder.ts';
import { HubClient } from './hub-client.ts';
import { readHubSnapshot } from './hub-snapshot.ts';

/** The GGUF files of a repository, smallest first. @throws The errors of the hub's client. */
export async function listGgufFiles(
  repository: Omit<ModelOrigin, 'commit'>,
  device: DeviceLimits,
): Promise<readonly GgufFile[]> {
  const client = new HubClient({
    ...repository,
    clock: systemClock,
    random: Math.random,
    signal: new AbortController().signal,
    scope: globalThis,
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

/** Weights are converted to the best precision that fits, whatever the file has. */
function fitOf(name: string, numBytes: number, device: DeviceLimits): GgufFile['fit'] {
  const bits = bitsInName(name);
  if (bits === undefined) return undefined;
  const numWeights = (8 * numBytes) / bits;
  const bytesPerValue = BYTES_PER_VALUE[hasFloat16(device) ? 'float16' : 'float32'];
  if (numWeights * bytesPerValue <= roomForWeights(device, 'fp32')) return 'fits';
  // int8 on WASM, else q4, about half of whose weights have 8 bits.
  const smallest = device.kind === 'wasm' ? 1 : 0.75 + bytesPerValue / BLOCK_SIZE;
  return numWeights * smallest <= roomForWeights(device, 'int8') ? 'tight' : 'too-large';
}
