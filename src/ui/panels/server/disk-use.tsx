import { useEffect, useState } from 'react';

import type { StoredModel } from '../../../client/index.ts';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatBytes } from '../../parts/format.ts';
import { useIsServer } from '../../state/serve-context.ts';
import { LoadState } from '../models/load-state.tsx';
import { StoredModels } from '../models/stored-models.tsx';
import { useLoadModel } from '../models/use-load-model.ts';
import { useModelLists } from '../models/use-model-lists.ts';

/** What this site takes of the disk, and its stored models. */
export function DiskUse() {
  const isServer = useIsServer();
  return (
    <section className="ruled-off" aria-labelledby="disk-title">
      <h3 id="disk-title">Disk</h3>
      {isServer ? <Quota models={NO_MODELS} /> : <Models />}
    </section>
  );
}

const NO_MODELS: readonly StoredModel[] = [];

function Models() {
  const { stored, refusal: listRefusal } = useModelLists();
  const { start, refusal } = useLoadModel();
  return (
    <>
      <Quota models={stored} />
      {listRefusal && <ErrorLine error={listRefusal} />}
      <StoredModels
        models={stored}
        onLoad={({ id, revision, dtype }) => void start(id, { revision, ...(dtype && { dtype }) })}
      />
      <LoadState refusal={refusal} onRetry={(id) => void start(id)} />
    </>
  );
}

function Quota({ models }: { readonly models: readonly StoredModel[] }) {
  const [text, setText] = useState('');
  useEffect(() => {
    let isGone = false;
    void describeQuota(models).then((described) => isGone || setText(described));
    return () => {
      isGone = true;
    };
  }, [models]);
  return <p className="note">{text}</p>;
}

/** Browsers round both, and only tell them to pages that are served securely. */
async function describeQuota(models: readonly StoredModel[]): Promise<string> {
  // The declared type lacks undefined, which pages that are not secure get.
  const storage: StorageManager | undefined = navigator.storage;
  const { usage, quota } = (await storage?.estimate().catch(() => undefined)) ?? {};
  if (usage === undefined || quota === undefined) return 'This browser doesn’t say how much this site takes.';
  const kept = (await storage?.persisted().catch(() => false))
    ? 'It is kept until you delete it.'
    : 'When the disk is full, the browser may delete it.';
  const modelBytes = models.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
  const share = modelBytes > 0 ? `, ${formatBytes(modelBytes)} of them for models` : '';
  return `This site takes ${formatBytes(usage)} of the ${formatBytes(quota)} that the browser allows it${share}. ${kept}`;
}
