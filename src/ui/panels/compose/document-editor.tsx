import { useEffect, useRef, type KeyboardEvent } from 'react';

import { useComposer, useComposerView } from '../../state/composer/composer-context.ts';
import { EMPTY_PROMPT, type Composer } from '../../state/composer/composer.ts';
import { readPermalink } from '../../state/permalink.ts';
import './document-editor.css';

/** Prompt and continuation as one editable text. */
export function DocumentEditor({ noteId }: { readonly noteId: string }) {
  const composer = useComposer();
  const isActive = useComposerView(({ followed }) => followed?.isActive ?? false);
  const isInvalid = useComposerView(({ error }) => error === EMPTY_PROMPT);
  const linkHash = useComposerView((view) => view.linkHash);
  const boxRef = useRef<HTMLDivElement>(null);

  // Enter is for the prompt of a link, not for those of Run, which would have the focus.
  useEffect(() => {
    const isFree = document.activeElement?.matches('body, .run-button');
    if (isFree && readPermalink(linkHash).prompt !== undefined)
      boxRef.current?.querySelector('textarea')?.focus({ preventScroll: true });
  }, [linkHash]);
  useEffect(() => (boxRef.current ? drawDocument(boxRef.current, composer) : undefined), [composer]);

  const actOnKey = (event: KeyboardEvent): void => {
    // While an input method composes, Enter accepts its suggestion.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void composer.send();
    } else if (event.key === 'Escape') {
      composer.cancel();
    }
  };

  return (
    <div className="document field-box" ref={boxRef} data-active={isActive} data-testid="document">
      <div className="document-highlights" aria-hidden="true" />
      <textarea
        name="prompt"
        aria-label="Prompt"
        aria-describedby={noteId}
        aria-invalid={isInvalid}
        aria-busy={isActive}
        placeholder="Write the beginning of a text…"
        spellCheck={false}
        readOnly={isActive}
        onChange={(event) => {
          composer.edit(event.target.value);
          if (boxRef.current) fitToTyping(boxRef.current);
        }}
        onKeyDown={actOnKey}
      />
    </div>
  );
}

/** Grows as far as style sheet and window allow, and shrinks again. A streamed text scrolls instead, so that nothing moves. */
function fitToTyping(box: HTMLElement): void {
  if (box.dataset['grown'] !== undefined) box.style.height = '';
  delete box.dataset['grown'];
  if (box.scrollHeight <= box.clientHeight) return;
  box.style.height = `${box.scrollHeight}px`;
  box.dataset['grown'] = '';
}

/** Updates text and highlights without React, and keeps the end in view while it grows. Returns the cleanup. */
function drawDocument(box: HTMLElement, { store }: Composer): () => void {
  const [highlights, area] = [box.querySelector('.document-highlights'), box.querySelector('textarea')];
  if (!highlights || !area) throw new Error('A document needs its highlights and its text area.');
  const draw = (): void => {
    const { document: drawn, followed } = store.getState();
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    const parts = drawn.segments.map(({ text, isGenerated }) => {
      const part = document.createElement(isGenerated ? 'mark' : 'span');
      part.textContent = text;
      return part;
    });
    // A last line without a character would have no height.
    highlights.replaceChildren(...parts, '\u200B');
    // Setting the same value again would move the caret.
    if (area.value !== drawn.text) area.value = drawn.text;
    if (followed && isAtEnd) box.scrollTop = box.scrollHeight;
  };
  draw();
  return store.subscribe((view, previous) => {
    if (view.document !== previous.document) draw();
  });
}
