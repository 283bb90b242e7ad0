import { Button } from './button.tsx';
import './undo-note.css';

interface UndoNoteProps {
  /** The last action; undefined where nothing can be undone. */
  readonly text: string | undefined;
  readonly onUndo: () => void;
}

/** The last action, with Undo. */
export function UndoNote({ text, onUndo }: UndoNoteProps) {
  return (
    <div className="undo-note row note">
      <output>{text}</output>
      {text !== undefined && (
        <Button variant="quiet" onClick={onUndo}>
          Undo
        </Button>
      )}
    </div>
  );
}
