import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';

import { Button } from '../button.tsx';

interface RequestTextProps {
  readonly prompt: string;
  /** Continuations, each in a mark that `drawRequest` fills. */
  readonly numTexts: number;
  readonly isRunning: boolean;
  /** Shown in the same box. */
  readonly children: ReactNode;
}

/** Prompt and continuation as one text. The box keeps its height and shows the end of a longer text until the reader opens it. */
export function RequestText({ prompt, numTexts, isRunning, children }: RequestTextProps) {
  const boxId = useId();
  const boxRef = useRef<HTMLDivElement>(null);
  const [isOpen, setIsOpen] = useState(false);

  useEffect(() => (boxRef.current ? markClipped(boxRef.current) : undefined), []);

  return (
    <div className="request-text" data-open={isOpen} data-running={isRunning}>
      <div className="request-text-box" id={boxId} ref={boxRef}>
        <div className="request-text-content">
          {children}
          {Array.from({ length: numTexts }, (_, index) => (
            <p key={index} data-testid="request-text">
              {prompt}
              <mark />
            </p>
          ))}
        </div>
      </div>
      <Button
        className="button-quiet request-text-toggle"
        aria-expanded={isOpen}
        aria-controls={boxId}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? 'Show less' : 'Show all'}
      </Button>
    </div>
  );
}

/** An error and a note stand before the text. */
const PINNED_TO_START = "[data-status='failed'], [data-owner='another tab']";

/**
 * Marks a box whose content is taller than the box, and keeps its end in view; returns the release. The observer delivers the sizes, so no layout is forced. The
 * mark is an attribute for the style sheet, so no render is needed.
 */
function markClipped(box: HTMLElement): () => void {
  const content = box.firstElementChild;
  const text = box.parentElement;
  if (!content || !text) throw new Error('A text box stands in its text and has a content.');
  const heights = new Map<Element, number>();
  const observer = new ResizeObserver((entries) => {
    for (const { target, borderBoxSize } of entries) heights.set(target, borderBoxSize[0]?.blockSize ?? 0);
    const isClipped = String((heights.get(content) ?? 0) > (heights.get(box) ?? 0) + 1);
    if (text.dataset['clipped'] !== isClipped) text.dataset['clipped'] = isClipped;
    // The end of the text. Unlike a layout that grows upward, scrolling moves nothing as the browser counts it.
    if (!box.closest(PINNED_TO_START)) box.scrollTop = heights.get(content) ?? 0;
  });
  observer.observe(box);
  observer.observe(content);
  return () => observer.disconnect();
}
