import { Button } from './button.tsx';

interface UndoNoteProps {
  /** The last action; undefined where nothing can be undone. */
  readonly text: string | undefined;
  readonly onUndo: () => void;
}

/** The last action, with Undo. */
export function UndoNote({ text, onUndo }: UndoNoteProps) {
  return (
    <div className="row tight grow note">
      <output>{text}</output>
      {text !== undefined && (
        <Button variant="quiet" onClick={onUndo}>
          Undo
        </Button>
      )}
    </div>
  );
}
