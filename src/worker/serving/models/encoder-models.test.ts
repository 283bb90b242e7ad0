import { expect, it, vi } from 'vitest';

import { NO_PAST } from '../../../protocol/recovery.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { CpuRuntime } from '../../cpu/cpu-runtime.ts';
import { EncoderModels } from './encoder-models.ts';
import { storedModelCorrupt } from '../../../protocol/errors/model-messages.ts';

vi.mock('./load-model.ts', () => ({
  loadModel: () => Promise.reject(storedModelCorrupt('a/bert', 'a byte is wrong')),
}));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing reads the folder
const served = (): Promise<ModelFolder> => Promise.resolve({ key: 'key' } as ModelFolder);

it('texts for an encoder that can’t be loaded again fail with NO_ENCODER and the reason, so that jobs wait', async () => {
  const failures: Error[] = [];
  const deployment = {
    isListed: false,
    use: () => undefined,
    fail: (error: Error) => void failures.push(error),
  };
  const device = new SharedDevice('wasm', NO_PAST);
  vi.spyOn(device, 'get').mockReturnValue(
    Promise.resolve({ rung: 'wasm', fallbackReason: '', runtime: new CpuRuntime(1) }),
  );
  const models = new EncoderModels(
    { deployments: new Map([['embedder', deployment]]), onChange: () => {} },
    NO_PAST,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is asked of the store
    Promise.resolve({ served } as unknown as ModelStore),
    device,
  );
  await models.restore('embedder');
  expect(failures).toMatchObject([
    { code: 'NO_ENCODER', message: expect.stringContaining('The copy of a/bert on this device is damaged') },
  ]);
});
