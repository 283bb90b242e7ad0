import { EMBEDDER } from '../../protocol/embedding.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { Embedding } from '../../protocol/embedding.ts';
import type { GenerationResult } from '../../protocol/generation.ts';
import { fillTemplate } from '../../protocol/job-template.ts';
import type { JobDefinition, JobResult } from '../../protocol/jobs.ts';
import { readRequest, type RowRequest } from './read-request.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A row's request. Its seed hangs on its place alone, so it has the same text whenever it runs. @throws JobColumnError, JobRowError. */
export function readRow(job: JobDefinition, index: number, input: Fields): RowRequest {
  if (job.source === 'requests') {
    const request = readRequest(input);
    return request.deployment === EMBEDDER ? request : seeded(job, index, request);
  }
  const { template = '', system, isChat, deployment, options } = job;
  const text = fillTemplate(template, input);
  if (deployment === EMBEDDER) return { deployment, input: text, options };
  const user = { role: 'user', content: text };
  const messages =
    system === undefined ? [user] : [{ role: 'system', content: fillTemplate(system, input) }, user];
  return seeded(job, index, { deployment, input: isChat ? messages : text, options });
}

function seeded({ seed }: JobDefinition, index: number, { options, ...request }: RowRequest): RowRequest {
  return { ...request, options: { seed: (seed + index) % 2 ** 32, ...options } };
}

/** The answer of a deployment as a row's result. */
export function toResult({ source }: JobDefinition, answer: unknown): JobResult {
  if (isGenerated(answer)) {
    const { numPromptTokens, numOutputTokens } = answer.usage;
    return {
      text: answer.answer?.content ?? answer.generatedText,
      finishReason: answer.finishReason,
      ...(source === 'requests' && { choices: answer.choices.map(toChoice) }),
      numPromptTokens,
      numOutputTokens,
    };
  }
  const embeddings: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  const vectors = embeddings.filter(isEmbedding);
  const [first] = vectors;
  return {
    ...(first && { embedding: first.embedding }),
    ...(Array.isArray(answer) && { embeddings: vectors.map(({ embedding }) => embedding) }),
    numPromptTokens: vectors.reduce((sum, { numTokens }) => sum + numTokens, 0),
    numOutputTokens: 0,
  };
}

function toChoice({ generatedText, finishReason, answer }: GenerationResult['choices'][number]) {
  return { text: generatedText, finishReason, ...(answer && { answer }) };
}

function isGenerated(answer: unknown): answer is GenerationResult {
  return isRecord(answer) && 'choices' in answer;
}

function isEmbedding(answer: unknown): answer is Embedding {
  return isRecord(answer) && 'embedding' in answer;
}
