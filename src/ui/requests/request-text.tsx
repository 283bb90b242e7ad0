import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode, RefObject } from 'react';

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
  const isClipped = useIsClipped(boxRef);
  return (
    <div className="request-text" data-open={isOpen} data-clipped={isClipped} data-running={isRunning}>
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
      {(isClipped || isOpen) && (
        <button
          type="button"
          className="button-quiet request-text-toggle"
          aria-expanded={isOpen}
          aria-controls={boxId}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  );
}

/** True while the content is taller than its box; measured after layout, so that reading costs no reflow. */
function useIsClipped(boxRef: RefObject<HTMLElement | null>): boolean {
  const [isClipped, setIsClipped] = useState(false);
  useEffect(() => {
    const box = boxRef.current;
    const content = box?.firstElementChild;
    if (!box || !content) return;
    const observer = new ResizeObserver(() => setIsClipped(content.clientHeight > box.clientHeight + 1));
    observer.observe(content);
    return () => observer.disconnect();
  }, [boxRef]);
  return isClipped;
}
