import { parseOrderedJson } from '../batching/base/ordered-json.ts';
import { isRecord } from '../platform/is-record.ts';
import { EMBEDDER, type Embedding } from '../protocol/embedding.ts';
import type { GenerationChoice, GenerationResult } from '../protocol/generation.ts';
import { readCells } from '../protocol/job-cells.ts';
import { fillParts, parseTemplate } from '../protocol/job-template.ts';
import type { JobDefinition, JobResult } from '../protocol/jobs.ts';
import { nameTokens, type TextOfToken } from '../protocol/openai/learned-texts.ts';
import { readRequest, type RowRequest } from './read-request.ts';
import { wrongJobRow } from '../protocol/errors/job-messages.ts';

/** Reads a row, the text of a JSON object. @throws JobColumnError, JobRowError, PromptTooLongError. */
export type ReadRow = (seed: number, json: string) => RowRequest;

/** With the same seed, a row has the same text whenever it runs. */
export function rowReader(job: JobDefinition): ReadRow {
  if (job.source === 'requests')
    return (seed, json) => {
      const line = parseOrderedJson(json);
      const request = readRequest(isRecord(line) ? line : {});
      return request.deployment === EMBEDDER ? request : seeded(seed, request);
    };
  const { template = '', system, isChat, deployment, options } = job;
  const [parts, systemParts] = [parseTemplate(template), parseTemplate(system ?? '')];
  return (seed, json) => {
    const cells = readCells(json);
    if (!cells) throw wrongJobRow('row', 'a JSON object');
    const text = fillParts(parts, cells);
    if (deployment === EMBEDDER) return { deployment, input: text, options };
    const user = { role: 'user', content: text };
    const messages =
      system === undefined ? [user] : [{ role: 'system', content: fillParts(systemParts, cells) }, user];
    return seeded(seed, { deployment, input: isChat ? messages : text, options });
  };
}

function seeded(seed: number, { options, ...request }: RowRequest): RowRequest {
  return { ...request, options: { seed, ...options } };
}

/**
 * The answer of a deployment as a row's result.
 *
 * @param textOf The text of a token.
 */
export function toResult({ source }: JobDefinition, answer: unknown, textOf: TextOfToken): JobResult {
  if (isGenerated(answer)) {
    const { generatedText, finishReason, choiceProbabilities, choices, logprobs } = answer;
    const { numPromptTokens, numOutputTokens } = answer.usage;
    const { content = generatedText, toolCalls = [] } = answer.answer ?? {};
    return {
      text: content,
      finishReason,
      ...(choiceProbabilities && { choiceProbabilities }),
      ...(source === 'requests'
        ? { choices: choices.map((choice) => toChoice(choice, textOf)) }
        : {
            ...(logprobs && !choiceProbabilities && { logprobs: nameTokens(logprobs, textOf) }),
            ...(toolCalls.length > 0 && { toolCalls }),
          }),
      numPromptTokens,
      numOutputTokens,
    };
  }
  const embeddings: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  const vectors = embeddings.filter(isEmbedding);
  const [first] = vectors;
  return {
    ...(first && { embedding: [...first.embedding] }),
    ...(Array.isArray(answer) && { embeddings: vectors.map(({ embedding }) => [...embedding]) }),
    numPromptTokens: vectors.reduce((sum, { numTokens }) => sum + numTokens, 0),
    numOutputTokens: 0,
  };
}

function toChoice({ generatedText, finishReason, answer, logprobs }: GenerationChoice, textOf: TextOfToken) {
  return {
    text: generatedText,
    finishReason,
    ...(answer && { answer }),
    ...(logprobs && { logprobs: nameTokens(logprobs, textOf) }),
  };
}

export function isGenerated(answer: unknown): answer is GenerationResult {
  return isRecord(answer) && 'choices' in answer;
}

function isEmbedding(answer: unknown): answer is Embedding {
  return isRecord(answer) && 'embedding' in answer;
}
