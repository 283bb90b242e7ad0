// Takes recorded answers apart as the worker does: a case of JSON a line on the standard input, and as many results on the output.

import { text } from 'node:stream/consumers';

import { AnswerParser } from '../../../src/worker/text-generation/answers/answer-parser.ts';
import { answerSyntaxOf } from '../../../src/worker/text-generation/answers/answer-syntax.ts';
import { joinParts } from '../../../src/protocol/answers.ts';

interface Case {
  readonly template: string;
  readonly prompt: string;
  readonly tools: readonly { readonly name: string }[];
  readonly isCut: boolean;
  /** The same text in one piece, or in more. */
  readonly streams: readonly (readonly string[])[];
}

/** The templates name all marks of these families. */
const isToken = (): boolean => false;

function parse({ template, prompt, tools, isCut }: Case, pieces: readonly string[]): object {
  const syntax = answerSyntaxOf({ template, rendered: prompt, mayCall: true, isToken });
  if (!syntax) return { reasoning: '', content: pieces.join(''), toolCalls: [] };
  const parser = new AnswerParser({ syntax, tools, idOf: String });
  return joinParts([...pieces.flatMap((piece) => parser.push(piece)), ...parser.end(isCut)]);
}

for (const line of (await text(process.stdin)).split('\n')) {
  if (line === '') continue;
  const given: Case = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(given.streams.map((pieces) => parse(given, pieces)))}\n`);
}
