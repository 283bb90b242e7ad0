import { useId, useState, type ReactNode } from 'react';

import { Button } from '../../parts/button.tsx';

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
  const [isOpen, setIsOpen] = useState(false);

  return (
    <div className="request-text" data-open={isOpen} data-running={isRunning}>
      <div className="request-text-box" id={boxId} ref={markClipped}>
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

interface Clip {
  readonly box: HTMLElement;
  readonly content: Element;
  readonly text: HTMLElement;
  boxHeight: number;
  contentHeight: number;
}

/** By box and by content. */
const clips = new Map<Element, Clip>();

/** Shared by all texts: many that begin and end in one frame are scrolled first and marked then, so that no layout is forced. */
let observer: ResizeObserver | undefined;

/**
 * Marks a box whose content is taller than the box, and keeps its end in view; returns the release. The observer delivers the sizes, so no layout is forced. The
 * mark is an attribute for the style sheet, so no render is needed.
 */
function markClipped(box: HTMLDivElement): () => void {
  const content = box.firstElementChild;
  const text = box.parentElement;
  if (!content || !text) throw new Error('A text box stands in its text and has a content.');
  const clip: Clip = { box, content, text, boxHeight: 0, contentHeight: 0 };
  const watching = (observer ??= new ResizeObserver(onResize));
  for (const part of [box, content]) {
    clips.set(part, clip);
    watching.observe(part);
  }
  return () => {
    for (const part of [box, content]) {
      clips.delete(part);
      watching.unobserve(part);
    }
  };
}

function onResize(entries: readonly ResizeObserverEntry[]): void {
  const resized = new Set<Clip>();
  for (const { target, borderBoxSize } of entries) {
    const clip = clips.get(target);
    if (!clip) continue;
    const height = borderBoxSize[0]?.blockSize ?? 0;
    if (target === clip.box) clip.boxHeight = height;
    else clip.contentHeight = height;
    resized.add(clip);
  }
  // The end of the text. Unlike a layout that grows upward, scrolling moves nothing as the browser counts it.
  for (const { box, contentHeight } of resized) {
    if (!box.closest(PINNED_TO_START)) box.scrollTop = contentHeight;
  }
  for (const { text, boxHeight, contentHeight } of resized) {
    text.toggleAttribute('data-clipped', contentHeight > boxHeight + 1);
  }
}
