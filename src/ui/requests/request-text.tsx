import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';

interface RequestTextProps {
  readonly prompt: string;
  /** One for each continuation. */
  readonly generatedTexts: readonly string[];
  readonly isRunning: boolean;
  /** Shown under the text, in the same box. */
  readonly children: ReactNode;
}

/**
 * Prompt and continuation as one text, each continuation in turn. The box keeps its height while text streams, so that nothing below it moves,
 * and shows the end of a text that is longer; the reader may open it.
 */
export function RequestText({ prompt, generatedTexts, isRunning, children }: RequestTextProps) {
  const boxId = useId();
  const boxRef = useRef<HTMLDivElement>(null);
  const [isOpen, setIsOpen] = useState(false);

  useEffect(() => (boxRef.current ? markClipped(boxRef.current) : undefined), []);

  return (
    <div className="request-text" data-open={isOpen} data-running={isRunning}>
      <div className="request-text-box" id={boxId} ref={boxRef}>
        <div className="request-text-content">
          {generatedTexts.map((generatedText, index) => (
            <p key={index} data-testid="request-text">
              {prompt}
              <mark>{generatedText}</mark>
            </p>
          ))}
          {children}
        </div>
      </div>
      <button
        type="button"
        className="button-quiet request-text-toggle"
        aria-expanded={isOpen}
        aria-controls={boxId}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? 'Show less' : 'Show all'}
      </button>
    </div>
  );
}

/**
 * Marks a box whose content is taller than it is, which is what the button is shown by; returns the release. Measured after layout, so
 * that reading costs no reflow, and told to the style sheet alone, so that it costs no render.
 */
function markClipped(box: HTMLElement): () => void {
  const content = box.firstElementChild;
  const text = box.parentElement;
  if (!content || !text) throw new Error('A text box stands in its text and has a content.');
  const observer = new ResizeObserver(() => {
    text.dataset['clipped'] = String(content.clientHeight > box.clientHeight + 1);
  });
  observer.observe(content);
  return () => observer.disconnect();
}
