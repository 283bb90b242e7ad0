interface LoadBarProps {
  readonly isShown: boolean;
  readonly loaded: number | undefined;
  readonly total: number | undefined;
}

/** Its height is reserved: nothing moves when the load is over. */
export function LoadBar({ isShown, loaded, total }: LoadBarProps) {
  if (!isShown) return <div className="load-bar" />;
  const hasTotal = loaded !== undefined && total !== undefined && total > 0;
  return (
    <progress
      className="load-bar"
      aria-label="Loading the model"
      {...(hasTotal && { value: loaded, max: total })}
    />
  );
}
