import type { TabserveClient } from '../../src/client/client.ts';
import { askTab, askTarget, type OnWait } from '../batches/ask.ts';
import type { RowsRun } from '../batches/run-rows.ts';
import type { ClientRights, RequestContext } from '../http/exchange.ts';
import type { ForwardTarget } from '../forward/fetch-target.ts';
import { embeddingsAnswer } from './encoder-routes.ts';
import { modelIfAny } from '../tabs/served-model.ts';
import { chatCompletionsRoute, completionsRoute } from './openai/generation-routes.ts';

/** A target's slots aren't known. vLLM's default is to run more than this together. */
const NUM_AT_TARGET = 64;

/** How rows are asked, and how many at a time. */
type RowSource = Pick<RowsRun, 'ask' | 'numAtOnce'>;

/** Asks rows as the routes ask the tab. */
export function rowsOfTab(serve: TabserveClient, rights: ClientRights, onWait?: OnWait): RowSource {
  const embeddings = embeddingsAnswer(serve);
  const answers = {
    '/v1/completions': completionsRoute(serve).answer,
    '/v1/chat/completions': chatCompletionsRoute(serve).answer,
    // An encoder that is the page's first model is there when the page is ready.
    '/v1/embeddings': async (body: unknown, context: RequestContext) => {
      await modelIfAny(serve, context.signal);
      return embeddings(body, context);
    },
  };
  // As many as run wait in the worker, so that a slot that is free is taken at once.
  const numAtOnce = (): number => 2 * serve.status().policy.maxBatchSize;
  return { ask: askTab(answers, rights, onWait), numAtOnce };
}

/** Asks rows at an OpenAI-compatible server. */
export function rowsOfTarget(target: ForwardTarget, onWait?: OnWait): RowSource {
  return { ask: askTarget(target, onWait), numAtOnce: () => NUM_AT_TARGET };
}
