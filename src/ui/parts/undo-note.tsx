import { Button } from './button.tsx';
import './undo-note.css';

interface UndoNoteProps {
  /** What was done last; undefined where nothing can be taken back. */
  readonly text: string | undefined;
  readonly onUndo: () => void;
}

/** What was done last, and its way back. */
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
