import type { TabserveClient } from '../../src/client/client.ts';
import { numRowsFor, ROWS_AT_SERVER } from '../../src/jobs/row-rules.ts';
import { askTab, askTarget } from '../batches/ask.ts';
import type { RowSource } from '../batches/run-rows.ts';
import type { ClientRights, RequestContext } from '../http/exchange.ts';
import type { ForwardTarget } from '../forward/fetch-target.ts';
import { embeddingsAnswer } from './encoder-routes.ts';
import { modelIfAny } from '../tabs/tab-link.ts';
import { chatCompletionsRoute, completionsRoute } from './openai/generation-routes.ts';

/** Asks rows as the routes ask the tab. */
export function rowsOfTab(serve: TabserveClient, rights: ClientRights): RowSource {
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
  return {
    ask: askTab(answers, rights),
    numRowsFor: (deployment) => numRowsFor(deployment, serve.status().policy),
  };
}

/** Asks rows at an OpenAI-compatible server. */
export function rowsOfTarget(target: ForwardTarget): RowSource {
  return { ask: askTarget(target), numRowsFor: () => ROWS_AT_SERVER };
}
