import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { withContinuation, withEdit, writtenText, type DocumentText } from './document-text.ts';

/** The text with brackets around its generated parts. */
function marked({ segments }: DocumentText): string {
  return segments.map(({ text, isGenerated }) => (isGenerated ? `[${text}]` : text)).join('');
}

const STORY = withContinuation(writtenText('Once upon'), ' a time');

describe('a document', () => {
  it('marks each continuation, and joins those that follow each other', () => {
    expect(marked(STORY)).toBe('Once upon[ a time]');
    expect(marked(withContinuation(STORY, ', there'))).toBe('Once upon[ a time, there]');
    expect(marked(withContinuation(writtenText('x'), ''))).toBe('x');
  });

  it.each([
    ['before the continuation', 'Twice upon a time', 'Twice upon[ a time]'],
    ['behind it', 'Once upon a time!', 'Once upon[ a time]!'],
    ['inside it', 'Once upon a lost time', 'Once upon[ a ]lost [time]'],
    ['over its beginning', 'Once up time', 'Once up[ time]'],
    ['over all of it', 'Once', 'Once'],
    ['by nothing', 'Once upon a time', 'Once upon[ a time]'],
  ])('edited %s keeps the rest marked', (_where, edited, expected) => {
    expect(marked(withEdit(STORY, edited))).toBe(expected);
  });

  it('takes a continuation after an edit as a part of its own', () => {
    const edited = withEdit(STORY, 'Once upon a time!');
    expect(marked(withContinuation(edited, ' The end'))).toBe('Once upon[ a time]![ The end]');
  });

  it('keeps its text whole and its ranges in order, whatever is edited', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 12 });
    fc.assert(
      fc.property(text, fc.array(fc.tuple(fc.boolean(), text), { maxLength: 8 }), (start, changes) => {
        let document = writtenText(start);
        for (const [isEdit, value] of changes) {
          document = isEdit ? withEdit(document, value) : withContinuation(document, value);
          const { segments } = document;
          expect(segments.map((segment) => segment.text).join('')).toBe(document.text);
          for (const [index, segment] of segments.entries()) {
            expect(segment.text).not.toBe('');
            expect(segment.isGenerated).not.toBe(segments[index + 1]?.isGenerated);
          }
        }
      }),
    );
  });
});
