import { writeOrderedJson } from '../../../src/batching/base/ordered-json.ts';
import type { TabserveClient } from '../../../src/client/client.ts';
import { inApiNames } from '../../../src/protocol/openai/generation-request.ts';
import { packOrdered } from '../../../src/protocol/wire-text.ts';
import { readJson } from '../../http/read-body.ts';
import { workRoute, type Route } from '../../http/router.ts';
import { servedModel } from '../../tabs/tab-link.ts';
import { generationRoute } from '../openai/generation-routes.ts';
import { MessageAnswer } from './message-answer.ts';
import { readCountRequest, readMessagesRequest } from './messages-request.ts';

const PATH = '/v1/messages';
const INPUT = 'messages';

/** `POST /v1/messages` and `POST /v1/messages/count_tokens`, as Anthropic's. */
export function messageRoutes(serve: TabserveClient): readonly Route[] {
  return [
    generationRoute(serve, {
      path: PATH,
      input: INPUT,
      read: readMessagesRequest,
      answerTo: (given) => new MessageAnswer(given),
      write: writeOrderedJson,
    }),
    workRoute(`${PATH}/count_tokens`, async (exchange) => {
      const { messages, options, model, names } = readCountRequest(await readJson(exchange.request));
      const { id } = await servedModel(serve, exchange.signal);
      exchange.checkModel(model, id);
      const { chatTemplateArguments, tools, toolChoice, continueFinalMessage } = options;
      try {
        const { tokenIds } = await serve.tokenizeChat(
          messages,
          packOrdered({
            chatTemplateArguments,
            tools: toolChoice === 'none' ? [] : tools,
            continueFinalMessage,
          }),
        );
        exchange.sendJson(200, { input_tokens: tokenIds.length });
      } catch (error) {
        throw inApiNames(error, { input: INPUT, names });
      }
    }),
  ];
}
