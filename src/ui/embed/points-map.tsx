import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
} from 'react';

import { observeSize } from '../drawing/observe.ts';
import { formatCount } from '../parts/format.ts';
import { Panel } from '../parts/panel.tsx';
import { onThemeChange } from '../theme/theme.ts';
import { drawPoints, MAP_MARGIN } from './draw-points.ts';
import type { Embedded, Hit } from './embed-room.ts';
import { DIRECTION_OF_KEY, nextPoint, pointAt } from './map-points.ts';
import { projectToPlane } from './vectors.ts';

/** The pointer takes the nearest point within this, in CSS pixels. */
const REACH = 24;

interface PointsMapProps {
  readonly embedded: Embedded;
  /** Drawn larger, the best first. */
  readonly hits: readonly Hit[];
  /** Called with a line to search for what is like it. */
  readonly onPick: (line: string) => void;
}

/** Each line is a point: near ones mean alike. The pointer and the arrow keys read them. */
export function PointsMap({ embedded, hits, onPick }: PointsMapProps) {
  const { lines, vectors } = embedded;
  const places = useMemo(() => projectToPlane(vectors), [vectors]);
  const [active, setActive] = useState<number>();
  const canvasRef = useDrawing(places, hits, active);
  const line = active === undefined ? undefined : lines[active];

  const follow = ({ currentTarget, nativeEvent }: PointerEvent<HTMLElement>): void => {
    const { offsetX, offsetY } = nativeEvent;
    const at = { x: offsetX - MAP_MARGIN, y: offsetY - MAP_MARGIN };
    setActive(pointAt(places, sizeOf(currentTarget), at, REACH));
  };
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const { key, currentTarget } = event;
    const from = active ?? 0;
    const direction = DIRECTION_OF_KEY[key];
    if (direction) setActive(nextPoint(places, sizeOf(currentTarget), from, direction) ?? from);
    // In the order of the lines, because an arrow may lead past a point.
    else if (key === 'PageUp') setActive(Math.max(0, from - 1));
    else if (key === 'PageDown') setActive(Math.min(lines.length - 1, from + 1));
    else if (key === 'Enter' && line !== undefined) onPick(line);
    else return;
    event.preventDefault();
  };

  return (
    <Panel title="Map" head={<span className="note">{formatCount(lines.length)} lines</span>}>
      <div className="points-map">
        <canvas
          ref={canvasRef}
          aria-hidden="true"
          onPointerMove={follow}
          onPointerLeave={() => setActive(undefined)}
          onClick={() => line !== undefined && onPick(line)}
        />
        {/* The keyboard's way to the points, which lets the pointer through. */}
        <input
          type="range"
          aria-label="Map of the lines"
          min={1}
          max={lines.length}
          value={(active ?? 0) + 1}
          aria-valuetext={line ?? 'No point is chosen'}
          onFocus={() => setActive((current) => current ?? hits[0]?.index ?? 0)}
          onChange={(event) => setActive(Number(event.target.value) - 1)}
          onKeyDown={move}
        />
      </div>
      <p className="map-line" data-testid="map-line">
        {line ?? (
          <span className="muted">
            Point at a dot, or use the arrow keys, to read its line. Enter or a click searches for it.
          </span>
        )}
      </p>
    </Panel>
  );
}

/** The size of the map within its margin. */
function sizeOf({ clientWidth, clientHeight }: Element) {
  return { width: clientWidth - 2 * MAP_MARGIN, height: clientHeight - 2 * MAP_MARGIN };
}

function useDrawing(places: Float32Array, hits: readonly Hit[], active: number | undefined) {
  const canvasRef = useRef<HTMLCanvasElement>(null);
  const draw = useCallback(() => {
    if (canvasRef.current) drawPoints(canvasRef.current, { places, hits, active });
  }, [places, hits, active]);
  useEffect(() => {
    draw();
    const canvas = canvasRef.current;
    const releases = canvas ? [observeSize(canvas, draw), onThemeChange(draw)] : [];
    return () => {
      for (const release of releases) release();
    };
  }, [draw]);
  return canvasRef;
}
