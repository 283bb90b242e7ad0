import type { TabserveClient } from '../../../client/index.ts';

/** Deployments whose models the page's address may name, by the parameters of these names. */
const DEPLOYMENTS = ['embedder', 'reranker'];

/** Loads the encoders that the page's address names, once a worker is there, unless they serve already. */
export function loadEncoders(serve: Pick<TabserveClient, 'subscribe' | 'loadModel'>, search: string): void {
  const params = new URLSearchParams(search);
  const wanted = DEPLOYMENTS.flatMap((deployment) => {
    const id = params.get(deployment);
    return id === null ? [] : [{ deployment, id }];
  });
  if (wanted.length === 0) return;
  const unsubscribe = serve.subscribe('status', ({ deployments, encoders = [] }) => {
    // Only a worker names deployments.
    if (deployments.length === 0) return;
    queueMicrotask(() => unsubscribe());
    const isServed = (id: string): boolean => encoders.some((encoder) => encoder.id === id);
    void loadOneByOne(
      serve,
      wanted.filter(({ id }) => !isServed(id)),
    );
  });
}

/** A load would cancel the one before it. The status says why one failed. */
async function loadOneByOne(
  serve: Pick<TabserveClient, 'loadModel'>,
  wanted: readonly { readonly deployment: string; readonly id: string }[],
): Promise<void> {
  for (const { deployment, id } of wanted) await serve.loadModel(id, { deployment }).catch(() => undefined);
}
