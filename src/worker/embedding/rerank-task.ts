import { InvalidOptionError } from '../../batching/base/errors.ts';
import { parseOptions } from '../../batching/base/parse-options.ts';
import { isWholeText } from '../../batching/base/validate.ts';
import { isRecord } from '../../platform/is-record.ts';
import { RERANKER, type Ranking } from '../../protocol/embedding.ts';
import { RERANK_CHECKS, requireList } from '../../protocol/encoder-options.ts';
import type { EncoderTask } from './encoder-task.ts';
import { TEXTS_PER_PIECE, tokenize, type ReadRow } from './read-texts.ts';
import { pairTooLong } from '../../protocol/errors/deployment-messages.ts';

/** Scores pairs of a query and a document. */
export const rerankTask: EncoderTask = {
  name: RERANKER,
  *read(input, given, model) {
    const { topN = Infinity, truncate = false } = parseOptions('options', RERANK_CHECKS, given);
    if (!isRecord(input)) throw InvalidOptionError.of('input', 'an object with query and documents', input);
    const query = isWholeText('query', input['query']);
    const documents = requireList('documents', input['documents']);
    const reading = { truncate, addSpecialTokens: false };
    const queryIds = yield* tokenize(query, 'query', model, reading);
    const { maxTokens } = model.encoder;
    const { pair } = model.tokenizer.frames;
    const room =
      maxTokens - pair.reduce((sum, part) => sum + (typeof part === 'string' ? 0 : part.length), 0);
    const rows: ReadRow[] = [];
    for (const [index, document] of documents.entries()) {
      const place = `documents[${index}]`;
      const ids = yield* tokenize(isWholeText(place, document), place, model, reading);
      const numTokens = queryIds.length + ids.length;
      const longer = queryIds.length > ids.length ? 'query' : place;
      if (numTokens > room && !truncate) throw pairTooLong(longer, numTokens + maxTokens - room, maxTokens);
      const [numOfQuery, numOfDocument] = shareRoom(queryIds.length, ids.length, room);
      const texts = { A: queryIds.slice(0, numOfQuery), B: ids.slice(0, numOfDocument) };
      const parts = pair.map((part) => (typeof part === 'string' ? texts[part] : part));
      const numFirst = parts.slice(0, pair.indexOf('B')).reduce((sum, { length }) => sum + length, 0);
      rows.push({ tokenIds: parts.flat(), numFirst, isTruncated: numTokens > room });
      if (rows.length % TEXTS_PER_PIECE === 0) yield;
    }
    const numTokens = rows.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    return {
      rows,
      answer(outputs): Ranking {
        // By the model's own scores, because sigmoids of large ones are equal. Equal scores keep the order of the documents.
        const best = outputs
          .map(([score = 0], index) => ({ index, score }))
          .toSorted((a, b) => b.score - a.score)
          .slice(0, topN);
        const results = best.map(({ index, score }) => ({
          index,
          score: 1 / (1 + Math.exp(-score)),
          isTruncated: rows[index]?.isTruncated,
        }));
        return { results, numTokens };
      },
    };
  },
};

/** How many tokens of each text are kept: the longer one is cut first, as `longest_first` of huggingface/tokenizers does. */
function shareRoom(query: number, document: number, room: number): readonly [number, number] {
  if (query + document <= room) return [query, document];
  const [shorter, half] = [Math.min(query, document), Math.floor(room / 2)];
  const kept = Math.min(shorter, half);
  return query <= document ? [kept, room - kept] : [room - kept, kept];
}
