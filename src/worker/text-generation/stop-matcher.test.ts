import { describe, expect, it } from 'vitest';
import { StopMatcher } from './stop-matcher.ts';

/** The text after each piece, `|` at a stop, and the text that `end` returns. */
function show(stopStrings: readonly string[], ...pieces: readonly string[]): string[] {
  const matcher = new StopMatcher(stopStrings);
  const shown = pieces.map((piece) => `${matcher.push(piece)}${matcher.isStopped ? '|' : ''}`);
  return [...shown, matcher.end()];
}

describe('StopMatcher', () => {
  it('lets everything through at once where nothing stops', () => {
    expect(show([], 'Once', ' upon')).toEqual(['Once', ' upon', '']);
  });

  it('ends the text before a stop string, whatever follows it in the same piece', () => {
    expect(show(['END'], 'the END of it')).toEqual(['the |', '']);
  });

  it('finds a stop string that lies across pieces', () => {
    expect(show(['END'], 'the E', 'N', 'D.')).toEqual(['the ', '', '|', '']);
  });

  it('holds back no more than may be the beginning of a stop string', () => {
    expect(show(['abac'], 'xab', 'a', 'b')).toEqual(['x', '', 'ab', 'ab']);
  });

  it('shows what was held back once it cannot become a stop string', () => {
    expect(show(['END'], 'the E', 'nd')).toEqual(['the ', 'End', '']);
  });

  it('shows at the end what was held back in vain', () => {
    expect(show(['END'], 'the EN')).toEqual(['the ', 'EN']);
  });

  it('stops at the string that is complete first, though another began before it', () => {
    expect(show(['bcd', 'c'], 'ab', 'c')).toEqual(['a', 'b|', '']);
  });

  it('leaves out the longer of two that are complete at the same character', () => {
    expect(show(['c', 'bc'], 'abc')).toEqual(['a|', '']);
    expect(show(['bc', 'c'], 'abc')).toEqual(['a|', '']);
  });

  it('shows nothing more once it has stopped', () => {
    expect(show(['.'], 'a.', 'b', '.')).toEqual(['a|', '|', '|', '']);
  });

  it('never cuts through a character', () => {
    // Both faces begin with the same half of a surrogate pair.
    expect(show(['\u{1F600}'], 'a\u{1F601}', '\u{1F600}')).toEqual(['a\u{1F601}', '|', '']);
  });
});
