import { beforeEach, expect, it, vi } from 'vitest';

import type { EncoderInfo } from '../../../protocol/models.ts';
import { NO_PAST } from '../../../protocol/recovery.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { CpuRuntime } from '../../cpu/cpu-runtime.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import { EncoderModels } from './encoder-models.ts';
import { HeldModels } from './held-models.ts';
import { storedModelCorrupt } from '../../../protocol/errors/model-messages.ts';

const platform = vi.hoisted(() => ({
  load: (): Promise<LoadedEncoder> => Promise.reject(new Error('no model')),
}));
vi.mock('./load-model.ts', () => ({ loadModel: () => platform.load() }));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of the folder is read
const FOLDER = { key: 'key', manifest: { id: 'a/bert' } } as ModelFolder;
const served = (): Promise<ModelFolder> => Promise.resolve(FOLDER);

const PARTS = {
  encoder: {},
  encoderInfo: { deployment: 'embedder', id: 'a/bert' },
  deviceBytes: 7,
  backend: { release: () => Promise.resolve() },
};
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no other parts are read
const MODEL = PARTS as unknown as LoadedEncoder;

/** One embedder. Its requests wait for a model. */
function createModels() {
  const log: string[] = [];
  const failures: unknown[] = [];
  const infos: (readonly EncoderInfo[])[] = [];
  /** Those that are stored. */
  const folders = [FOLDER];
  const deployment = {
    isAsking: true,
    use: () => void log.push('use'),
    eject: () => Promise.resolve(MODEL),
    fail: (error: unknown) => void failures.push(error),
  };
  const device = new SharedDevice('wasm', NO_PAST);
  vi.spyOn(device, 'get').mockReturnValue(
    Promise.resolve({ rung: 'wasm', fallbackReason: '', runtime: new CpuRuntime(1) }),
  );
  vi.spyOn(device, 'count').mockImplementation((_, { bytes }) => void log.push(`count ${bytes}`));
  vi.spyOn(device, 'discount').mockImplementation(() => void log.push('discount'));
  const models = new EncoderModels(
    { deployments: new Map([['embedder', deployment]]), onChange: (now) => void infos.push(now) },
    {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is asked of the store
      store: Promise.resolve({
        served,
        serve: () => Promise.resolve(),
        folders: () => Promise.resolve(folders),
      } as unknown as ModelStore),
      device,
      held: new HeldModels(),
      start: { isAfterFault: false, worker: undefined, left: undefined },
    },
  );
  return { models, log, failures, infos, deployment, folders };
}

beforeEach(() => {
  platform.load = () => Promise.reject(storedModelCorrupt('a/bert', 'a byte is wrong'));
});

it('texts for an encoder that can’t be loaded again fail with NO_ENCODER and the reason, so that jobs wait', async () => {
  const { models, failures } = createModels();
  await models.restore('embedder');
  expect(failures).toMatchObject([
    { code: 'NO_ENCODER', message: expect.stringContaining('The copy of a/bert on this device is damaged') },
  ]);
});

it('an encoder that is ejected gives its memory, is named on, and comes back with the next text', async () => {
  const { models, log, infos } = createModels();
  platform.load = () => Promise.resolve(MODEL);
  await models.use(MODEL, FOLDER);
  expect([models.uses('key'), models.deploymentOf('a/bert'), models.deploymentOf('embedder')]).toEqual([
    true,
    'embedder',
    'embedder',
  ]);
  await models.eject('embedder');
  expect(infos.at(-1)).toMatchObject([{ id: 'a/bert', isEjected: true }]);
  expect(models.uses('key'), 'its files may be deleted').toBe(false);
  await models.restore('embedder');
  expect(infos.at(-1)).toEqual([MODEL.encoderInfo]);
  expect(log).toEqual(['count 7', 'use', 'discount', 'count 7', 'use']);
});

it.each(['runs', 'is ejected'])(
  'an encoder whose files are deleted while it %s is gone then, and its texts say why',
  async (state) => {
    const { models, infos, failures, folders } = createModels();
    await models.use(MODEL, FOLDER);
    if (state === 'runs') folders.length = 0;
    models.lose('key');
    expect(failures, 'it runs').toEqual([]);
    await models.eject('embedder');
    models.lose('other');
    if (state === 'is ejected') models.lose('key');
    expect(infos.at(-1)).toEqual([]);
    expect(failures).toMatchObject([
      { code: 'NO_ENCODER', message: expect.stringContaining('a/bert is no longer on this device') },
    ]);
  },
);

it('an encoder of an earlier worker does not take the place of one that the app names and that failed', async () => {
  const { models, log, failures, deployment } = createModels();
  platform.load = () => Promise.resolve(MODEL);
  const reason = storedModelCorrupt('a/other', 'a byte is wrong');
  models.fail('embedder', reason);
  deployment.isAsking = false;
  await models.restore('embedder');
  expect([log, failures]).toEqual([[], [reason]]);
});

it('an encoder that serves goes on where another one fails', async () => {
  const { models, infos, failures } = createModels();
  await models.use(MODEL, FOLDER);
  models.fail('embedder', new Error('another'));
  expect([failures, infos.at(-1)]).toEqual([[], [MODEL.encoderInfo]]);
});
